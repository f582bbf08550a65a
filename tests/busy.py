"""How long something takes, beside other tests."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done in the block takes no longer, or as many times longer as there is more to do on
    this machine than it has processors."""
    began, crowd = time.monotonic(), _crowd()
    yield
    took, allowed = time.monotonic() - began, seconds * max(crowd, _crowd())
    assert took < allowed, f"it took {took:.2f} s and not {allowed:.2f}"


def _crowd() -> float:
    """How many want each processor: over the last minute, and just now where Linux tells."""
    waiting = os.getloadavg()[0]
    if (now := Path("/proc/loadavg")).exists():
        waiting = max(waiting, float(now.read_text().split()[3].partition("/")[0]))
    return max(1.0, waiting / (os.cpu_count() or 1))


def without_a_processor() -> float:
    """Seconds in which this thread could have gone on and others had the processors.

    So Linux counts it; elsewhere a busy machine makes the event loop look later than it is.
    """
    counts = Path("/proc/thread-self/schedstat")
    return int(counts.read_text().split()[1]) / 1e9 if counts.exists() else 0.0
