"""Reads and writes events of the Wyoming protocol.

An event is a line of JSON, which says how many bytes of JSON data and of payload follow it:

    {"type": "audio-chunk", "data_length": 40, "payload_length": 2048}\\n
    {"rate": 16000, "width": 2, "channels": 1}
    … 2048 bytes of sound …
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

LINE_BYTES: Final = 65_536
"""Longest first line: some clients write the data into it, and a long text to speak is data."""
DATA_BYTES: Final = 65_536
"""Longest data: a text to speak, an hour of it."""
PAYLOAD_BYTES: Final = 262_144
"""Longest payload: some seconds of sound; clients send a tenth of a second."""
VERSION: Final = "1.10.0"
"""Of the protocol's own library, whose events these are."""


class BadEventError(Exception):
    """What came is no event that is read here."""


@dataclass(frozen=True, slots=True)
class WyomingEvent:
    """One event, either way."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)
    payload: bytes = b""

    def text(self, name: str, longest: int = DATA_BYTES) -> str:
        """A text of its data; empty if there is none of this name."""
        value = self.data.get(name)
        return value[:longest] if isinstance(value, str) else ""


async def read_event(reader: asyncio.StreamReader) -> WyomingEvent | None:
    """The next event; None when the other end has closed. Raises BadEventError."""
    try:
        line = await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        if end.partial.strip():
            raise BadEventError("the connection ended within an event") from None
        return None
    except asyncio.LimitOverrunError:
        raise BadEventError("the line is too long") from None
    head = _object(line, LINE_BYTES)
    kind = head.get("type")
    if not isinstance(kind, str):
        raise BadEventError("it has no type")
    try:
        data = dict(_mapping(head.get("data")))
        if length := _length(head, "data_length", DATA_BYTES):
            data |= _object(await reader.readexactly(length), DATA_BYTES)
        length = _length(head, "payload_length", PAYLOAD_BYTES)
        payload = await reader.readexactly(length) if length else b""
    except asyncio.IncompleteReadError:
        raise BadEventError("the connection ended within an event") from None
    return WyomingEvent(kind, data, payload)


def written(event: WyomingEvent) -> bytes:
    """The event as it travels."""
    head: dict[str, Any] = {"type": event.kind, "version": VERSION}
    data = json.dumps(event.data, ensure_ascii=False).encode() if event.data else b""
    if data:
        head["data_length"] = len(data)
    if event.payload:
        head["payload_length"] = len(event.payload)
    return json.dumps(head).encode() + b"\n" + data + event.payload


def _object(text: bytes, most: int) -> Mapping[str, Any]:
    try:
        return _mapping(read_json(text, most_bytes=most))
    except UntrustedJsonError as error:
        raise BadEventError(str(error)) from None


def _mapping(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadEventError("its data is no object")
    return value


def _length(head: Mapping[str, Any], name: str, most: int) -> int:
    length = head.get(name) or 0
    if not isinstance(length, int) or isinstance(length, bool) or not 0 <= length <= most:
        raise BadEventError(f"its {name} is no number up to {most}")
    return length
