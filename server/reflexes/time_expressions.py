"""When something is meant: "in twenty minutes", "at half past seven", "on Friday at nine". Pure.

An `At` is what was said, and is only resolved when it is known what time it is now. What was said
may leave the half of the day open:

    said                            now        is
    at seven                        18:00      today 19:00     the next such time
    at seven                        20:00      tomorrow 7:00
    tomorrow at seven               any        tomorrow 7:00   on another day: the one by daylight,
    tomorrow at three               any        tomorrow 15:00  since nobody means three at night
    at 19:30, at 7:30 pm, at 07:30  any        the next such time: nothing is open
    tomorrow evening                any        tomorrow 19:00  the usual hour of that part of day
    on Friday                       any        Friday 9:00
    wake me at half past nine       20:00      tomorrow 9:30  said when people go to bed
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Final, Literal

Part = Literal["am", "pm", "morning", "afternoon", "evening", "night"]
"""Of the day. Night is the one that begins on that day: "tonight at one" is after midnight."""

USUAL_HOUR: Final = {
    "am": 9,
    "morning": 9,
    "afternoon": 15,
    "pm": 15,
    "evening": 19,
    "night": 21,
}
"""Meant by a part of the day without a clock time."""

USUAL_PART: Final[Part] = "morning"
"""Meant by a day without any time."""

FIRST_DAYLIGHT_HOUR: Final = 7
"""Of an hour that may be before or after noon, on another day, the one from here on is meant."""

FIRST_NIGHT_HOUR: Final = 6
"""At night, six to eleven are before midnight; twelve, and one to five, after it."""

BEDTIME_HOUR: Final = 20
RISING_HOUR: Final = 4
"""From the one to the other who is to be woken at half past six means the morning. Between four
and eight in the evening it may be a nap."""

NOON: Final = 12

A_YEAR: Final = 366
A_MONTH: Final = 31
"""Days in which a date comes once at least."""

MONTHS_AHEAD: Final = 97
"""How many months are searched for a date: two 29ths of February may lie eight years apart."""

_Nearness = Literal["next", "today", "another day"]
"""`next`: no day was said, so the next such time is meant."""


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day as it was said."""

    hour: int
    """0 to 23."""
    minute: int = 0
    half: Literal["open", "said"] = "open"
    """`open`: the hour may be before or after noon."""


@dataclass(frozen=True, slots=True)
class Day:
    """A day as it was said: exactly one of these."""

    ahead: int | None = None
    """Days from today."""
    weekday: int | None = None
    """Monday is 0. The next one, which may be today's."""
    date: int | None = None
    """Day of the month."""
    month: int | None = None
    """With `date`; None is the next month that has such a day ahead."""
    year: int | None = None
    """With `month`; None is the next year that has such a day ahead."""
    from_easter: int | None = None
    """Days after Easter Sunday: Good Friday is -2."""
    past: bool = False
    """The last such day that has gone by, instead of the next: "what day was the first of May?"."""
    weeks_later: int = 0
    """Weeks after that day, with `weekday`: "a week from Friday"."""


@dataclass(frozen=True, slots=True)
class After:
    """A while from now."""

    seconds: int
    days: int = 0
    """Whole days, which keep the clock time when the clocks change."""


@dataclass(frozen=True, slots=True)
class At:
    """A time, a day, a part of a day, or several of these."""

    clock: Clock | None = None
    day: Day | None = None
    part: Part | None = None
    wakes: bool = False
    """It is to wake somebody: said in the evening or at night, it is for the morning."""


When = After | At


def resolve(when: When, now: datetime) -> datetime | None:
    """The moment that is meant, in the time zone of `now`; None if it has gone by for good."""
    if isinstance(when, After):
        return _shifted(now + timedelta(days=when.days), when.seconds)
    # Days rise, and so do the times of one day: the first that is ahead is the next.
    for day in _days(when.day, now.date()):
        for later, of_day in _times(_awake(when, now), _nearness(when.day, day, now.date())):
            wall = datetime.combine(day + timedelta(days=later), of_day, now.tzinfo)
            moment = _shifted(wall, 0)
            if moment.timestamp() > now.timestamp():
                return moment
    return None


def for_waking(when: When, again: bool) -> When:
    """The same as a time to wake somebody. On another day people are woken in the morning, even at
    five, and so they are where it comes `again` and again."""
    if isinstance(when, After) or when.clock is None or when.part is not None:
        return when
    if again or (when.day is not None and when.day.ahead != 0):
        return replace(when, part="am") if when.clock.hour % NOON else when
    return replace(when, wakes=True)


def day_of(said: Day, today: date) -> date | None:
    """The day that is meant, today or ahead; with a year also one that has gone by."""
    if said.year is not None:
        with suppress(ValueError):  # no such day in this month
            return date(said.year, said.month or 1, said.date or 1)
        return None
    if said.past and said.ahead is None:
        return _last(said, today)
    return next(iter(_days(said, today)), None)


def in_zone(wall: datetime) -> datetime:
    """The moment of a wall clock's time; one that the clocks skip becomes the one that they show
    instead."""
    return _shifted(wall, 0)


