"""Prints the progress of a long benchmark on standard error, for the person who waits for it."""

import sys
import time

STEPS = 10
"""Times that a part tells how far it is."""

_BEGAN = time.monotonic()


def tell(words: str) -> None:
    """Say it, and how long it took to get here."""
    minutes, seconds = divmod(int(time.monotonic() - _BEGAN), 60)
    print(f"{minutes:3}:{seconds:02}  {words}", file=sys.stderr, flush=True)


def step(what: str, done: int, of: int) -> None:
    """So many of so many are done: told now and then."""
    if done * STEPS // of > (done - 1) * STEPS // of:
        tell(f"{what}: {done} of {of}")
