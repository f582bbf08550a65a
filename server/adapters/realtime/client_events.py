"""Reads what a client of the Realtime API sends. Pure: any text gives an event, or an error."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

RATE: Final = 24_000
"""Samples a second, both ways: the only rate of PCM that the API has."""
LONGEST_TEXT: Final = 100_000
"""Characters of a message's text, in all its parts."""
LONGEST_ID: Final = 64
"""Characters of an id that a client chooses."""


class BadEventError(Exception):
    """Nothing was done. The text says what to change."""

    def __init__(self, sentence: str, event_id: str = "") -> None:
        super().__init__(sentence)
        self.event_id = event_id


@dataclass(frozen=True, slots=True)
class SessionUpdate:
    """`session.update`."""

    session: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AudioAppend:
    """`input_audio_buffer.append`."""

    pcm: bytes


@dataclass(frozen=True, slots=True)
class AudioCommit:
    """`input_audio_buffer.commit`."""


@dataclass(frozen=True, slots=True)
class AudioClear:
    """`input_audio_buffer.clear`."""


@dataclass(frozen=True, slots=True)
class Message:
    """`conversation.item.create` with a message."""

    role: Literal["user", "assistant", "system"]
    text: str
    pcm: bytes = b""
    """What was said, where it was not written."""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """`conversation.item.create` with an `mcp_approval_response`."""

    question: str
    approved: bool
    id: str = ""


@dataclass(frozen=True, slots=True)
class Truncate:
    """`conversation.item.truncate`: so much of it was heard."""

    item: str
    heard_ms: int


@dataclass(frozen=True, slots=True)
class Retrieve:
    """`conversation.item.retrieve`."""

    item: str


@dataclass(frozen=True, slots=True)
class CreateResponse:
    """`response.create`."""


@dataclass(frozen=True, slots=True)
class CancelResponse:
    """`response.cancel`."""


ClientEvent = (
    SessionUpdate
    | AudioAppend
    | AudioCommit
    | AudioClear
    | Message
    | Decision
    | Truncate
    | Retrieve
    | CreateResponse
    | CancelResponse
)


def read_event(text: str | bytes) -> ClientEvent:
    """The event in a message of a client. Raises BadEventError."""
    try:
        value = read_json(text)
    except UntrustedJsonError as error:
        raise BadEventError(f"A message must be a JSON object: {error}.") from None
    if not isinstance(value, dict):
        raise BadEventError("A message must be a JSON object.")
    event_id = _text(value, "event_id")[:LONGEST_ID]
    read = _READERS.get(_text(value, "type"))
    if read is None:
        raise BadEventError("Events of this type are not taken here.", event_id)
    try:
        return read(value)
    except BadEventError as error:
        raise BadEventError(str(error), event_id) from None


def _item(event: Mapping[str, Any]) -> ClientEvent:
    item = _object(event, "item")
    kind, name = _text(item, "type"), _text(item, "id")[:LONGEST_ID]
    if kind == "mcp_approval_response":
        approved = item.get("approve")
        if not isinstance(approved, bool):
            raise BadEventError("`approve` must be true or false.")
        return Decision(_text(item, "approval_request_id"), approved, name)
    if kind != "message":
        raise BadEventError("Items are messages or answers to approval requests here.")
    role = _text(item, "role")
    if role not in ("user", "assistant", "system"):
        raise BadEventError("`role` is user, assistant or system.")
    text, pcm = _content(item.get("content"))
    return Message(role, text, pcm, name)  # type: ignore[arg-type]


def _content(parts: object) -> tuple[str, bytes]:
    """The text and the sound of a message."""
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadEventError("`content` must be a list of objects.")
    texts: list[str] = []
    pcm = b""
    for part in parts:
        match part.get("type"):
            case "input_text" | "output_text" | "text":
                texts.append(_text(part, "text"))
            case "output_audio":
                texts.append(_text(part, "transcript"))
            case "input_audio":
                pcm += _sound(part, "audio")
            case _:
                raise BadEventError("Only text and sound are taken here.")
    joined = "\n".join(texts)
    if len(joined) > LONGEST_TEXT:
        raise BadEventError(f"A message has {LONGEST_TEXT} characters at most.")
    return joined, pcm


def _truncate(event: Mapping[str, Any]) -> Truncate:
    heard = event.get("audio_end_ms")
    if not isinstance(heard, int) or isinstance(heard, bool) or heard < 0:
        raise BadEventError("`audio_end_ms` must be a number of milliseconds.")
    return Truncate(_text(event, "item_id"), heard)


def _sound(of: Mapping[str, Any], name: str) -> bytes:
    try:
        pcm = base64.b64decode(_text(of, name), validate=True)
    except (binascii.Error, ValueError):
        raise BadEventError(f"`{name}` must be base64.") from None
    if len(pcm) % 2:
        raise BadEventError(f"`{name}` must be 16-bit PCM.")
    return pcm


def _object(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    if not isinstance(value, dict):
        raise BadEventError(f"`{name}` must be an object.")
    return value


def _text(of: Mapping[str, Any], name: str) -> str:
    value = of.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadEventError(f"`{name}` must be a text.")
    return value


_READERS: Final[Mapping[str, Callable[[Mapping[str, Any]], ClientEvent]]] = {
    "session.update": lambda event: SessionUpdate(_object(event, "session")),
    "input_audio_buffer.append": lambda event: AudioAppend(_sound(event, "audio")),
    "input_audio_buffer.commit": lambda _: AudioCommit(),
    "input_audio_buffer.clear": lambda _: AudioClear(),
    "conversation.item.create": _item,
    "conversation.item.truncate": _truncate,
    "conversation.item.retrieve": lambda event: Retrieve(_text(event, "item_id")),
    "response.create": lambda _: CreateResponse(),
    "response.cancel": lambda _: CancelResponse(),
}
