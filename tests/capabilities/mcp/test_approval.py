"""Which calls of MCP tools need a yes."""

import pytest

from sayso.server.capabilities.mcp.approval import goes_unasked
from sayso.server.capabilities.mcp.definitions import McpDefinition, read_definition
from sayso.server.settings.mcp_servers import McpServer

OWN = "the MCP server shop"


def tool(**hints: bool) -> McpDefinition:
    return read_definition("shop", {"name": "buy", "inputSchema": {}, "annotations": hints})


@pytest.mark.parametrize(
    ("hints", "settings", "read", "goes"),
    [
        ({"readOnlyHint": True}, {}, [], True),
        ({"readOnlyHint": True, "destructiveHint": True}, {}, [], False),
        ({"readOnlyHint": False, "destructiveHint": False}, {}, [], False),
        ({}, {}, [], False),
        ({}, {"unasked": ("buy",)}, [], True),
        ({}, {"ask": "never"}, [], True),
        ({"readOnlyHint": True}, {"ask": "always"}, [], False),
        ({"readOnlyHint": True}, {"asked": ("buy",)}, [], False),
        ({"readOnlyHint": True}, {}, [OWN], True),
        ({"readOnlyHint": True, "openWorldHint": True}, {}, [OWN], False),
        ({"readOnlyHint": True}, {}, [OWN, "evil.example"], False),
        ({}, {"ask": "never"}, [OWN], False),
        ({}, {"unasked": ("buy",)}, ["evil.example"], False),
    ],
)
def test_what_only_reads_goes_and_strangers_words_ask(
    hints: dict[str, bool], settings: dict[str, object], read: list[str], goes: bool
) -> None:
    server = McpServer(command=("x",), **settings)  # type: ignore[arg-type]
    assert goes_unasked(server, tool(**hints), OWN, read) is goes


def test_every_word_of_a_definition_is_in_its_pin_and_what_is_hidden_is_gone() -> None:
    plain = {"name": "buy", "description": "Buy.", "inputSchema": {"type": "object"}}
    pins = {
        read_definition("shop", changed).pin
        for changed in (
            plain,
            {**plain, "description": "Buy it."},
            {**plain, "name": "sell"},
            {**plain, "annotations": {"readOnlyHint": True}},
            {**plain, "inputSchema": {"type": "object", "properties": {"x": {}}}},
            {**plain, "outputSchema": {"type": "object"}},
        )
    }
    assert len(pins) == 6
    hidden = read_definition("shop", {**plain, "description": "Buy\u200b\u202e." + "x" * 9_000})
    assert "\u200b" not in hidden.description
    assert len(hidden.description) <= 2_048
    assert read_definition("a", plain).pin != read_definition("b", plain).pin
