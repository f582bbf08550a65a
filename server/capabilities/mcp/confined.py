"""Starts a stdio MCP server in the sandbox: its folders are those that its person named, and it has
no network."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from sayso.server.capabilities.mcp.servers import Confine, environment_of
from sayso.server.capabilities.mcp.worker_process import McpError
from sayso.server.runtimes.base_python import base_prefix, base_python
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.grants import GrantError, folder, personal
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
    """Starts servers there; each has a folder of its own below `home` to begin in."""

    async def start(name: str, settings: McpServer) -> tuple[int, Callable[[], Awaitable[None]]]:
        own = home / name
        try:
            own.mkdir(mode=0o700, parents=True, exist_ok=True)
            readable = [folder(personal(each), "read") for each in settings.read_folders]
            writable = [folder(personal(each), "write") for each in settings.write_folders]
        except (GrantError, OSError) as problem:
            raise McpError(f"A folder that it needs cannot be had: {problem}") from None
        confines = Confines(
            own,
            (own, *(each.path for each in writable)),
            (*(each.path for each in readable), base_prefix()),
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
