"""How hard it is to hurt: lines that break, many who listen, and clients that mean harm.

The product's own listener and link, on loopback. What is behind the listener counts (cuts, hostile
clients) or is the real conversation with a model that echoes (turns), so that no figure hangs on a
model's speed.
"""

import asyncio
import contextlib

from websockets.exceptions import ConnectionClosed

from bench import crowd
from bench.figures import spread
from sayso.server.gateway.limits import Limits
from tests.gateway.hardship import Toll, endure
from tests.gateway.hostile import ABSURD, HOSTILE, SLOW
from tests.gateway.house import House, open_house

REQUESTS = 500
"""Of one caller over one bad line; then comes another seed."""
PATIENCE_S = 5.0
"""Within which a hostile client must be gone."""


class Figures(crowd.Figures):
    """What `--json` prints."""

    cuts: int
    lost: int
    doubled: int
    rerun: int
    resume_p95_s: float
    hostile_cases: int
    hostile_survived: int


def measure(cuts: int, idle: int) -> Figures:
    """Everything, one after the other."""
    toll = asyncio.run(_cut(cuts))
    many = crowd.measure(idle)
    cases, survived = asyncio.run(_hostile())
    return Figures(
        cuts=toll.cuts,
        lost=toll.lost,
        doubled=toll.doubled,
        rerun=toll.rerun,
        resume_p95_s=spread(toll.resumed_s, 3)["p95"],
        hostile_cases=cases,
        hostile_survived=survived,
        **many,
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
