"""The tools that programs are offered, and the arguments that they may give. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from sayso.server.adapters.mcp_server.json_rpc import INVALID_PARAMS, RpcError

TEXT_CHARS: Final = 16_000
NAME_CHARS: Final = 100
LAST_MOST: Final = 50

_CONVERSATION: Final = {
    "type": "string",
    "maxLength": NAME_CHARS,
    "description": "Name or id of a conversation; without it, this program's own.",
}
_READS: Final = {"readOnlyHint": True, "openWorldHint": False}

TOOLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ask": {
        "description": (
            "Ask Sayso to do something on this person's machine, in words, and wait for what it"
            " says. Where it needs the person's say-so, they are asked on their own devices; you"
            " cannot give it."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "maxLength": TEXT_CHARS},
                "conversation": _CONVERSATION,
            },
            "required": ["text"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
    },
    "status": {
        "description": "How a conversation is getting on: jobs, and what waits for the person.",
        "inputSchema": {
            "type": "object",
            "properties": {"conversation": _CONVERSATION},
            "additionalProperties": False,
        },
        "annotations": _READS,
    },
    "transcript": {
        "description": "What was said and answered last in a conversation.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "last": {"type": "integer", "minimum": 1, "maximum": LAST_MOST},
                "conversation": _CONVERSATION,
            },
            "additionalProperties": False,
        },
        "annotations": _READS,
    },
    "conversations": {
        "description": "The person's conversations, the latest first.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": _READS,
    },
}


def listed() -> list[Mapping[str, Any]]:
    """All of them, as the wire has it."""
    return [{"name": name, **about} for name, about in TOOLS.items()]


def text_argument(given: Mapping[str, Any], name: str, most: int) -> str:
    """A text that may be missing. Raises RpcError."""
    value = given.get(name, "")
    if not isinstance(value, str) or len(value) > most:
        raise RpcError(INVALID_PARAMS, f"{name} must be a text of at most {most} characters.")
    return value.strip()


def last_argument(given: Mapping[str, Any], usual: int = 5) -> int:
    """How many turns are wanted. Raises RpcError."""
    value = given.get("last", usual)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LAST_MOST:
        raise RpcError(INVALID_PARAMS, f"last must be a whole number from 1 to {LAST_MOST}.")
    return value
