"""`sayso mcp`: adds, lists, tries and removes MCP servers, and serves programs that speak MCP."""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sayso.protocol.home import Home
from sayso.protocol.visible import revealed
from sayso.server.commands.mcp_bridge import serve
from sayso.server.settings import Settings
from sayso.server.settings.mcp_servers import (
    NAME,
    McpServer,
    drop_server,
    keep_server,
    mcp_servers,
    read_server,
)

if TYPE_CHECKING:
    from sayso.server.assembly.mcp import Difference, McpDefinition

MISUSED = 2
FAILED = 1

TOLD_CHARS: Final = 160
"""Of a description in the list; `--whole` shows all of it."""

_OPTIONS: Final = (
    "[--url ADDRESS] [--env NAME[=VALUE]] [--token-variable NAME] [--grant GRANT] [--client-id ID]"
    " [--client-secret-variable NAME] [--client-key-file FILE] [--issuer ADDRESS] [--scope WORDS]"
    " [--login-port PORT] [--confined] [--read FOLDER] [--write FOLDER] [--yes] [--whole]"
    " [-- COMMAND ARGUMENTS]"
)

_LOGIN: Final = (
    "token_variable", "grant", "client_id", "client_secret_variable", "client_key_file", "issuer",
    "scope",
)  # fmt: skip
"""Settings of a server that is reached by an address, each an option as well."""

_NEXT: Final = "It holds from the server's next start."


class McpCommand:
    summary = "add tools of MCP servers; list, try and remove them; serve other programs"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        add = verbs.add_parser("add", help="add a server, and see its tools")
        add.add_argument("name", help="small letters and digits")
        add.add_argument(
            "rest", nargs=argparse.REMAINDER, metavar="[options] -- COMMAND...", help=_OPTIONS
        )
        listing = verbs.add_parser("list", help="list the servers, and what a project offers")
        listing.add_argument("--whole", action="store_true", help="with whole descriptions")
        trying = verbs.add_parser("try", help="connect a server, and see what changed")
        trying.add_argument("name")
        _say_yes(trying)
        removing = verbs.add_parser("remove", help="remove a server, and what it gave us")
        removing.add_argument("name")
        verbs.add_parser("serve", help="let a program talk with Sayso by MCP, on standard streams")

    def run(self, arguments: argparse.Namespace) -> int:
        home = Home.find()
        match arguments.verb:
            case "add":
                return _add(home, arguments)
            case "try":
                return _try(home, arguments.name, yes=arguments.yes, whole=arguments.whole)
            case "remove":
                return _remove(home, arguments.name)
            case "serve":
                listen = Settings.load(home).listen
                return serve(home, listen.host, listen.port)
            case _:
                return _list(home, whole=arguments.whole)


def _say_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--whole", action="store_true", help="with whole descriptions")


def _options(words: list[str]) -> argparse.Namespace:
    """What stands behind the name: options, then the command after `--`."""
    options = argparse.ArgumentParser(prog="sayso mcp add", usage=f"sayso mcp add NAME {_OPTIONS}")
    options.add_argument("--url", default="")
    options.add_argument("--env", action="append", default=[])
    for setting in _LOGIN:
        options.add_argument(
            f"--{setting.replace('_', '-')}", default=getattr(McpServer(), setting)
        )
    options.add_argument("--login-port", type=int, default=0)
    options.add_argument("--confined", action="store_true")
    options.add_argument("--read", action="append", default=[])
    options.add_argument("--write", action="append", default=[])
    _say_yes(options)
    options.add_argument("command", nargs=argparse.REMAINDER)
    arguments = options.parse_args(words)
    if arguments.command[:1] == ["--"]:
        del arguments.command[0]
    return arguments


def _add(home: Home, given: argparse.Namespace) -> int:
    arguments = _options(given.rest)
    arguments.name = given.name
    if not NAME.fullmatch(arguments.name):
        print("Give it a name of small letters and digits that begins with a letter.")
        return MISUSED
    table: dict[str, object] = {
        "command": arguments.command,
        "url": arguments.url,
        "env": arguments.env,
        **{setting: getattr(arguments, setting) for setting in _LOGIN},
        "login_port": arguments.login_port,
        "confined": arguments.confined,
        "read_folders": [str(Path(each).expanduser().absolute()) for each in arguments.read],
        "write_folders": [str(Path(each).expanduser().absolute()) for each in arguments.write],
    }
    server = read_server(arguments.name, table, "sayso mcp add")
    print(_described(arguments.name, server))
    if not _agreed(f"Start {'it' if server.url else 'this command'}?", yes=arguments.yes):
        print("Nothing was added.")
        return FAILED
    title, tools, _ = asyncio.run(_examined(home, arguments.name, server))
    _show(title, tools, whole=arguments.whole)
    if not _agreed(f"Offer these {len(tools)} tools to models?", yes=arguments.yes):
        print("Nothing was added.")
        return FAILED
    path = keep_server(home, arguments.name, server)
    _accept(home, arguments.name, tools)
    print(f"{arguments.name} is added, in {path}. {_NEXT}")
    return 0


