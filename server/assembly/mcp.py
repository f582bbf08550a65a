"""MCP servers that the settings name, for the server and for the shell's command. Where there is
none, nothing of what speaks with them is imported."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sayso.protocol.home import Home
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.settings.mcp_servers import McpServer

if TYPE_CHECKING:
    from sayso.server.capabilities.mcp.definitions import (
        McpDefinition as McpDefinition,  # noqa: PLC0414 - for the command
    )
    from sayso.server.capabilities.mcp.pins import Difference as Difference  # noqa: PLC0414
    from sayso.server.capabilities.mcp.servers import McpServers


def open_servers(
    home: Home,
    servers: Mapping[str, McpServer],
    sandbox: Sandbox | None,
    *,
    visit: Callable[[str], None] | None = None,
) -> "McpServers | None":
    """The servers, none of which is started yet; None where none is configured. `sandbox`: for
    those that run confined. `visit`: sends the person at this terminal to an address."""
    if not servers:
        return None
    from sayso.server.capabilities.mcp.confined import confine_in
    from sayso.server.capabilities.mcp.servers import McpServers

    confine = confine_in(sandbox, home.data / "mcp") if sandbox else None
    return McpServers(home, servers, confine, visit=visit)


async def sandbox_for(servers: Mapping[str, McpServer]) -> Sandbox | None:
    """The sandbox, where any of them wants it and it holds."""
    if not any(server.confined for server in servers.values()):
        return None
    report = await find_sandbox()
    return report.sandbox if report.holds else None


def seen_tools(home: Home, name: str) -> "Sequence[McpDefinition]":
    """The tools of a server that its person has seen."""
    from sayso.server.capabilities.mcp.pins import Pins

    return tuple(Pins(home).seen(name).values())


def accept_tools(home: Home, name: str, tools: "Sequence[McpDefinition]") -> None:
    """The person has seen these tools of a server. Raises OSError."""
    from sayso.server.capabilities.mcp.pins import Pins

    Pins(home).keep(name, tools)


def forget_server(home: Home, name: str) -> None:
    """Nothing that a server gave us stays. Raises OSError."""
    from sayso.server.capabilities.mcp.pins import Pins

    Pins(home).forget(name)


def offered_here() -> Mapping[str, McpServer]:
    """The servers that the folder where we are offers."""
    from sayso.server.capabilities.mcp.offers import offered

    return offered(Path.cwd())
