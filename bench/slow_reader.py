"""One client never reads what it is sent: how soon it is let go, and what that costs the others."""

import asyncio
import socket
from dataclasses import dataclass

from bench.figures import resident_kb, spread
from bench.talkers import Hall, client, open_hall, talk
from sayso.protocol import messages as m
from sayso.server.turn.events import Ticket
from tests.gateway.house import House

TALKERS = 4
PAUSES_S = (0.02, 0.1)
"""Between two turns of the others: many turns in little time."""
ROUNDS = 3
"""Each with and without the client that never reads, so that the machine's moods hit both."""
WINDOW_S = 4.0
PIECE = "x" * 8_000
"""Of a program's endless output, as much as goes into one frame."""
BETWEEN_S = 0.002
"""Four megabytes a second, more than any program's output that a person reads."""
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
    """How much longer the others' turns take meanwhile."""


async def never_reads(rounds: int = ROUNDS) -> Cost:
    """Let one come, again and again, while others talk."""
    cost = Cost()
    without: list[float] = []
    beside: list[float] = []
    async with open_hall(TALKERS) as hall:
        house = House()
        hall.host.besides[DEAF] = house
        for _ in range(rounds):
            without += await _talk(hall, asyncio.create_task(asyncio.sleep(WINDOW_S)))
            meeting = asyncio.create_task(_meet(hall, house, cost))
            beside += await _talk(hall, meeting)
            await meeting
    cost.p95_ratio = spread(beside, 6)["p95"] / spread(without, 6)["p95"]
    return cost


async def _talk(hall: Hall, during: asyncio.Task[None]) -> list[float]:
    talking = (
        talk(hall.url, name, PAUSES_S, lambda _: not during.done()) for name in hall.conversations
    )
    return [second for took in await asyncio.gather(*talking) for second in took]


async def _meet(hall: Hall, house: House, cost: Cost) -> None:
    now = asyncio.get_running_loop().time
    house.somebody_left.clear()
    async with client(hall.url, DEAF, DEAF) as deaf:
        own = deaf.transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
        deaf.transport.pause_reading()
        before, began = resident_kb(), now()
        while not house.somebody_left.is_set() and now() - began < PATIENCE_S:
            house.outlets[DEAF].tell(m.ReplyDelta(PIECE), Ticket(1, 0))
            await asyncio.sleep(BETWEEN_S)
        cost.dropped_s = max(cost.dropped_s, now() - began)
        cost.megabytes = max(cost.megabytes, (resident_kb() - before) / 1_024)
        deaf.transport.abort()
