"""What the server and its speech workers say to each other: length-prefixed messages.

    u32 length of the head │ u32 length of the load │ head: a JSON object │ load: raw bytes

Both lengths are little-endian. The head's `kind` names the message; audio travels as the load.
No pickle: neither end can be made to run anything.
"""

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

PREFIX = struct.Struct("<II")

MAX_HEAD_BYTES = 1 << 20
"""Word times of the longest chunk take a few ten kilobytes; more means a broken peer."""

MAX_LOAD_BYTES = 64 << 20
"""Ten minutes of speech at 48 kHz; far above any utterance or chunk that the room lets through."""

LAST = "last"
"""The field that is true in the last note of an answer; what comes before it are parts."""

Value = str | int | float | bool | None | list["Value"] | dict[str, "Value"]
"""What a head may hold."""


class WireBroken(Exception):
    """The bytes are no message: the other end has gone mad and must be ended."""


@dataclass(frozen=True, slots=True)
class Note:
    """One message between the server and a worker."""

    kind: str
    fields: dict[str, Value] = field(default_factory=dict)
    load: bytes = b""

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise WireBroken(f"{self.kind}: {name} is not text")
        return value

    def whole(self, name: str) -> int:
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise WireBroken(f"{self.kind}: {name} is not a whole number")
        return value

    def number(self, name: str) -> float:
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise WireBroken(f"{self.kind}: {name} is not a number")
        return float(value)

    def truth(self, name: str) -> bool:
        value = self.fields.get(name)
        if not isinstance(value, bool):
            raise WireBroken(f"{self.kind}: {name} is neither true nor false")
        return value

    def rows(self, name: str) -> list[list[Value]]:
        """A table: a list of lists."""
        value = self.fields.get(name)
        if not isinstance(value, list):
            raise WireBroken(f"{self.kind}: {name} is not a list")
        rows: list[list[Value]] = []
        for row in value:
            if not isinstance(row, list):
                raise WireBroken(f"{self.kind}: {name} has a row that is no list")
            rows.append(row)
        return rows


def pack(note: Note) -> bytes:
    """The note as bytes, ready to send. Raises ValueError where it holds what `unpack` refuses."""
    head = json.dumps({"kind": note.kind, **note.fields}, separators=(",", ":")).encode()
    if read_json(head, most_bytes=MAX_HEAD_BYTES) != {"kind": note.kind, **note.fields}:
        raise ValueError(f"{note.kind}: it holds text that is not whole characters")
    if len(note.load) > MAX_LOAD_BYTES:
        raise ValueError(f"{note.kind}: {len(note.load)} bytes are more than is sent at once")
    return PREFIX.pack(len(head), len(note.load)) + head + note.load


def lengths(prefix: bytes) -> tuple[int, int]:
    """How long head and load are, from the eight bytes before them."""
    head, load = PREFIX.unpack(prefix)
    if head > MAX_HEAD_BYTES or load > MAX_LOAD_BYTES:
        raise WireBroken(f"a message of {head} + {load} bytes is larger than any that is sent")
    return head, load


def unpack(head: bytes, load: bytes) -> Note:
    """The note that these bytes hold."""
    try:
        fields = read_json(head)
    except UntrustedJsonError as problem:
        raise WireBroken("the head is not JSON") from problem
    if not isinstance(fields, dict) or not isinstance(kind := fields.pop("kind", None), str):
        raise WireBroken("the head names no kind")
    return Note(kind, fields, load)


def read(read_exactly: Callable[[int], bytes]) -> Note:
    """Read one note from a blocking source; the worker's side."""
    head, load = lengths(read_exactly(PREFIX.size))
    return unpack(read_exactly(head), read_exactly(load))
