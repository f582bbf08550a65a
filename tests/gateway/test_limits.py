"""Input that is too fast, too large or malformed from one client does not harm the others."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets import http11
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from sayso.protocol import messages as m
from sayso.protocol.codec import decode
from sayso.protocol.frames import AudioFrame
from sayso.server.gateway.admission.rate_limits import Rates
from sayso.server.gateway.limits import HEADER_LINE_BYTES, HEADER_LINES, Limits
from sayso.server.trust.principal import THIS_MACHINE
from sayso.server.turn import events
from sayso.server.turn.events import Ticket
from tests.gateway.hostile_client import ABSURD, HOSTILE, SLOW, frame
from tests.gateway.running_gateway import (
    WAIT_S,
    RunningGateway,
    close_code,
    hear,
    open_gateway,
    open_network_gateway,
    say,
)

FRAME_BYTES = 640


async def test_sound_that_comes_too_fast_is_read_more_slowly_and_none_is_lost() -> None:
    limits = Limits(sound_burst_s=0.1, sound_pace=1.0)
    async with open_gateway(limits) as gateway, gateway.client(device="desk") as socket:
        began = asyncio.get_running_loop().time()
        for number in range(30):
            await socket.send(AudioFrame(1, number, number * 320, bytes(FRAME_BYTES)).pack())
        got = [await gateway.next_event() for _ in range(30)]
        assert [event.first_sample for event in got if isinstance(event, events.AudioHeard)] == [
            number * 320 for number in range(30)
        ]
        assert asyncio.get_running_loop().time() - began >= 0.4


async def test_a_device_is_told_of_code_that_is_too_long_for_it_to_show() -> None:
    small = m.Limits(max_text_bytes=4_096)
    async with open_gateway() as gateway, gateway.client(device="badge", limits=small) as socket:
        start = m.CodeStart("1", "python", "print('x')\n" * 1_000)
        gateway.outlets["badge"].tell(start, Ticket(1, 0))
        gateway.outlets["badge"].tell(m.CodeEnd("1", "ok"), Ticket(1, 0))
        told = await hear(socket)
        assert isinstance(told, m.CodeStart)
        assert (told.id, told.language) == ("1", "python")
        assert told.code == "[code that is too long for this device to show runs here]"
        assert await hear(socket) == m.CodeEnd("1", "ok")


async def test_a_device_that_asks_without_end_is_told_to_wait(tmp_path: Path) -> None:
    limits = Limits(requests_a_minute=3)
    async with open_network_gateway(tmp_path, limits) as gateway:
        _, token = gateway.devices.add("toy", "", ("talk",))
        async with gateway.device(token) as socket:
            for number in range(5):
                await say(socket, m.Text(str(number)))
            for _ in range(2):
                error = await hear(socket)
                assert isinstance(error, m.Error)
                assert (error.code, error.fatal, error.retry_ms) == ("too_fast", False, 20_000)
            assert gateway.events.qsize() == 3


async def test_programs_of_this_machine_may_ask_as_they_like() -> None:
    async with open_gateway(Limits(requests_a_minute=1)) as gateway, gateway.client() as socket:
        for number in range(20):
            await say(socket, m.Text(str(number)))
        await say(socket, m.Ping(1))
        assert await hear(socket) == m.Pong(1)
        assert gateway.events.qsize() == 20


async def test_a_flood_of_messages_is_read_slowly_and_others_are_served() -> None:
    limits = Limits(messages_burst=10, messages_a_second=5)
    async with (
        open_gateway(limits) as gateway,
        gateway.client() as flood,
        gateway.client() as other,
    ):

        async def pour() -> None:
            for number in range(10_000):
                await say(flood, m.Text(str(number)))

        pouring = asyncio.create_task(pour())
        for number in range(5):
            await say(other, m.Ping(number))
            assert await hear(other) == m.Pong(number)
        assert gateway.events.qsize() < 100
        pouring.cancel()
        await asyncio.gather(pouring, return_exceptions=True)
        flood.transport.abort()


@pytest.mark.slow
async def test_a_flood_without_a_pause_is_sent_away() -> None:
    limits = Limits(messages_burst=10, messages_a_second=100, flood_s=0.2)
    async with open_gateway(limits) as gateway, gateway.client() as flood:

        async def pour() -> None:
            for number in range(100_000):
                await say(flood, m.Ping(number))

        pouring = asyncio.create_task(pour())
        told = [decode(data).message async for data in ended(flood)]
        assert isinstance(told[-1], m.Error)
        assert (told[-1].code, told[-1].fatal, flood.close_code) == ("too_fast", True, 4429)
        assert len(told) < 1_000
        await asyncio.gather(pouring, return_exceptions=True)
        assert (await gateway.get("/ping"))[1] == "pong"


async def ended(socket: ClientConnection) -> AsyncIterator[str]:
    """Text until the server closes the socket."""
    with suppress(ConnectionClosed):
        while True:
            async with asyncio.timeout(WAIT_S):
                yield str(await socket.recv())


@pytest.mark.virtual_time
async def test_who_pauses_now_and_then_may_send_for_long() -> None:
    rates = Rates(Limits(messages_burst=10, messages_a_second=100, flood_s=0.05), THIS_MACHINE)
    for _ in range(1_000):
        for _ in range(14):
            await asyncio.sleep(rates.wait_for("{}"))
        await asyncio.sleep(0.1)


# ── Handshakes ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("slowly", SLOW.values(), ids=SLOW)
async def test_a_handshake_that_never_ends_is_cut_off(slowly: bytes) -> None:
    async with open_gateway(Limits(handshake_s=0.2)) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        writer.write(slowly)
        async with asyncio.timeout(WAIT_S):
            await reader.read()
        writer.close()
        assert (await gateway.get("/ping"))[1] == "pong"


@pytest.mark.parametrize("request_bytes", ABSURD.values(), ids=ABSURD)
async def test_an_absurd_request_is_turned_away(request_bytes: bytes) -> None:
    async with open_gateway(Limits(handshake_s=1.0)) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
        try:
            writer.write(request_bytes)
            await writer.drain()
            async with asyncio.timeout(WAIT_S):
                answer = await reader.read()
        except ConnectionError:
            answer = b""
        writer.close()
        assert b" 200 " not in answer
        assert (await gateway.get("/ping"))[1] == "pong"


def test_the_bounds_of_headers_are_those_that_are_told() -> None:
    assert (http11.MAX_LINE_LENGTH, http11.MAX_NUM_HEADERS) == (HEADER_LINE_BYTES, HEADER_LINES)


async def test_a_tls_handshake_that_never_ends_is_cut_off(tmp_path: Path) -> None:
    async with open_network_gateway(tmp_path, Limits(handshake_s=0.2)) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.network_port)
        writer.write(b"\x16\x03\x01")
        async with asyncio.timeout(WAIT_S):
            await reader.read()
        writer.close()


# ── Frames ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("sent", "code"), HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_frame_closes_the_connection_and_nothing_else(
    sent: bytes, code: int
) -> None:
    async with open_gateway() as gateway, gateway.client() as bad, gateway.client() as good:
        bad.transport.write(sent)
        assert await close_code(bad) == code
        await say(good, m.Ping(1))
        assert await hear(good) == m.Pong(1)


async def test_endless_fragments_are_too_long_in_the_end() -> None:
    async with open_gateway() as gateway, gateway.client() as socket:
        socket.transport.write(frame(1, b"{", flags=0))
        for _ in range(200):
            socket.transport.write(frame(0, b" " * 1_000, flags=0))
        assert await close_code(socket) == 1009


# ── A client that does not read ──────────────────────────────────────────────────────────────────


MOST_BYTES = 16 * 2**20
"""What one client that never reads may cost."""


@asynccontextmanager
async def deaf(gateway: RunningGateway) -> AsyncIterator[ClientConnection]:
    """A client that was welcomed and reads no more. It would know how to resume."""
    async with gateway.client(device="deaf", features=("resume",)) as socket:
        socket.transport.pause_reading()
        yield socket


async def test_a_client_that_never_reads_costs_little_and_hurts_nobody() -> None:
    limits = Limits(send_s=1.0)
    async with (
        open_gateway(limits) as gateway,
        gateway.client(device="good") as good,
        deaf(gateway) as socket,
    ):
        gc.collect()
        tracemalloc.start()
        try:
            for number in range(4_000):
                gateway.outlets["deaf"].tell(m.ReplyDelta("x" * 8_000), Ticket(1, 0))
                if number % 500 == 0:
                    await say(good, m.Ping(number))
                    assert await hear(good) == m.Pong(number)
            async with asyncio.timeout(WAIT_S):
                while "deaf" not in gateway.gone:
                    gateway.somebody_left.clear()
                    await gateway.somebody_left.wait()
            _, peak = tracemalloc.get_traced_memory()
            gc.collect()
            left, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        socket.transport.abort()
    assert peak < MOST_BYTES
    assert left < MOST_BYTES / 4
