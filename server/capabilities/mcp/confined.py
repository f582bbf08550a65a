"""Starts a stdio MCP server in the sandbox: its folders are those that its person named, and it has
no network."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from sayso.server.capabilities.mcp.servers import Confine, environment_of
from sayso.server.capabilities.mcp.worker_process import McpError
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.grants import Folder, GrantError, folder, personal
from sayso.server.runtimes.protection.folder_identity import NOWHERE
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox
from sayso.server.settings.mcp_servers import McpServer

_STDIO: Final = (
    "import os, sys\n"
    "channel = int(sys.argv[1])\n"
    "os.dup2(channel, 0)\n"
    "os.dup2(channel, 1)\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)
"""Makes a socket the standard input and output of a program."""


def confine_in(sandbox: Sandbox, home: Path) -> Confine:
    """Starts servers there; each has a folder of its own below `home` to begin in. Its other
    folders are those that were there when it was first started: code may put a link to somewhere
    else in their place before it is started again."""
    first: dict[str, Sequence[Folder]] = {}

    async def start(name: str, settings: McpServer) -> tuple[int, Callable[[], Awaitable[None]]]:
        own = home / name
        try:
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            if name not in first:
                first[name] = tuple(_folders_of(settings))
            folders = [each.recognised() for each in first[name]]
        except (GrantError, OSError) as problem:
            raise McpError(f"A folder that it needs cannot be had: {problem}") from None
        confines = Confines(
            own,
            (own, *(each.path for each in folders if each.access == "write")),
            (*(each.path for each in folders if each.access == "read"), base_prefix()),
            known={each.path: each.identity or NOWHERE for each in folders},
        )
        ours, theirs = socket.socketpair()
        with theirs:
            command = (
                str(base_python()), "-I", "-S", "-c", _STDIO, str(theirs.fileno()),
                *settings.command,
            )  # fmt: skip
            try:
                process = await ConfinedProcess.start(
                    sandbox, lambda _: command, environment_of(settings), confines,
                    (theirs.fileno(),),
                )  # fmt: skip
            except OSError as problem:
                ours.close()
                raise McpError(f"It cannot be started in the sandbox: {problem}") from None
            except asyncio.CancelledError:
                ours.close()
                raise
        return ours.detach(), process.close

    return start


def _folders_of(settings: McpServer) -> Iterator[Folder]:
    yield from (folder(personal(each), "read") for each in settings.read_folders)
    yield from (folder(personal(each), "write") for each in settings.write_folders)
