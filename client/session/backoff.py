"""How long to wait before calling the server again, by why we parted. Data, with reasons."""

import random
from dataclasses import dataclass

SPREAD = 0.2
"""Waits vary by so much, so that a household's devices do not all call at the same moment."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits before the first, second, … try; the last one repeats. In seconds."""

    name: str
    waits: tuple[float, ...]


_PROMPT = (0.0, 0.1, 0.25, 0.5, 0.75)
"""At home a try costs next to nothing, and a person who is speaking must not notice a restart or
another network: the session is up again within a second after the line is."""

CUT = Backoff("cut", _PROMPT)
"""The line broke while all was well: most often it is back at once."""

NOBODY = Backoff("nobody", _PROMPT)
"""Nothing listens at the address: the server is starting, or restarting, or switched off."""

GARBAGE = Backoff("garbage", (1.0, 2.0, 5.0, 15.0))
"""It answered, but not as a Sayso server does: trying fast would hammer something not ours."""

BUSY = Backoff("busy", (10.0,))
"""It is too busy, and did not say for how long."""

AWAY_SECONDS = 4.0
"""After so long without a server a person who does not look is told. A Wi-Fi that changes its
access point is back sooner, and nobody wants to hear of it."""
LONG_GONE_TRIES = 160
"""Two minutes of tries at 0.75 s. After that nobody is in a hurry any more, and a battery is."""
LONG_GONE_SECONDS = 10.0


def seconds(backoff: Backoff, tries: int) -> float:
    """Gives the wait before the next try, after `tries` failed ones in a row."""
    wait = backoff.waits[min(tries, len(backoff.waits) - 1)]
    if tries >= LONG_GONE_TRIES:
        wait = LONG_GONE_SECONDS
    return wait * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 (no secret depends on it)
