"""Cuts connections ten thousand times: counts what is lost, doubled, done twice; times reconnects.

Half an hour of a bad day in a minute or two: several callers at once, each over a line of its own
that is cut at random bytes in either direction, in the middle of a frame as well. Before that, one
whose code really runs, with questions for a yes.
"""

import asyncio
from collections.abc import Iterator
from itertools import count

from bench import cut_cells
from bench.support.figures import spread
from tests.gateway.fault_injection import Toll, endure

AT_ONCE = 8
"""Callers: one alone waits most of the time, more of them would wait for the processor."""
REQUESTS = 250
"""Of one caller over one bad line; then comes another seed."""
SEED = 1
CUTS_A_CELL = 50
"""Code really runs under a few of the cuts: it takes a hundred times as long as counting."""


def measure(cuts: int) -> tuple[Toll, float]:
    """What it took to be cut so often, and the 95th percentile of the time until one is back."""
    toll = asyncio.run(cut_cells.endure(SEED, max(10, cuts // CUTS_A_CELL)))
    toll += asyncio.run(_endure(cuts - toll.cuts))
    return toll, spread(toll.resumed_s, 3)["p95"]


async def _endure(cuts: int) -> Toll:
    total, seeds = Toll(), count(SEED)
    await asyncio.gather(*(_call(total, seeds, cuts) for _ in range(AT_ONCE)))
    return total


async def _call(total: Toll, seeds: Iterator[int], cuts: int) -> None:
    while total.cuts < cuts:
        total += await endure(next(seeds), REQUESTS)
