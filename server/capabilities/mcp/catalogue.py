"""Tools of MCP servers as Python functions, in few words: what a model is told of many. Pure."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

from sayso.server.capabilities.mcp.definitions import McpDefinition

TOLD_CHARS: Final = 6_000
"""Of signatures in the prompt, some 1,500 tokens; the rest is found by searching."""

LINE_CHARS: Final = 110
"""Of what is said of one tool there."""

FOUND_MOST: Final = 10

_NAMES: Final[Mapping[str, str]] = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}
_WORD: Final = re.compile(r"[a-z0-9]+")


def function_of(definition: McpDefinition) -> str:
    """By which code in Python calls it."""
    prefix = f"mcp_{definition.server}_"
    return f"mcp.{definition.server}.{definition.label.removeprefix(prefix)}"


def signature(definition: McpDefinition) -> str:
    """The function with its arguments."""
    schema = definition.arguments_schema
    needed = schema.get("required", ())
    properties: Mapping[str, Any] = schema["properties"]
    ordered = sorted(properties, key=lambda name: name not in needed)
    arguments = (
        f"{name}: {_type(properties[name])}{'' if name in needed else '=…'}" for name in ordered
    )
    return f"{function_of(definition)}({', '.join(arguments)})"


def line(definition: McpDefinition) -> str:
    """The function and the beginning of what its server says of it."""
    said = " ".join(definition.description.split())
    end = re.match(r".*?[.!?](?=\s|$)", said)
    said = end[0] if end else said
    said = said if len(said) <= LINE_CHARS else f"{said[: LINE_CHARS - 1]}…"
    return f"{signature(definition)}  # {said}" if said else signature(definition)


def catalogue(tools: Sequence[McpDefinition]) -> str:
    """What a model is told of tools that code can call: every server with its number, and their
    signatures in turn, as far as there is room."""
    by_server: dict[str, list[McpDefinition]] = defaultdict(list)
    for tool in tools:
        by_server[tool.server].append(tool)
    lines: dict[str, list[str]] = {name: [] for name in by_server}
    room = TOLD_CHARS
    for row in zip_longest(*by_server.values()):
        for tool in filter(None, row):
            text = line(tool)
            room -= len(text) + 1
            if room >= 0:
                lines[tool.server].append(text)
    parts = []
    for server, theirs in by_server.items():
        left = len(theirs) - len(lines[server])
        more = f"; {left} more by mcp_search" if left else ""
        parts.append("\n".join((f"{server} ({len(theirs)}{more}):", *lines[server])))
    return "\n".join(parts)


def details(definition: McpDefinition) -> str:
    """All that is said of one tool."""
    properties = definition.arguments_schema["properties"]
    said = [
        f"  {name}: {' '.join(str(each['description']).split())}"
        for name, each in properties.items()
        if each.get("description")
    ]
    described = definition.description.splitlines()
    return "\n".join((signature(definition), *(f"  {each}" for each in described), *said))


def found(tools: Sequence[McpDefinition], words: str) -> list[McpDefinition]:
    """The tools that a search finds, the best first."""
    wanted = set(_WORD.findall(words.casefold()))

    def score(tool: McpDefinition) -> int:
        name = set(_WORD.findall(tool.label.replace("_", " ")))
        said = set(_WORD.findall(tool.description.casefold()))
        return sum(3 * (word in name) + (word in said) for word in wanted)

    ranked = sorted(((score(tool), tool) for tool in tools), key=lambda pair: -pair[0])
    return [tool for points, tool in ranked if points][:FOUND_MOST]


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(repr(each) for each in schema["enum"][:6])
    kinds = schema.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds == ["array"] and isinstance(schema.get("items"), Mapping):
        inner = _type(schema["items"])
        return f"list[{inner}]" if inner != "any" else "list"
    return "|".join(_NAMES.get(kind, "any") for kind in kinds)
