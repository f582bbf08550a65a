"""Reads times, lengths and words from the slots that a sentence filled. Pure, for any language.

The names of the slots are the contract with the files of sentences:

    hours, minutes, seconds, days, weeks    so many of them; several add up
    span                                    seconds: "half an hour" is 1800
    hour                                    of a clock time
    clock                                   hours and minutes in one number: 730
    minute, before                          minutes past the hour, and before it; several add up
    point                                   minutes after midnight: "noon" is 720
    part, today_part                        part of the day; the latter also says that it is today
    day, weekday, date, month, year         see `time_expressions.Day`
    holiday                                 month and day in one number: Christmas is 1225
    easter                                  days after Easter Sunday
    bare                                    a number of what was spoken of: "make it five"
    each, days_each                         weekdays on which it comes again; several as "01234"
    not_each                                weekdays of them on which it does not
    weeks_later                             weeks after a weekday: "a week from Friday"
    name, what, what_before_time, place,    free words
      items, list_name, sum, amount
    unit, into                              keys of `figures/units.py`
    inches                                  beyond the feet: "six foot two"
    percent, level                          of the loudness; a level is of ten
    count, sides, lowest, highest           of dice, and of a number at random
    currency                                what a sum counts, in the person's own words
    old_hour, old_minute …                  the clock time of the alarm that is changed
    list_key                                a list that the language knows by several names
    tense                                   "past": the last such day, instead of the next
    named                                   a weekday that the answer does not depend on
    kind, which, action, topic, needs,
      requests, counted                     see `reflex.py`
    only                                    "known": it counts only where what it names is there
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import tzinfo
from decimal import Decimal
from typing import Final, cast

from sayso.server.reflexes.time_expressions import NOON, After, At, Clock, Day, Part, When

_SECONDS: Final = {"hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "span": 1.0}
_MINUTES: Final = 60
"""Of an hour."""
_DAYS: Final = {"weeks": 7, "days": 1}


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that was said in a sentence."""

    name: str
    value: str | float | Decimal | tzinfo
    text: str = ""
    """In the person's own words."""

    @property
    def number(self) -> float:
        """What was said as a number."""
        return 0.0 if isinstance(self.value, tzinfo) else float(self.value)

    @property
    def whole(self) -> int:
        return int(self.number)


class Slots:
    """All that was said in a sentence."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self.all = tuple(slots)

    def first(self, name: str) -> Slot | None:
        return next((slot for slot in self.all if slot.name == name), None)

    def number(self, name: str) -> int | None:
        return next((slot.whole for slot in self.all if slot.name == name), None)

    def total(self, *names: str) -> int:
        return sum(slot.whole for slot in self.all if slot.name in names)

    def text(self, *names: str) -> str:
        return next((str(slot.value) for slot in self.all if slot.name in names), "")

    def words(self, *names: str) -> str:
        return next((slot.text for slot in self.all if slot.name in names), "")

    @property
    def list_name(self) -> str:
        """The key of a list that the language knows by several names, or a list's own name."""
        return self.text("list_key") or self.words("list_name")

    def renamed(self, prefix: str) -> "Slots":
        """Those whose name begins so, without that."""
        some = (slot for slot in self.all if slot.name.startswith(prefix))
        return Slots(replace(slot, name=slot.name.removeprefix(prefix)) for slot in some)

    @property
    def seconds(self) -> int:
        """Hours, minutes and seconds in all, whole days aside."""
        return round(
            sum(slot.number * _SECONDS[slot.name] for slot in self.all if slot.name in _SECONDS)
        )

    @property
    def days(self) -> int:
        """Whole days and weeks, in days."""
        return sum(slot.whole * _DAYS[slot.name] for slot in self.all if slot.name in _DAYS)

    @property
    def each(self) -> tuple[int, ...]:
        """Weekdays on which it comes again and again."""
        digits = self.text("days_each")
        found = {*map(int, digits), *(slot.whole for slot in self.all if slot.name == "each")}
        found -= {slot.whole for slot in self.all if slot.name == "not_each"}
        return tuple(sorted(found))

    @property
    def when(self) -> When | None:
        """When it is to be; None if that was not said, or means no moment."""
        if self.seconds or self.days:
            return After(self.seconds, self.days)
        if (self.number("clock") or 0) % 100 >= _MINUTES:
            return None
        day, clock = self.day, self.clock
        part = cast("Part | None", self.text("part", "today_part") or None)
        if clock == Clock(0, 0, "said") and self.number("point") is not None and day is not None:
            # "Tomorrow at midnight": does that day begin or end then? Two people mean two things.
            return None if day.ahead != 0 else At(clock)
        if clock is None and part is None and (day is None or day.ahead == 0):
            return None  # "today" is no time
        return At(clock, day, part)

    @property
    def day(self) -> Day | None:
        """The day that was said."""
        if self.text("today_part"):
            return Day(ahead=0)
        past = self.text("tense") == "past"
        if holiday := self.number("holiday"):
            of_year, of_month = divmod(holiday, 100)
            return Day(date=of_month, month=of_year, past=past)
        if (from_easter := self.number("easter")) is not None:
            return Day(from_easter=from_easter, past=past)
        ahead, weekday, date = map(self.number, ("day", "weekday", "date"))
        if ahead is None and weekday is None and date is None:
            return None
        later = self.number("weeks_later") or 0
        return Day(
            ahead, weekday, date, self.number("month"), self.number("year"), None, past, later
        )

    @property
    def clock(self) -> Clock | None:
        """The time of day that was said."""
        point = self.number("point")
        if point is not None:
            return Clock(*divmod(point, _MINUTES), "said")
        digits = self.number("clock")
        hour = self.number("hour") if digits is None else digits // 100
        if hour is None:
            return None
        # "19:30" is said by the clock with 24 hours, and so is "07:30" by itself.
        padded = self.words("hour", "clock").startswith("0") and not self.text("part")
        said = hour > NOON or hour == 0 or padded
        minutes = hour * _MINUTES + (digits or 0) % 100
        minutes += self.total("minute") - self.total("before")
        hour, minute = divmod(minutes % (24 * _MINUTES), _MINUTES)
        return Clock(hour, minute, "said" if said else "open")