def _try(home: Home, name: str, *, yes: bool, whole: bool) -> int:
    server = mcp_servers(home).get(name)
    if server is None:
        return _no_such(home, name)
    title, tools, difference = asyncio.run(_examined(home, name, server))
    if not difference:
        print(f"{name} answers: {title or 'without a name'}, {len(tools)} tools, all as you saw.")
        return 0
    for heading, several in (("New", difference.new), ("Changed", difference.changed)):
        if several:
            print(f"{heading}:")
            _show("", several, whole=whole or heading == "Changed")
    if difference.gone:
        print(f"Gone: {', '.join(difference.gone)}")
    if not _agreed("Offer them to models as they are now?", yes=yes):
        print("New and changed tools stay closed.")
        return FAILED
    _accept(home, name, tools)
    print(f"The tools of {name} are open as they are now.")
    return 0


def _remove(home: Home, name: str) -> int:
    from sayso.server.assembly.mcp import forget_server

    if not drop_server(home, name):
        return _no_such(home, name)
    forget_server(home, name)
    print(f"{name} is removed, with the tokens that it gave us. {_NEXT}")
    return 0


def _list(home: Home, *, whole: bool) -> int:
    from sayso.server.assembly.mcp import offered_here, seen_tools

    servers = mcp_servers(home)
    for name, server in servers.items():
        print(_described(name, server))
        _show("", seen_tools(home, name), whole=whole)
    if not servers:
        print("No MCP server is added: `sayso mcp add NAME -- COMMAND`, or with --url ADDRESS.")
    offered = {each: server for each, server in offered_here().items() if each not in servers}
    if offered:
        print("\nThis folder's .mcp.json offers these; none is taken before you add it:")
        for name, server in offered.items():
            what = f"--url {server.url}" if server.url else f"-- {shlex.join(server.command)}"
            env = "".join(f" --env {shlex.quote(each)}" for each in server.env)
            print(revealed(f"  sayso mcp add {name}{env} {what}"))
    return 0


async def _examined(
    home: Home, name: str, server: McpServer
) -> "tuple[str, Sequence[McpDefinition], Difference]":
    from sayso.server.assembly.mcp import open_servers, sandbox_for

    settings = {name: server}
    servers = open_servers(home, settings, await sandbox_for(settings), visit=_visit)
    if servers is None:
        raise RuntimeError(name)
    try:
        return await servers.examine(name)
    finally:
        await servers.close()


def _visit(address: str) -> None:
    print(f"Open this in your browser to log in:\n  {revealed(address)}", flush=True)


def _accept(home: Home, name: str, tools: "Sequence[McpDefinition]") -> None:
    from sayso.server.assembly.mcp import accept_tools

    accept_tools(home, name, tools)


def _described(name: str, server: McpServer) -> str:
    if server.url:
        login = f", as {server.client_id} of {server.issuer}" if server.issuer else ""
        return revealed(f"{name}: {server.url}{login}")
    where = "in the sandbox" if server.confined else "outside of the sandbox, as you"
    folders = (*server.read_folders, *(f"{each} (to write)" for each in server.write_folders))
    also = f", with {', '.join(folders)}" if folders else ""
    return revealed(f"{name}: {shlex.join(server.command)}\n  runs {where}{also}")


def _show(title: str, tools: "Sequence[McpDefinition]", *, whole: bool) -> None:
    """Tools as a person is to see them: nothing hidden, and what each says that it does."""
    if title:
        print(f"It says that it is {revealed(title)}.")
    for tool in tools:
        does = {True: "reads", False: "changes something", None: "says nothing of what it changes"}
        hint = "may destroy something" if tool.destructive else does[tool.read_only]
        said = " ".join(tool.description.split())
        said = said if whole or len(said) <= TOLD_CHARS else f"{said[: TOLD_CHARS - 1]}…"
        print(revealed(f"  {tool.name} ({hint}): {said}"))


def _agreed(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        print(f"{question} Nobody can answer here: say --yes.")
        return False
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _no_such(home: Home, name: str) -> int:
    known = ", ".join(mcp_servers(home)) or "none"
    print(f"There is no MCP server {name}; there are: {known}.")
    return FAILED


command = McpCommand()
