"""How long something takes, beside other tests."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """What is done in the block takes no longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.2f} s"


def without_a_processor() -> float:
    """Seconds in which this thread could have gone on and others had the processors.

    So Linux counts it; elsewhere a busy machine makes the event loop look later than it is.
    """
    counts = Path("/proc/thread-self/schedstat")
    return int(counts.read_text().split()[1]) / 1e9 if counts.exists() else 0.0
