"""How hard it is to hurt: lines that break, many who listen, and clients that mean harm.

The product's own listener and link, on loopback. What is behind the listener counts (cuts, hostile
clients) or is the real conversation with a model that echoes (turns), so that no figure hangs on a
model's speed.
"""

import asyncio
import random
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypedDict

from websockets.asyncio.client import ClientConnection, connect

from bench import cuts as breaking
from bench import harm
from bench.figures import resident_kb, spread
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from tests.gateway.house import TOKEN, open_house
from tests.scripted_house import Host
from tests.server.household import household

ACTIVE = 16
TURNS = 30
"""Of each who is active."""
PAUSES_S = (0.3, 1.0)
"""Between two turns, by chance: several times as busy as people are."""
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
    toll, resume_p95_s = breaking.measure(cuts)
    kib = asyncio.run(_idle(idle))
    ratio = asyncio.run(_turns(idle))
    survived = harm.measure()
    return Figures(
        cuts=toll.cuts,
        lost=toll.lost,
        doubled=toll.doubled,
        rerun=toll.rerun,
        resume_p95_s=resume_p95_s,
        idle_connections=idle,
        idle_connection_kib=round(kib, 1),
        turn_p95_ratio_16=round(ratio, 2),
        hostile_cases=len(survived),
        hostile_survived=sum(survived.values()),
    )


def table(figures: Figures) -> str:
    """For people."""
    return "\n".join(f"{name:22} {value}" for name, value in figures.items())


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
