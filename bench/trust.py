"""How hard it is to hurt: lines that break, many who listen, and clients that mean harm.

The product's own listener and link, on loopback. What is behind the listener counts (cuts, hostile
clients) or is the real conversation with a model that echoes (turns), so that no figure hangs on a
model's speed.
"""

import asyncio
import contextlib
import random
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypedDict

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.figures import resident_kb, spread
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from tests.gateway.hardship import Toll, endure
from tests.gateway.hostile import ABSURD, HOSTILE, SLOW
from tests.gateway.house import TOKEN, House, open_house
from tests.scripted_house import Host
from tests.server.household import household

REQUESTS = 500
"""Of one caller over one bad line; then comes another seed."""
ACTIVE = 16
TURNS = 30
"""Of each who is active."""
PAUSES_S = (0.3, 1.0)
"""Between two turns, by chance: several times as busy as people are."""
PATIENCE_S = 5.0
"""Within which a hostile client must be gone."""
WANTS = ("reply.delta", "turn.state")
ROOMY = Limits(connections=4_096, near_strangers=4_096, sessions=4_096)

CROWD = """
import asyncio, sys
from websockets.asyncio.client import connect
async def main(url, token, hello, count):
    sockets = []
    for _ in range(count):
        socket = await connect(url, additional_headers={"Authorization": "Bearer " + token},
                               compression=None, ping_interval=None)
        await socket.send(hello)
        await socket.recv()
        sockets.append(socket)
    print("here", flush=True)
    await asyncio.to_thread(sys.stdin.read)
asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
"""
"""Many who only listen, in a process of their own, so that their memory is not counted."""


class Figures(TypedDict):
    """What `--json` prints."""

    cuts: int
    lost: int
    doubled: int
    rerun: int
    resume_p95_s: float
    idle_connections: int
    idle_connection_kib: float
    turn_p95_ratio_16: float
    hostile_cases: int
    hostile_survived: int


def measure(cuts: int, idle: int) -> Figures:
    """Everything, one after the other."""
    toll = asyncio.run(_cut(cuts))
    kib = asyncio.run(_idle(idle))
    ratio = asyncio.run(_turns(idle))
    cases, survived = asyncio.run(_hostile())
    return Figures(
        cuts=toll.cuts,
        lost=toll.lost,
        doubled=toll.doubled,
        rerun=toll.rerun,
        resume_p95_s=spread(toll.resumed_s, 3)["p95"],
        idle_connections=idle,
        idle_connection_kib=round(kib, 1),
        turn_p95_ratio_16=round(ratio, 2),
        hostile_cases=cases,
        hostile_survived=survived,
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:22} {value}" for name, value in figures.items())


async def _cut(cuts: int) -> Toll:
    total, seed = Toll(), 0
    while total.cuts < cuts:
        seed += 1
        toll = await endure(seed, REQUESTS)
        total.cuts += toll.cuts
        total.lost += toll.lost
        total.doubled += toll.doubled
        total.rerun += toll.rerun
        total.resumed_s += toll.resumed_s
    return total


# ── Many ─────────────────────────────────────────────────────────────────────────────────────────


async def _idle(count: int) -> float:
    """KiB of the server for each client that is there and says nothing."""
    async with open_house(ROOMY) as house:
        before = resident_kb()
        async with _crowd(house.url, count):
            return (resident_kb() - before) / count


@asynccontextmanager
async def _crowd(url: str, count: int) -> AsyncIterator[None]:
    hello = encode(Envelope(m.Hello(SPOKEN, "crowd 1", "one of many", ("resume",), wants=WANTS)))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CROWD, url, TOKEN, hello, str(count)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    try:
        assert await process.stdout.readline()
        yield
    finally:
        process.stdin.close()
        await process.wait()


async def _turns(idle: int) -> float:
    """How much longer a typed turn takes with sixteen at once and a crowd, than alone."""
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        async with household(Path(folder), open_at_most=ACTIVE + 2) as real:
            listener = Listener(Host(real), TOKEN, ROOMY)
            url = f"ws://127.0.0.1:{await listener.open('127.0.0.1', 0)}/ws"
            names = [
                (await real.conversations.begin(f"talk {number}")).id for number in range(ACTIVE)
            ]
            try:
                alone = spread(await _talk(url, names[0]), 6)["p95"]
                async with _crowd(url, idle):
                    took = await asyncio.gather(*(_talk(url, name) for name in names))
                together = spread([second for one in took for second in one], 6)["p95"]
            finally:
                await listener.close()
    return together / alone


async def _talk(url: str, conversation: str) -> list[float]:
    now = asyncio.get_running_loop().time
    took = []
    async with _client(url, conversation) as socket:
        for number in range(TURNS):
            began = now()
            await socket.send(encode(Envelope(m.Text(f"question {number}"))))
            answered = False
            while True:
                message = decode(await socket.recv()).message
                answered = answered or isinstance(message, m.ReplyDelta)
                if answered and message == m.TurnState("idle", "idle", "silent"):
                    break
            took.append(now() - began)
            await asyncio.sleep(random.uniform(*PAUSES_S))
    return took


@asynccontextmanager
async def _client(url: str, conversation: str) -> AsyncIterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with connect(url, additional_headers=headers, compression=None) as socket:
        hello = m.Hello(SPOKEN, "bench 1", "bench", wants=WANTS, conversation=conversation)
        await socket.send(encode(Envelope(hello)))
        assert isinstance(decode(await socket.recv()).message, m.Welcome)
        yield socket


# ── Those who mean harm ──────────────────────────────────────────────────────────────────────────


async def _hostile() -> tuple[int, int]:
    """How many kinds were tried, and after how many the server was well and rid of them."""
    survived = 0
    requests = [*SLOW.values(), *ABSURD.values()]
    async with open_house(Limits(handshake_s=2.0)) as house:
        for sent, code in HOSTILE.values():
            async with house.client() as socket:
                socket.transport.write(sent)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE_S):
                        await socket.wait_closed()
                survived += socket.close_code == code and await _is_well(house)
        for sent in requests:
            survived += await _is_cut_off(house, sent) and await _is_well(house)
    return len(HOSTILE) + len(requests), survived


async def _is_cut_off(house: House, sent: bytes) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    try:
        writer.write(sent)
        await writer.drain()
        async with asyncio.timeout(PATIENCE_S):
            await reader.read()
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    finally:
        writer.transport.abort()
    return True


async def _is_well(house: House) -> bool:
    try:
        return (await house.get("/ping"))[1] == "pong"
    except (OSError, TimeoutError, ConnectionClosed):
        return False
