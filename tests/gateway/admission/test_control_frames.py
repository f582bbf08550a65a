"""Pings, pongs and pieces of messages: what the library answers or keeps by itself is bounded, too.

Clients here are raw sockets, since no library sends so.
"""

import asyncio
import gc
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.turn.events import Ticket, Typed
from tests.gateway.hostile_client import frame
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    NetworkGateway,
    RunningGateway,
    hear,
    open_gateway,
    open_network_gateway,
    say,
)

UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PINGS = frame(9, bytes(125)) * 2_000
PONGS = frame(10, bytes(125)) * 2_000
EMPTY_PIECES = frame(0, b"", flags=0) * 20_000
MANY = 60
MOST_BYTES = 6 * 2**20
"""What one such client may cost. Unbounded, any of these costs more within a second."""


class Raw:
    """A socket that sends what it likes and reads nothing by itself."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    @classmethod
    async def at(cls, port: int, tls: ssl.SSLContext | None = None) -> "Raw":
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        await asyncio.to_thread(line.connect, ("127.0.0.1", port))
        line.settimeout(WAIT_S)
        if tls:
            line = await asyncio.to_thread(tls.wrap_socket, line, server_hostname="127.0.0.1")
        return cls(line)

    async def send(self, data: bytes) -> None:
        await asyncio.to_thread(self._line.sendall, data)

    async def answered(self) -> bytes:
        """The head of the answer to its request."""

        def read() -> bytes:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += self._line.recv(1)
            return head

        return await asyncio.to_thread(read)

    async def pour(self, data: bytes) -> None:
        """Send this again and again, until the server has had enough."""
        async with asyncio.timeout(WAIT_S):
            with suppress(OSError):
                while True:
                    await self.send(data)

    def close(self) -> None:
        self._line.close()


@asynccontextmanager
async def upgraded(
    gateway: RunningGateway, token: str = TOKEN, *, network: NetworkGateway | None = None
) -> AsyncIterator[Raw]:
    """A raw client whose socket is open; it has not said hello."""
    tls = None
    port = network.network_port if network else gateway.port
    if network:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        tls.load_verify_locations(cadata=network.pem)
    raw = await Raw.at(port, tls)
    try:
        await raw.send(UPGRADE.format(path="/ws", host=f"127.0.0.1:{port}", token=token).encode())
        assert b" 101 " in await raw.answered()
        yield raw
    finally:
        raw.close()


def hello(device: str = "deaf") -> bytes:
    greeting = m.Hello(SPOKEN, "raw 1", device, ("resume",))
    return frame(1, encode(Envelope(greeting)).encode())


@asynccontextmanager
async def bounded_memory() -> AsyncIterator[None]:
    gc.collect()
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES, f"{peak / 2**20:.0f} MiB"


async def others_are_served(gateway: RunningGateway) -> None:
    async with gateway.client(device="good") as good:
        for number in range(3):
            await say(good, m.Ping(number))
            assert await hear(good) == m.Pong(number)


FLOODS = {"pings": PINGS, "pongs": PONGS, "pieces": EMPTY_PIECES}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
@pytest.mark.parametrize("greets", [True, False], ids=["a client", "a stranger"])
async def test_who_pours_frames_that_say_nothing_is_cut_off_and_costs_little(
    flood: bytes, *, greets: bool
) -> None:
    limits = Limits(handshake_s=WAIT_S, goodbye_s=0.2)
    async with open_gateway(limits) as gateway, bounded_memory(), upgraded(gateway) as raw:
        if greets:
            await raw.send(hello())
        await raw.send(frame(1, b"{", flags=0) if flood is EMPTY_PIECES else b"")
        await asyncio.gather(raw.pour(flood), others_are_served(gateway))


async def test_a_paired_device_that_pings_and_never_reads_is_cut_off_over_tls(
    tmp_path: Path,
) -> None:
    limits = Limits(handshake_s=WAIT_S, goodbye_s=0.2)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("deaf", "", ("talk",))
        async with bounded_memory(), upgraded(gateway, token, network=gateway) as raw:
            await raw.send(hello())
            await asyncio.gather(raw.pour(PINGS), others_are_served(gateway))


@pytest.mark.slow
async def test_pings_that_may_be_answered_cost_nothing_while_nobody_reads_the_answers() -> None:
    limits = Limits(control_burst=10**9, send_s=0.5, vanished_s=WAIT_S, handshake_s=WAIT_S)
    async with open_gateway(limits) as gateway, bounded_memory(), upgraded(gateway) as raw:
        await raw.send(hello())
        await asyncio.gather(raw.pour(PINGS), others_are_served(gateway))
        async with asyncio.timeout(WAIT_S):
            await gateway.somebody_left.wait()


class SlowGateway(RunningGateway):
    """It takes its time to answer a plain request: it has `getting_ready` first."""

    async def look(self, path: str, person: str) -> Mapping[str, Any] | None:
        self.somebody_waits.set()
        async with self.getting_ready:
            return None


@pytest.mark.parametrize("sent", [PINGS, frame(1, b"{}") * 1_000], ids=["pings", "words"])
@pytest.mark.parametrize("at_once", [True, False])
async def test_who_does_not_wait_for_the_answer_to_its_request_is_cut_off(
    sent: bytes, *, at_once: bool
) -> None:
    gateway = SlowGateway()
    listener = Listener(gateway, TOKEN)
    gateway.port = await listener.open("127.0.0.1", 0)
    await gateway.getting_ready.acquire()
    raw = await Raw.at(gateway.port)
    asked = UPGRADE.format(path="/choices", host=f"127.0.0.1:{gateway.port}", token=TOKEN)
    try:
        async with bounded_memory(), asyncio.timeout(WAIT_S / 2):
            await raw.send(asked.encode() + (sent if at_once else b""))
            if not at_once:
                await gateway.somebody_waits.wait()
            await raw.pour(sent)
            assert await gateway.get("/ping") == (200, "pong")
    finally:
        gateway.getting_ready.release()
        raw.close()
        await listener.close()


async def test_pings_of_a_client_that_reads_are_answered_and_the_last_one_when_it_reads_again() -> (
    None
):
    limits = Limits(control_burst=10_000, send_s=WAIT_S, vanished_s=WAIT_S)
    async with open_gateway(limits) as gateway, gateway.client() as socket:
        assert await (await socket.ping()) >= 0
        socket.transport.pause_reading()
        for number in range(256):
            await socket.ping(bytes([number]) * 120)
        for _ in range(MANY):
            next(iter(gateway.outlets.values())).tell(m.ReplyDelta("x" * 60_000), Ticket(1, 0))
        last = await socket.ping(b"last")
        await say(socket, m.Text("are you there"))
        await gateway.next_event()  # all pings before it were read
        socket.transport.resume_reading()
        for _ in range(MANY):
            await hear(socket)
        async with asyncio.timeout(WAIT_S):
            await last


async def test_a_long_message_in_pieces_is_taken() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        text = encode(Envelope(m.Text("x" * 16_000)))
        await socket.send(text[at : at + 100] for at in range(0, len(text), 100))
        assert await gateway.next_event() == Typed(gateway.joined[0].device, "x" * 16_000)
