"""Clocks: the machine's wall clock and its time zone, and a monotonic clock that nobody sets."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo


class MachineZone(tzinfo):
    """The time zone that the machine is set to, now and on any other day.

    `datetime.astimezone` only knows the distance to UTC on one day, so that noon tomorrow would be
    wrong by an hour on the eve of a change of the clocks.
    """

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else _by_machine(moment).utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        return None if moment is None else _by_machine(moment).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        here = moment.replace(tzinfo=UTC).astimezone()
        wall = here.replace(tzinfo=self)
        # An hour that comes twice: the second time is the fold.
        return wall if wall.utcoffset() == here.utcoffset() else wall.replace(fold=1)


def _by_machine(wall: datetime) -> datetime:
    return wall.replace(tzinfo=None).astimezone()


HERE = MachineZone()


def now_here() -> datetime:
    """The present moment, on the wall clock of this machine's place."""
    time.tzset()  # the machine may have been taken elsewhere
    return datetime.now(HERE)


def steady() -> float:
    """Seconds of a clock that goes on while the machine sleeps, and that nobody sets."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True, slots=True)
class Clocks:
    """All clocks that reflexes look at."""

    wall: Callable[[], float] = time.time
    """Unix seconds."""
    steady: Callable[[], float] = steady
    now: Callable[[], datetime] = now_here


MACHINE_CLOCKS = Clocks()
