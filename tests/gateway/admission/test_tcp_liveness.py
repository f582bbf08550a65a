"""Connections whose other end vanished or stopped reading, without a close."""

import asyncio
import socket
from asyncio.trsock import TransportSocket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol import messages as m
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.admission.tcp_liveness import LOOKS
from sayso.server.gateway.limits import Limits
from sayso.server.turn.events import Ticket
from tests.gateway.running_gateway import (
    TOKEN,
    WAIT_S,
    RunningGateway,
    hear,
    open_gateway,
    open_network_gateway,
    say,
)
from tests.gateway.vanishing_client import CAN_VANISH, shut_own_side, vanish
from tests.machine import lacking

LONG_MESSAGES = 5
LOOPBACK_SEGMENT = 65_535


def line_of(socket_: ClientConnection) -> TransportSocket:
    found: TransportSocket = socket_.transport.get_extra_info("socket")
    return found


async def gone(gateway: RunningGateway) -> float:
    """Seconds until the host is told that its client is not there."""
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(WAIT_S):
        await gateway.somebody_left.wait()
    return asyncio.get_running_loop().time() - began


async def test_a_machine_that_vanished_is_found_by_what_it_was_sent(tmp_path: Path) -> None:
    if not CAN_VANISH:
        lacking("no packets of one socket can be filtered here")
    limits = Limits(vanished_s=1.0)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("phone", "", ("talk",))
        async with gateway.device(token, features=("resume",)) as socket_:
            vanish(line_of(socket_))
            next(iter(gateway.outlets.values())).tell(m.ReplyDelta("Are you there?"), Ticket(1, 0))
            assert await gone(gateway) < limits.ping_s / 4
            assert len(gateway.gone) == 1, "it may come back, and loses nothing"
            socket_.transport.abort()


async def test_who_shuts_its_side_and_holds_on_is_gone_at_once() -> None:
    async with (
        open_gateway() as gateway,
        gateway.client(device="odd", features=("resume",)) as socket_,
    ):
        shut_own_side(line_of(socket_))
        assert await gone(gateway) < Limits().handshake_s
        assert gateway.gone == ["odd"]


@pytest.mark.parametrize("said", [b"", b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
async def test_who_shuts_its_side_in_a_handshake_is_let_go_at_once(said: bytes) -> None:
    async with open_gateway(Limits(handshake_s=WAIT_S)) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(said)
        writer.write_eof()
        async with asyncio.timeout(WAIT_S / 2):
            await reader.read()
        writer.close()
        assert (await gateway.get("/ping"))[1] == "pong"


# ── Slow, and not gone ───────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def reader_of_little(
    gateway: RunningGateway, buffer: int = 65_536
) -> AsyncIterator[ClientConnection]:
    """A client with a small buffer that has stopped reading."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    if buffer < LOOPBACK_SEGMENT:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, buffer // 8)
    line.connect(("127.0.0.1", gateway.port))
    hello = m.Hello(SPOKEN, "test 1", "slow", ("resume",), token=TOKEN)
    async with connect(gateway.url, sock=line, compression=None) as socket_:
        await say(socket_, hello)
        assert isinstance(await hear(socket_), m.Welcome)
        socket_.transport.pause_reading()
        yield socket_
        socket_.transport.abort()


async def read_a_little(socket_: ClientConnection) -> None:
    """What its buffers hold, which is half a message."""
    socket_.transport.resume_reading()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    socket_.transport.pause_reading()


@pytest.mark.slow
async def test_a_line_that_is_slow_and_moves_is_waited_for() -> None:
    limits = Limits(send_s=0.9)
    async with open_gateway(limits) as gateway, reader_of_little(gateway, 16_384) as socket_:
        for _ in range(LONG_MESSAGES):
            gateway.outlets["slow"].tell(m.ReplyDelta("x" * 60_000), Ticket(1, 0))

        async def read_slowly() -> None:
            while True:
                await asyncio.sleep(limits.send_s / 2)
                await read_a_little(socket_)

        reading = asyncio.create_task(read_slowly())
        heard = [await hear(socket_) for _ in range(LONG_MESSAGES)]
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert all(isinstance(message, m.ReplyDelta) for message in heard)
        assert gateway.gone == []


@pytest.mark.slow
async def test_who_took_something_a_moment_ago_has_its_whole_time() -> None:
    limits = Limits(send_s=1.8)
    async with open_gateway(limits) as gateway, reader_of_little(gateway, 8_192) as socket_:
        for _ in range(LONG_MESSAGES):
            gateway.outlets["slow"].tell(m.ReplyDelta("x" * 60_000), Ticket(1, 0))
        await asyncio.sleep(limits.send_s / LOOKS / 4)
        await read_a_little(socket_)
        took = await gone(gateway)
        assert took >= limits.send_s, took


@pytest.mark.slow
async def test_more_than_may_wait_ends_a_stuck_line_before_its_time() -> None:
    limits = Limits(outgoing_bytes=200_000, send_s=WAIT_S, vanished_s=WAIT_S)
    async with open_gateway(limits) as gateway, reader_of_little(gateway):
        for _ in range(100):
            gateway.outlets["slow"].tell(m.ReplyDelta("x" * 8_000), Ticket(1, 0))
            await asyncio.sleep(0)
        took = await gone(gateway)
        assert took < limits.send_s / 2, took


async def test_what_can_not_wait_does_not_stand_behind_what_the_system_holds() -> None:
    async with open_gateway() as gateway, reader_of_little(gateway) as socket_:
        outlet = gateway.outlets["slow"]
        for _ in range(100):
            outlet.tell(m.CodeOut("1", "stdout", text="x" * 8_000), Ticket(1, 0))
        await say(socket_, m.Text("what is this"))
        await gateway.next_event()  # meanwhile the line was filled
        outlet.tell(m.SpeechStop(1, "interrupted"), Ticket(1, 0))
        socket_.transport.resume_reading()
        before = 0
        while not isinstance(message := await hear(socket_), m.SpeechStop):
            before += len(message.text) if isinstance(message, m.CodeOut) else 0
        assert before < 300_000
