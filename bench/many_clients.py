"""Measures many clients at once: a thousand idle, sixteen that talk, and one that never reads."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from bench.slow_reader import Cost, never_reads
from bench.support.figures import in_fresh_process, resident_kb, spread
from bench.support.talkers import ROOMY, WANTS, open_hall, talk
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.version import SPOKEN
from tests.gateway.running_gateway import TOKEN, open_gateway

ACTIVE = 16
TURNS = 30
"""Of each who is active; the one who is alone has twice as many."""
PAUSES_S = (0.3, 1.0)
"""Between two turns, by chance: several times as busy as people are."""
QUIET = "quiet"
"""The conversation in which nothing is said, and in which the crowd takes part."""

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
    """What is found out here."""

    idle_connections: int
    idle_connection_kib: float
    turn_p95_ratio_16: float
    slow_reader_dropped_s: float
    slow_reader_mb: float
    slow_reader_p95_ratio: float


def measure(idle: int) -> Figures:
    """One after the other."""
    kib = in_fresh_process(idle_kib, idle)
    ratio = asyncio.run(turn_ratio(idle))
    cost: Cost = in_fresh_process(never_reads)
    return Figures(
        idle_connections=idle,
        idle_connection_kib=round(kib, 1),
        turn_p95_ratio_16=round(ratio, 2),
        slow_reader_dropped_s=round(cost.dropped_s, 2),
        slow_reader_mb=round(cost.megabytes, 1),
        slow_reader_p95_ratio=round(cost.p95_ratio, 2),
    )


async def idle_kib(count: int) -> float:
    """KiB of the server for each client that is there and says nothing."""
    async with open_gateway(ROOMY) as server:
        before = resident_kb()
        async with _crowd(server.url, count):
            return (resident_kb() - before) / count


async def turn_ratio(idle: int, turns: int = TURNS) -> float:
    """How much longer a typed turn takes with sixteen at once and a crowd, than alone."""
    async with open_hall(ACTIVE) as hall:
        await hall.host.server.conversations.begin(QUIET)
        first, *_ = hall.conversations
        alone = await talk(hall.url, first, PAUSES_S, lambda took: len(took) < 2 * turns)
        async with _crowd(hall.url, idle):
            talking = (
                talk(hall.url, name, PAUSES_S, lambda took: len(took) < turns)
                for name in hall.conversations
            )
            together = [second for took in await asyncio.gather(*talking) for second in took]
    return spread(together, 6)["p95"] / spread(alone, 6)["p95"]


@asynccontextmanager
async def _crowd(url: str, count: int) -> AsyncIterator[None]:
    hello = m.Hello(SPOKEN, "crowd 1", "one of many", ("resume",), wants=WANTS, conversation=QUIET)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", CROWD, url, TOKEN, encode(Envelope(hello)), str(count)),
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
