"""Reads what a client of LMC sends. Pure: any text gives a message or none.

LMC has no version and no answer to what it does not know: what means nothing here is passed over.
"""

from dataclasses import dataclass
from typing import Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

LONGEST_TEXT = 100_000
"""Characters of a typed message."""


@dataclass(frozen=True, slots=True)
class SoundBegins:
    """The person holds the key."""


@dataclass(frozen=True, slots=True)
class SoundEnds:
    """They let go."""


@dataclass(frozen=True, slots=True)
class Typed:
    """Written words."""

    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """What the person wants of work that goes on."""

    name: Literal["go", "stop"]


LmcMessage = SoundBegins | SoundEnds | Typed | Command


def read_message(text: str) -> LmcMessage | None:
    """What is meant; None: nothing that is known here."""
    try:
        value = read_json(text)
    except UntrustedJsonError:
        return None
    if not isinstance(value, dict):
        return None
    kind, content = value.get("type"), value.get("content")
    if kind == "command" and content in ("go", "stop"):
        return Command(content)
    if value.get("role") != "user":
        return None
    if kind == "audio" and value.get("start") is True:
        return SoundBegins()
    if kind == "audio" and value.get("end") is True:
        return SoundEnds()
    if kind == "message" and isinstance(content, str) and content.strip():
        return Typed(content[:LONGEST_TEXT])
    return None
