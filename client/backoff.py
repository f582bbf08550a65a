"""How long to wait before calling the server again, by why we parted. Data, with reasons."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits before the first, second, … try; the last one repeats."""

    name: str
    waits: tuple[float, ...]
    """Seconds."""

    def wait(self, tries: int) -> float:
        """Gives the seconds to wait after so many failed tries."""
        return self.waits[min(tries, len(self.waits) - 1)]


CUT = Backoff("cut", (0.0, 0.1, 0.25, 0.5, 0.75))
"""The line broke while all was well: most often it is back at once, and a person who speaks must
not notice. Trying every 0.75 s costs nothing and is how a resume stays under a second."""

NOBODY = Backoff("nobody", (0.1, 0.25, 0.5, 0.75))
"""Nothing listens at the address: the server is starting, or restarting."""

LONG_GONE = Backoff("long gone", (5.0,))
"""After `LONG_GONE_AFTER` tries in a row nobody is in a hurry any more, and a battery is."""
LONG_GONE_AFTER = 160
"""Two minutes of tries at 0.75 s."""

GARBAGE = Backoff("garbage", (1.0, 2.0, 5.0, 15.0))
"""It answered, but not as a Sayso server does: trying fast would hammer something not ours."""

BUSY = Backoff("busy", (1.0, 2.0, 5.0))
"""It is too busy and did not say for how long."""


def seconds(backoff: Backoff, tries: int) -> float:
    """Gives the wait before the next try, after `tries` failed ones in a row."""
    return (LONG_GONE if tries >= LONG_GONE_AFTER else backoff).wait(tries)
