"""Encodes and decodes text frames: one JSON object each, from and to the message dataclasses.

    {"t": "stt.partial", "seq": 7, "turn": 3, "gen": 0, "stable": "what is", "tail": " the"}

`decode` accepts any text or bytes from a stranger and either returns an `Envelope` or raises a
`ProtocolError`; nothing else comes out of it. What it accepts is I-JSON (RFC 7493) of bounded
length and depth. The message's fields are checked by `decoding.py`, from the type hints of its
dataclass.
"""

import json
import re
from dataclasses import dataclass
from typing import NoReturn

from sayso.protocol.decoding import Mismatch, decoder_for
from sayso.protocol.encoding import fields_of, plain
from sayso.protocol.errors import Invalid, Malformed, Oversized
from sayso.protocol.messages import NAMES, TYPES, Message
from sayso.protocol.messages.bounds import GREATEST, Count
from sayso.protocol.untrusted_json import is_deeper

MAX_TEXT_BYTES = 65_536
"""A long file as code or a page of output fits; a device's memory is not filled by one message."""

MAX_DEPTH = 32
"""Levels of nesting. The deepest message has five; a reader that recurses is safe far beyond."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A message that a newer peer sent. It is ignored."""

    name: str


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message and its place in the conversation."""

    message: Message | Unknown
    seq: int | None = None
    """Counts what its sender has sent in the session, from 1."""
    turn: int | None = None
    """The turn that it belongs to."""
    gen: int | None = None
    """The generation of that turn; a lower one than the newest is stale."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The fields that every message may have beside its own."""

    seq: Count | None = None
    turn: Count | None = None
    gen: Count | None = None


def encode(envelope: Envelope) -> str:
    """Return the message as compact JSON, without the fields that hold their default value.

    A lone surrogate, which UTF-8 cannot carry, becomes U+FFFD: what a program garbled in its
    output must not break the connection.
    """
    message = envelope.message
    if isinstance(message, Unknown):
        raise Invalid(f"A message of the unknown type {message.name!r} cannot be sent.")
    name = NAMES[type(message)]
    place = {"seq": envelope.seq, "turn": envelope.turn, "gen": envelope.gen}
    given = {key: number for key, number in place.items() if number is not None}
    try:
        text = _WRITER.encode({"t": name, **given, **fields_of(message)})
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{name} cannot be sent as JSON: {error}.") from None
    if not text.isascii():
        # Through UTF-16, halves that belong together become one character, and lone ones U+FFFD.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decode(text: str | bytes, *, max_bytes: int = MAX_TEXT_BYTES) -> Envelope:
    """Read a text frame, or raise a `ProtocolError`.

    `Malformed` means that the frame is no message at all; `Invalid`, that a known message has a
    wrong or missing field; `Oversized`, that it is longer than `max_bytes` of UTF-8. Unknown fields
    are ignored, and a message of unknown name comes out as `Unknown`.
    """
    fields = _parse(_bounded(text, max_bytes))
    name = fields.get("t")
    if type(name) is not str:
        raise Malformed("The frame has no `t` that names a message.")
    kind = TYPES.get(name)
    try:
        place = decoder_for(_Place)(fields)
        message = Unknown(name) if kind is None else decoder_for(kind)(fields)
    except Mismatch as mismatch:
        known = name if kind else "a message of unknown type"
        raise Invalid(f"{known}: {mismatch.sentence()}") from None
    return Envelope(message, place.seq, place.turn, place.gen)


def _bounded(text: str | bytes, max_bytes: int) -> str:
    """Return the text, if it is valid Unicode of at most so many bytes of UTF-8."""
    try:
        if isinstance(text, str):
            size = len(text) if text.isascii() or len(text) > max_bytes else len(text.encode())
        else:
            size = len(text)
        if size > max_bytes:
            raise Oversized(
                f"A message longer than {max_bytes} bytes came; no more than that was agreed."
            )
        return text if isinstance(text, str) else text.decode()
    except UnicodeError:
        raise Malformed("The frame is not valid UTF-8.") from None


def _parse(text: str) -> dict[str, object]:
    """Parse one I-JSON object."""
    if is_deeper(text, MAX_DEPTH):
        raise Malformed(f"The frame is nested deeper than {MAX_DEPTH} levels.")
    try:
        value = _READER.decode(text)
        if _SURROGATE.search(text):
            # Halves that belong together have become one character; lone ones cannot be encoded.
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise Malformed("The frame holds half a surrogate pair, which is no character.") from None
    except json.JSONDecodeError as error:
        raise Malformed(f"The frame is not JSON: {error.msg}, character {error.pos}.") from None
    if type(value) is not dict:
        raise Malformed("The frame is JSON, but not an object.")
    return value


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise Malformed("The frame names a field twice.")
    return fields


def _whole(digits: str) -> int:
    if len(digits) > len("-9007199254740991") or abs(int(digits)) > GREATEST:
        raise Malformed(f"The frame holds a whole number beyond ±{GREATEST}.")
    return int(digits)


def _fraction(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise Malformed("The frame holds a number beyond what a double can hold.")
    return value


def _constant(name: str) -> NoReturn:
    raise Malformed(f"The frame holds {name}, which is not JSON.")


_READER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
)
_WRITER = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain
)
