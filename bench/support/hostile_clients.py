"""Runs hostile clients: each must be disconnected in time, and leave the server healthy.

A case is survived if the connection was closed with the right code, another client was served, and
the memory was given back.
"""

import asyncio
import gc
from asyncio.trsock import TransportSocket
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager

from websockets.asyncio.client import ClientConnection
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.uri import parse_uri

from bench.support.figures import resident_kb
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.version import SPOKEN
from sayso.server.turn.events import Ticket
from tests.gateway.hostile_client import ABSURD, HOSTILE, SLOW, frame
from tests.gateway.running_gateway import TOKEN, RunningGateway, hear, open_gateway, say
from tests.gateway.vanishing_client import CAN_VANISH, shut_own_side, vanish

PATIENCE_S = 6.0
"""Within which one must be gone: five seconds, and one for what a busy machine adds."""
MOST_KB = 16_384
"""What one may have cost when it is gone: what an allocator keeps of a few buffers."""
MESSAGES = 1_000_000
FRAME_BYTES = 200 * 2**20
PIECE = 65_536
AT_A_TIME = 1_000
PING_BYTES = 125
"""The longest that there is."""
DRIP_S = 0.2
SLOW_AT_ONCE = 4
"""Of each kind of endless handshake."""

Attack = Callable[[RunningGateway], Awaitable[bool]]
"""True: it was sent away, in time and with the right code."""


def measure(messages: int = MESSAGES, frame_bytes: int = FRAME_BYTES) -> Mapping[str, bool]:
    """Every kind, and whether the server survived it."""
    return asyncio.run(_measure(messages, frame_bytes))


async def _measure(messages: int, frame_bytes: int) -> Mapping[str, bool]:
    survived: dict[str, bool] = {}
    async with open_gateway() as gateway, gateway.client(device="other") as other:
        for attacks in _attacks(messages, frame_bytes):
            gc.collect()
            before = resident_kb()
            gone = await asyncio.gather(*(attack(gateway) for attack in attacks.values()))
            well = await _is_well(gateway, other) and _has_returned(before)
            survived |= {name: left and well for name, left in zip(attacks, gone, strict=True)}
    return survived


