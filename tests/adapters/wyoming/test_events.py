"""Events of the Wyoming protocol, read byte by byte."""

import asyncio

import pytest

from sayso.server.adapters.wyoming.events import (
    LINE_BYTES,
    BadEventError,
    WyomingEvent,
    read_event,
    written,
)


def reader_of(sent: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader(limit=LINE_BYTES)
    reader.feed_data(sent)
    reader.feed_eof()
    return reader


async def test_what_is_written_is_read_again() -> None:
    events = [
        WyomingEvent("describe"),
        WyomingEvent("audio-chunk", {"rate": 16_000, "width": 2, "channels": 1}, b"\0\1" * 500),
        WyomingEvent("transcript", {"text": "Grüße, 世界"}),
    ]
    reader = reader_of(b"".join(map(written, events)))
    assert [await read_event(reader) for _ in range(4)] == [*events, None]


async def test_data_may_stand_in_the_line_as_well() -> None:
    sent = b'{"type": "x", "data": {"a": 1, "b": 1}, "data_length": 8}\n{"b": 2}'
    assert await read_event(reader_of(sent)) == WyomingEvent("x", {"a": 1, "b": 2})


@pytest.mark.parametrize(
    "sent",
    [
        b"nothing",
        b"{}\n",
        b'{"type": 3}\n',
        b'{"type": "x", "data": []}\n',
        b'{"type": "x", "data_length": 4}\n[1]\n',
        b'{"type": "x", "data_length": true}\n{',
        b'{"type": "x", "payload_length": 9}\nshort',
        b'{"type": "x", "payload_length": 1e3}\n',
        b'{"type": "x", "payload_length": 300000}\n' + b"y" * 300_000,
        b'{"type": "' + b"x" * LINE_BYTES + b'"}\n',
        b"[" * 5_000 + b"\n",
    ],
)
async def test_what_is_no_event_is_refused_before_it_is_kept(sent: bytes) -> None:
    with pytest.raises(BadEventError):
        await read_event(reader_of(sent))
