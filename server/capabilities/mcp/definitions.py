"""What an MCP server says of its tools, read with mistrust, and the pins they are held to. Pure."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from sayso.protocol.visible import HIDDEN
from sayso.server.agent.tools.schema import MOST_DEPTH, Schema
from sayso.server.agent.tools.tool import canonical

DESCRIPTION_CHARS: Final = 2_048
"""Of one description: what is longer is a manual, or tries to drown the rest."""

PARAMETER_CHARS: Final = 300
"""Of what is said of one argument."""

NAME_CHARS: Final = 128
TOOLS_MOST: Final = 500
"""Of one server."""

LABEL_CHARS: Final = 60
"""Of a tool's name with its server's, as models call it; providers take 64."""

_BOUNDS: Final = frozenset({"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"})
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class DefinitionError(ValueError):
    """A server says something of a tool that cannot be used."""


@dataclass(frozen=True, slots=True)
class McpDefinition:
    """One tool, as its server describes it."""

    server: str
    name: str
    """As the server calls it."""
    description: str = ""
    schema: Schema = field(default_factory=dict)
    """As the server wrote it; `arguments_schema` is what is checked."""
    read_only: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None
    returns: Literal["text", "value", "wrapped"] = "text"
    """What it returns has a schema: `value`; or is the only field of what has: `wrapped`."""

    @property
    def label(self) -> str:
        """By which models call it, and which no other tool of this server has."""
        plain = re.sub(r"\W+", "_", _CAMEL.sub("_", self.name), flags=re.ASCII).lower().strip("_")
        label = f"mcp_{self.server}_{plain}"
        if len(label) > LABEL_CHARS or not plain:
            digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
            label = f"{label[: LABEL_CHARS - 9]}_{digest}"
        return label

    @property
    def pin(self) -> str:
        """A hash of all that was said of it: what a person has seen is this, and nothing else."""
        return hashlib.sha256(canonical(asdict(self)).encode()).hexdigest()

    @property
    def arguments_schema(self) -> Schema:
        """The part of its schema that is checked before anybody is asked."""
        schema = _checkable(self.schema, 0)
        return {**schema, "type": "object", "properties": schema.get("properties", {})}


def read_definition(server: str, raw: Mapping[str, Any]) -> McpDefinition:
    """A tool as it came over the wire. Raises DefinitionError."""
    name = raw.get("name")
    if not isinstance(name, str) or not name or len(name) > NAME_CHARS or HIDDEN.search(name):
        raise DefinitionError("a tool without a usable name")
    execution = raw.get("execution")
    if isinstance(execution, Mapping) and execution.get("taskSupport") == "required":
        raise DefinitionError(f"{name} runs as a task alone, which Sayso cannot ask for")
    schema = raw.get("inputSchema") or {}
    if not isinstance(schema, Mapping):
        raise DefinitionError(f"{name} has no schema that can be read")
    hints = raw.get("annotations") or {}

    def hint(which: str) -> bool | None:
        value = hints.get(which) if isinstance(hints, Mapping) else None
        return value if isinstance(value, bool) else None

    return McpDefinition(
        server=server,
        name=name,
        description=plain(str(raw.get("description") or ""), DESCRIPTION_CHARS),
        schema=_plain_schema(schema, 0),
        read_only=hint("readOnlyHint"),
        destructive=hint("destructiveHint"),
        open_world=hint("openWorldHint"),
        returns=_returns(raw.get("outputSchema")),
    )


def _returns(schema: object) -> Literal["text", "value", "wrapped"]:
    if not isinstance(schema, Mapping):
        return "text"
    return "wrapped" if list(schema.get("properties") or ()) == ["result"] else "value"


def kept_definition(raw: Mapping[str, Any]) -> McpDefinition:
    """A tool as it was kept. Raises DefinitionError."""
    try:
        return McpDefinition(**raw)
    except TypeError as error:
        raise DefinitionError(str(error)) from None


def plain(text: str, most: int) -> str:
    """A stranger's text with nothing in it that is not seen, and no longer than this."""
    text = HIDDEN.sub("", text.replace("\r\n", "\n")).strip()
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _plain_schema(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON
    """A schema with its texts made plain."""
    if depth > 2 * MOST_DEPTH:
        raise DefinitionError("a schema that nests too deep")
    if isinstance(value, str):
        return plain(value, PARAMETER_CHARS)
    if isinstance(value, Mapping):
        return {
            str(name): _plain_schema(each, depth + 1)
            for name, each in value.items()
            if not HIDDEN.search(str(name))
        }
    if isinstance(value, list):
        return [_plain_schema(each, depth + 1) for each in value]
    return value


def _checkable(schema: object, depth: int) -> dict[str, Any]:
    """What of a schema we can check; the rest is for the server to refuse."""
    if not isinstance(schema, Mapping) or depth > MOST_DEPTH:
        return {}
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties" and isinstance(value, Mapping):
            made[name] = {each: _checkable(one, depth + 1) for each, one in value.items()}
        elif name == "anyOf" and isinstance(value, list):
            made[name] = [_checkable(one, depth + 1) for one in value]
        elif name in ("items", "additionalProperties"):
            made[name] = value if isinstance(value, bool) else _checkable(value, depth + 1)
        elif _is_usable(name, value):
            made[name] = value
    return made


def _is_usable(name: str, value: object) -> bool:
    """Whether this part of a schema says what we can check."""
    if name == "type":
        kinds = [value] if isinstance(value, str) else value
        return isinstance(kinds, list) and set(map(str, kinds)) <= _TYPES
    if name in ("required", "enum"):
        return isinstance(value, list)
    if name in _BOUNDS:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return name in ("const", "description")