def _attacks(messages: int, frame_bytes: int) -> Iterator[Mapping[str, Attack]]:
    """One by one, but for those that take their time."""
    for name, (sent, code) in HOSTILE.items():
        yield {name: _pouring([sent], code)}
    yield {"a long text": _pouring(_long_frame(1, frame_bytes), 1009)}
    yield {"a long sound": _pouring(_long_frame(2, frame_bytes), 1009)}
    yield {"endless fragments": _pouring(_fragments(frame_bytes), 1009)}
    ping = encode(Envelope(m.Ping(1)))
    yield {"endless messages": _pouring(_messages(ping, messages), 4429)}
    pings = frame(9, bytes(PING_BYTES)) * AT_A_TIME
    yield {"endless pings": _pouring((pings for _ in range(messages // AT_A_TIME)), 4429)}
    yield {"endless pings, and nothing is read": _deaf(pings)}
    yield {"endless garbage": _pouring(_messages("{", messages), 1007)}
    yield {"endless mistakes": _pouring(_messages('{"t":"listen.stop"}', messages), 1008)}
    dripping = [bytes([letter]) for letter in b"GET /ws HTTP/1.1\r\nX: " + b"y" * 60]
    yield {
        **{f"{name} as a request": _request([sent]) for name, sent in ABSURD.items()},
        **{f"{name} of a handshake": _crowd([sent]) for name, sent in SLOW.items()},
        "a handshake letter by letter": _crowd(dripping),
        "no hello": _never_says_hello,
        **{f"its side shut after {name}": _shut(sent) for name, sent in SLOW.items()},
        "its side shut after the welcome": _half_open(shut_own_side),
        **({"a machine that vanished": _half_open(vanish)} if CAN_VANISH else {}),
    }


# ── After the welcome ────────────────────────────────────────────────────────────────────────────


def _pouring(pieces: Iterable[bytes], code: int) -> Attack:
    """What a client that was welcomed sends as fast as it is taken, until it is sent away."""

    async def attack(gateway: RunningGateway) -> bool:
        async with _line(gateway) as (reader, writer):
            client = ClientProtocol(parse_uri(gateway.url))
            await _be_welcomed(client, reader, writer)
            pouring = asyncio.create_task(_pour(pieces, writer))
            try:
                while data := await reader.read(PIECE):
                    client.receive_data(data)
                client.receive_eof()
            except ConnectionError:
                client.receive_eof()
            finally:
                pouring.cancel()
                await asyncio.gather(pouring, return_exceptions=True)
            return client.close_code == code

    return _in_time(attack)


def _deaf(sent: bytes) -> Attack:
    """A client that was welcomed pours, and takes none of the answers."""

    async def attack(gateway: RunningGateway) -> bool:
        async with _line(gateway) as (reader, writer):
            client = ClientProtocol(parse_uri(gateway.url))
            await _be_welcomed(client, reader, writer)
            while True:
                writer.write(sent)
                await writer.drain()

    return _in_time(attack)


async def _be_welcomed(
    client: ClientProtocol, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    request = client.connect()
    request.headers["Authorization"] = f"Bearer {TOKEN}"
    client.send_request(request)
    hello = Envelope(m.Hello(SPOKEN, "harm 1", "hostile", wants=("error", "pong")))
    for said in (b"", encode(hello).encode()):
        if said:
            client.send_text(said)
        writer.writelines(client.data_to_send())
        while not client.events_received():
            client.receive_data(await reader.read(PIECE))


async def _pour(pieces: Iterable[bytes], writer: asyncio.StreamWriter) -> None:
    for piece in pieces:
        writer.write(piece)
        await writer.drain()


def _messages(text: str, count: int) -> Iterable[bytes]:
    """Many at a time, so that it is the server that is busy."""
    yield from (frame(1, text.encode()) * AT_A_TIME for _ in range(count // AT_A_TIME))


def _long_frame(opcode: int, size: int) -> Iterable[bytes]:
    yield frame(opcode, b"", length=size)
    yield from (bytes(PIECE) for _ in range(size // PIECE))


def _fragments(size: int) -> Iterable[bytes]:
    yield frame(1, b"{", flags=0)
    yield from (frame(0, bytes(1_000), flags=0) for _ in range(size // 1_000))


# ── Before it ────────────────────────────────────────────────────────────────────────────────────


def _request(pieces: Sequence[bytes]) -> Attack:
    """What is no handshake, or none that ends."""

    async def attack(gateway: RunningGateway) -> bool:
        async with _line(gateway) as (reader, writer):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                if len(pieces) > 1:
                    await asyncio.sleep(DRIP_S)
            await reader.read()
        return True

    return _in_time(attack)


def _crowd(pieces: Sequence[bytes]) -> Attack:
    async def attack(gateway: RunningGateway) -> bool:
        return all(await asyncio.gather(*(_request(pieces)(gateway) for _ in range(SLOW_AT_ONCE))))

    return attack


async def _never_says_hello(gateway: RunningGateway) -> bool:
    async def attack(gateway: RunningGateway) -> bool:
        async with gateway.stranger(token=TOKEN) as socket:
            await socket.wait_closed()
            return socket.close_code == 4408

    return await _in_time(attack)(gateway)


def _shut(sent: bytes) -> Attack:
    """A handshake that cannot go on, from one who holds on."""

    async def attack(gateway: RunningGateway) -> bool:
        async with _line(gateway) as (reader, writer):
            writer.write(sent)
            writer.write_eof()
            await reader.read()
        return True

    return _in_time(attack)


def _half_open(leave: Callable[[TransportSocket], None]) -> Attack:
    """One end is gone without a word while it is spoken to."""

    async def attack(gateway: RunningGateway) -> bool:
        left = len(gateway.left)
        async with gateway.client(device="half open") as client:
            leave(client.transport.get_extra_info("socket"))
            gateway.outlets["half open"].tell(m.ReplyDelta("Are you there?"), Ticket(1, 0))
            while gateway.left[left:].count("half open") == 0:
                gateway.somebody_left.clear()
                await gateway.somebody_left.wait()
            client.transport.abort()
        return True

    return _in_time(attack)


@asynccontextmanager
async def _line(
    gateway: RunningGateway,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


def _in_time(attack: Attack) -> Attack:
    async def bounded(gateway: RunningGateway) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_S):
                return await attack(gateway)
        except ConnectionError:
            return True  # Turned away while it still sent.
        except TimeoutError:
            return False

    return bounded


# ── Afterwards ───────────────────────────────────────────────────────────────────────────────────


async def _is_well(gateway: RunningGateway, other: ClientConnection) -> bool:
    try:
        await say(other, m.Ping(1))
        answered = await hear(other) == m.Pong(1)
        return answered and (await gateway.get("/ping"))[1] == "pong"
    except (OSError, TimeoutError, ConnectionClosed):
        return False


def _has_returned(before: int) -> bool:
    gc.collect()
    return resident_kb() - before < MOST_KB
