"""How long something takes, without the time in which a busy machine had no processor for it.

So a bound may stay as tight as it is on a machine that does nothing else. Linux counts that time;
elsewhere nothing is taken off.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done in the block, by whatever processes, takes no longer."""
    began, short = time.monotonic(), _short_of_processors()
    yield
    took, short = time.monotonic() - began, _short_of_processors() - short
    assert took - short < seconds, f"it took {took:.2f} s, {short:.2f} s of them on a busy machine"


def without_a_processor() -> float:
    """Seconds in which this thread could have gone on and others had the processors."""
    counts = Path("/proc/thread-self/schedstat")
    return int(counts.read_text().split()[1]) / 1e9 if counts.exists() else 0.0


def _short_of_processors() -> float:
    """Seconds in which somebody on this machine waited for one."""
    counts = Path("/proc/pressure/cpu")
    if not counts.exists():
        return 0.0
    return int(counts.read_text().partition("total=")[2].split()[0]) / 1e6