def fits(when: When, due: datetime, now: datetime) -> bool:
    """Whether what is due then can be the one that is meant by a time of day, a day or both."""
    if isinstance(when, After):
        return False
    if when.day is not None and due.date() not in list(islice(_days(when.day, now.date()), 2)):
        return False
    if when.clock is None:
        return True
    hours = {when.clock.hour}
    if when.clock.half == "open" and when.part is None:
        hours |= {(when.clock.hour + NOON) % (2 * NOON)}
    elif when.part is not None and when.clock.half == "open":
        hours = {at.hour for _, at in _times(when, "next")}
    return due.hour in hours and due.minute == when.clock.minute


def beside(when: When, before: datetime) -> When:
    """What is moved stays in its half of the day, if that is nearer: from nine to ten in the
    evening, from eleven in the morning to one after noon."""
    if isinstance(when, After) or when.clock is None:
        return when
    if when.clock.half == "said" or when.part is not None or when.day is not None:
        return when
    hours = (when.clock.hour % NOON, when.clock.hour % NOON + NOON)
    hour = min(hours, key=lambda each: abs(each - before.hour))
    return replace(when, clock=Clock(hour, when.clock.minute, "said"), wakes=False)


def _shifted(moment: datetime, seconds: int) -> datetime:
    """So many seconds later; a time that the clocks skip becomes the one that they show instead."""
    later = moment.astimezone(UTC) + timedelta(seconds=seconds)
    return later.astimezone(moment.tzinfo)


def _awake(when: At, now: datetime) -> At:
    """What is to wake somebody, said when people go to bed, is for the morning."""
    bedtime = now.hour >= BEDTIME_HOUR or now.hour < RISING_HOUR
    said = when.clock is None or when.clock.half == "said" or when.clock.hour % NOON == 0
    if not when.wakes or not bedtime or said or when.day is not None or when.part is not None:
        return when
    return replace(when, part="am")


def _nearness(said: Day | None, day: date, today: date) -> _Nearness:
    if said is None:
        return "next"
    return "today" if day == today else "another day"


def _days(day: Day | None, today: date) -> Iterable[date]:
    """The days that can be meant, in order."""
    if day is None:
        return [today + timedelta(days=ahead) for ahead in range(3)]
    if day.ahead is not None:
        return [today + timedelta(days=day.ahead)]
    if day.weekday is not None:
        first = today + timedelta(days=(day.weekday - today.weekday()) % 7, weeks=day.weeks_later)
        return [first, first + timedelta(days=7)]
    if day.from_easter is not None:
        feasts = (_easter(year) for year in (today.year, today.year + 1))
        days = (feast + timedelta(days=day.from_easter) for feast in feasts)
        return [found for found in days if found >= today]
    return (found for found in _dates(day.date or 1, day.month, today) if found >= today)


def _easter(year: int) -> date:
    """Easter Sunday of a year, as Gauss and Lichtenberg reckon it."""
    century = year // 100
    moon = 15 + (3 * century + 3) // 4 - (8 * century + 13) // 25
    of_cycle = year % 19
    full = (19 * of_cycle + moon) % 30
    full -= (full + of_cycle // 11) // 29
    shift = 2 - (3 * century + 3) // 4
    first_sunday = 7 - (year + year // 4 + shift) % 7
    of_march = 21 + full + 7 - (21 + full - first_sunday) % 7
    return date(year, 3, 1) + timedelta(days=of_march - 1)


def _last(said: Day, today: date) -> date | None:
    """The last such day before today."""
    if said.weekday is not None:
        return today - timedelta(days=(today.weekday() - said.weekday - 1) % 7 + 1)
    # The next one from where it must still be ahead, and then as long as it has gone by.
    start = today - timedelta(
        days=A_YEAR if said.month or said.from_easter is not None else A_MONTH
    )
    gone = [found for found in islice(_days(said, start), 2) if found < today]
    return gone[-1] if gone else None


def _dates(of_month: int, month: int | None, today: date) -> Iterator[date]:
    for ahead in range(MONTHS_AHEAD):
        years, months = divmod(today.month - 1 + ahead, 12)
        if month in {None, months + 1}:
            with suppress(ValueError):  # no such day in this month
                yield date(today.year + years, months + 1, of_month)


def _times(when: At, near: _Nearness) -> list[tuple[int, time]]:
    """Days later and time of day, in order: more than one if it is open which."""
    clock = when.clock
    if clock is None:
        return [(0, time(USUAL_HOUR[when.part or USUAL_PART]))]
    if clock.half == "said":
        return [(0, time(clock.hour, clock.minute))]
    early = time(clock.hour % NOON, clock.minute)
    late = time(clock.hour % NOON + NOON, clock.minute)
    match when.part:
        case "am" | "morning":
            return [(0, early)]
        case "pm" | "afternoon":
            return [(0, late)]
        case "evening" | "night" if early.hour == 0 or (
            when.part == "night" and early.hour < FIRST_NIGHT_HOUR
        ):
            return [(1, early)] if near == "another day" else [(0, early), (1, early)]
        case "evening" | "night":
            return [(0, late)]
    if near == "another day":
        return [(0, early if early.hour >= FIRST_DAYLIGHT_HOUR else late)]
    return [(0, early), (0, late)]
