"""Which calls of MCP tools need a yes. Pure."""

from collections.abc import Sequence

from sayso.server.capabilities.mcp.definitions import McpDefinition
from sayso.server.settings.mcp_servers import McpServer


def only_reads(definition: McpDefinition) -> bool:
    """Whether a tool says of itself that it changes nothing."""
    return definition.read_only is True and definition.destructive is not True


def goes_unasked(
    server: McpServer, definition: McpDefinition, source: str, read: Sequence[str]
) -> bool:
    """Whether a call needs no yes: it only reads, or the person let it go; what is not declared
    counts as acting.

    Once strangers' words were read here it needs one, unless they were this server's own (`source`)
    and the tool only reads there: what it could be told, it has said itself. A tool that says that
    it reaches into the world beyond could carry words on, and needs one even so.
    """
    if definition.name in server.asked or server.ask == "always":
        return False
    let_go = definition.name in server.unasked or server.ask == "never"
    if read:
        own = all(each == source for each in read)
        return own and only_reads(definition) and definition.open_world is not True
    return let_go or only_reads(definition)
