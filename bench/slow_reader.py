"""Measures a client that never reads: how soon it is disconnected, and what it costs the others."""

import asyncio
import socket
import statistics
from dataclasses import dataclass
from itertools import chain

from bench.support.figures import percentile, resident_kb
from bench.support.talkers import Hall, client, open_hall, talk
from sayso.protocol import messages as m
from sayso.server.turn.events import Ticket
from tests.gateway.running_gateway import RunningGateway

TALKERS = 4
PAUSES_S = (0.02, 0.1)
"""Between two turns of the others: many turns in little time."""
ROUNDS = 12
"""Each with and as long without the client that never reads, and a ratio of its own: the moods of
a shared machine last for several rounds, and would decide what all turns together say."""
TURNS = 45
"""Of each of the others: so many that two come meanwhile, one after the other, that never read."""
PIECE = "x" * 8_000
"""Of a program's endless output, as much as goes into one frame; each has a number, since what is
the same is in memory but once."""
BETWEEN_S = 0.002
"""Four megabytes a second, more than any program's output that a person reads."""
LOOK_EVERY = 25
"""Pieces: what is kept for it is let go together with it."""
DEAF = "deaf"
PATIENCE_S = 30.0
"""A client that is still there after that is never let go."""
BUFFER_BYTES = 65_536
"""Of the client's own socket, as on a small device."""


@dataclass
class Cost:
    """Of one client that never reads."""

    dropped_s: float = 0.0
    """From the first that it was sent to its end; the slowest of all."""
    megabytes: float = 0.0
    """By which the server grew at most."""
    p95_ratio: float = 0.0
    """How much longer the slowest of the others' turns take meanwhile."""


async def never_reads(rounds: int = ROUNDS) -> Cost:
    """Let some come, again and again, while others talk."""
    cost = Cost()
    ratios: list[float] = []
    for _ in range(rounds):
        beside = await _p95(cost)
        ratios.append(beside / await _p95())
    cost.p95_ratio = statistics.median(ratios)
    return cost


async def _p95(cost: Cost | None = None) -> float:
    """Of how long the others' turns take, beside those that never read if their cost is counted.

    They begin anew each time: a turn of a long conversation takes longer.
    """
    async with open_hall(TALKERS) as hall:
        said = asyncio.Event()
        meanwhile = asyncio.create_task(_meet_until(said, hall, cost) if cost else said.wait())
        talking = (
            talk(hall.url, name, PAUSES_S, lambda took: len(took) < TURNS)
            for name in hall.conversations
        )
        took = await asyncio.gather(*talking)
        said.set()
        await meanwhile
    return percentile(list(chain.from_iterable(took)), 95, 6)


async def _meet_until(said: asyncio.Event, hall: Hall, cost: Cost) -> None:
    hall.host.besides[DEAF] = gateway = RunningGateway()
    while not said.is_set():
        await _meet(hall, gateway, cost)


async def _meet(hall: Hall, gateway: RunningGateway, cost: Cost) -> None:
    now = asyncio.get_running_loop().time
    gateway.somebody_left.clear()
    async with client(hall.url, DEAF, DEAF) as deaf:
        own = deaf.transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        deaf.transport.pause_reading()
        before = most = resident_kb()
        began, told = now(), 0
        while not gateway.somebody_left.is_set() and now() - began < PATIENCE_S:
            gateway.outlets[DEAF].tell(m.ReplyDelta(f"{told:8}{PIECE}"), Ticket(1, 0))
            told += 1
            if told % LOOK_EVERY == 0:
                most = max(most, resident_kb())
            await asyncio.sleep(BETWEEN_S)
        cost.dropped_s = max(cost.dropped_s, now() - began)
        cost.megabytes = max(cost.megabytes, (most - before) / 1_024)
        deaf.transport.abort()
