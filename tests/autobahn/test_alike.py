"""Our limits and checks leave the WebSocket library as it is: our server answers any frames as
the plain library does, byte for byte."""

import asyncio
import random
import struct
from collections.abc import Sequence

import pytest

from tests.autobahn.__main__ import ours_alone
from tests.autobahn.echo import ours, plain
from tests.gateway.hostile_client import HOSTILE, frame
from tests.gateway.running_gateway import WAIT_S

UPGRADE = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
GOODBYE = frame(8, b"\x03\xe8")
TEXTS = (b"", b"a", "\u03ba\u1f79\u03c3\u03bc\u03b5".encode(), b"\xce", b"\xba\xff", b"x" * 70_000)
CODES = (0, 999, 1000, 1005, 1006, 1011, 1015, 2999, 3000, 4999, 5000)


async def answer_of(port: int, sent: bytes) -> bytes:
    """All that comes back until the server closes, without the handshake."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(WAIT_S):
            writer.write(UPGRADE)
            await reader.readuntil(b"\r\n\r\n")
            writer.write(sent)
            return await reader.read()
    finally:
        writer.transport.abort()


def any_frames(chance: random.Random) -> bytes:
    """A few frames, most of them right; the last is a goodbye."""
    sent = b""
    for _ in range(chance.randrange(1, 8)):
        opcode = chance.choice((0, 0, 1, 1, 1, 2, 2, 8, 9, 10, chance.randrange(16)))
        payload = chance.choice(TEXTS)
        if opcode == 8:
            payload = struct.pack("!H", chance.choice(CODES)) + chance.choice(TEXTS)[:123]
        elif opcode > 8:
            payload = payload[: chance.choice((0, 125, 125, 126))]
        final = chance.choice((0x80, 0x80, 0))
        rare = chance.choice((0, 0, 0, 0, 0, 0, 0x40, 0x10))
        sent += frame(opcode, payload, flags=final | rare)
    return sent + GOODBYE


async def differing(cases: Sequence[bytes]) -> list[bytes]:
    """Those that the two servers answer differently."""
    async with ours() as here, plain() as there:

        async def differs(sent: bytes) -> bool:
            return await answer_of(here, sent) != await answer_of(there, sent)

        return [sent for sent in cases if await differs(sent)]


async def test_what_is_hostile_is_answered_as_the_library_does() -> None:
    short = [sent + GOODBYE for sent, _ in HOSTILE.values() if len(sent) < 100_000]
    assert await differing(short) == []


@pytest.mark.thorough
async def test_any_frames_are_answered_as_the_library_does() -> None:
    chance = random.Random(9)
    assert await differing([any_frames(chance) for _ in range(300)]) == []


def test_only_what_fails_here_alone_is_told() -> None:
    def found(one: str, close: str = "OK") -> dict[str, str]:
        return {"behavior": one, "behaviorClose": close}

    sayso = {"1.1": found("OK"), "2.1": found("FAILED"), "3.1": found("OK", "FAILED")}
    library = {"1.1": found("OK"), "2.1": found("FAILED"), "3.1": found("OK")}
    assert ours_alone({"sayso": sayso, "websockets": library}) == ["3.1"]
