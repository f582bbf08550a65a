"""Turns the slots that a sentence filled into the reflex that it means. Pure, for any language.

The names of the slots are the contract with the files of sentences:

    hours, minutes, seconds, days, weeks    so many of them; several add up
    span                                    seconds: "half an hour" is 1800
    hour                                    of a clock time
    clock                                   hours and minutes in one number: 730
    minute, before                          minutes past the hour, and before it; several add up
    point                                   minutes after midnight: "noon" is 720
    part, today_part                        part of the day; the latter also says that it is today
    day, weekday, date, month               see `moments.Day`
    name, what, what_before_time            free words
    kind, which                             see `reflex.CancelTimer`
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from sayso.server.reflexes.reflex import (
    Cancel,
    CancelTimer,
    Faster,
    Kind,
    ListTimers,
    Louder,
    No,
    Quieter,
    Redo,
    Reflex,
    Repeat,
    SetReminder,
    SetTimer,
    Slower,
    Stop,
    TellDate,
    TellTime,
    Undo,
    Yes,
)
from sayso.server.reflexes.time_expressions import NOON, After, At, Clock, Day, Part, When

_PLAIN: Final[Mapping[str, Reflex]] = {
    "Stop": Stop(),
    "Cancel": Cancel(),
    "Yes": Yes(),
    "No": No(),
    "Repeat": Repeat(),
    "Slower": Slower(),
    "Faster": Faster(),
    "Louder": Louder(),
    "Quieter": Quieter(),
    "TellTime": TellTime(),
    "TellDate": TellDate(),
    "Undo": Undo(),
    "Redo": Redo(),
}

_WITH_SLOTS: Final = ("SetTimer", "SetAlarm", "SetReminder", "ListTimers", "CancelTimer")

INTENTS: Final = frozenset((*_PLAIN, *_WITH_SLOTS))
"""What a file of sentences may define."""

_SECONDS: Final = {"hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "span": 1.0}
_MINUTES: Final = 60
"""Of an hour."""
_DAYS: Final = {"weeks": 7, "days": 1}


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that was said in a sentence."""

    name: str
    value: str | float
    text: str = ""
    """In the person's own words."""


class _Slots:
    """All that was said in a sentence."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self._slots = tuple(slots)

    def number(self, name: str) -> int | None:
        return next((int(slot.value) for slot in self._slots if slot.name == name), None)

    def total(self, *names: str) -> int:
        return sum(int(slot.value) for slot in self._slots if slot.name in names)

    def text(self, *names: str) -> str:
        return next((str(slot.value) for slot in self._slots if slot.name in names), "")

    def words(self, *names: str) -> str:
        return next((slot.text for slot in self._slots if slot.name in names), "")

    @property
    def seconds(self) -> int:
        """Hours, minutes and seconds in all, whole days aside."""
        return round(
            sum(
                float(slot.value) * _SECONDS[slot.name]
                for slot in self._slots
                if slot.name in _SECONDS
            )
        )

    @property
    def days(self) -> int:
        return sum(int(slot.value) * _DAYS[slot.name] for slot in self._slots if slot.name in _DAYS)


def reflex_of(intent: str, said: Iterable[Slot]) -> Reflex | None:
    """What the sentence means; None if its parts do not fit together."""
    if plain := _PLAIN.get(intent):
        return plain
    slots = _Slots(said)
    match intent:
        case "SetTimer":
            length = slots.seconds
            return SetTimer(length, slots.words("name")) if length else None
        case "SetAlarm" | "SetReminder":
            when = _when(slots)
            what = slots.words("what", "what_before_time")
            if when is None:
                return None
            if intent == "SetAlarm":
                return SetReminder(_for_waking(when), what, "alarm")
            return SetReminder(when, what)
        case "ListTimers":
            return ListTimers(cast(Kind, slots.text("kind")), slots.words("name"))
        case "CancelTimer":
            kind = cast(Kind, slots.text("kind"))
            name, length = slots.words("name"), slots.seconds
            if slots.text("which") == "all":
                return CancelTimer(kind, "all", name, length)
            return CancelTimer(kind, "one", name, length)
    return None


def _when(slots: _Slots) -> When | None:
    if slots.seconds or slots.days:
        return After(slots.seconds, slots.days)
    if (slots.number("clock") or 0) % 100 >= _MINUTES:
        return None
    day = _day(slots)
    part = cast("Part | None", slots.text("part", "today_part") or None)
    clock = _clock(slots)
    if clock == Clock(0, 0, "said") and slots.number("point") is not None and day is not None:
        # "Tomorrow at midnight": does that day begin or end then? Two people mean two things.
        return None if day.ahead != 0 else At(clock)
    if clock is None and part is None and (day is None or day.ahead == 0):
        return None  # "today" is no time
    return At(clock, day, part)


def _for_waking(when: When) -> When:
    """On another day people are woken in the morning, even at five."""
    if isinstance(when, After) or when.clock is None or when.part is not None:
        return when
    another_day = when.day is not None and when.day.ahead != 0
    return replace(when, part="am") if another_day and when.clock.hour % NOON else when


def _day(slots: _Slots) -> Day | None:
    if slots.text("today_part"):
        return Day(ahead=0)
    ahead, weekday, date = map(slots.number, ("day", "weekday", "date"))
    if ahead is None and weekday is None and date is None:
        return None
    return Day(ahead, weekday, date, slots.number("month"))


def _clock(slots: _Slots) -> Clock | None:
    point = slots.number("point")
    if point is not None:
        return Clock(*divmod(point, _MINUTES), "said")
    digits = slots.number("clock")
    hour = slots.number("hour") if digits is None else digits // 100
    if hour is None:
        return None
    # "19:30" is said by the clock with 24 hours, and so is "07:30" by itself.
    padded = slots.words("hour", "clock").startswith("0") and not slots.text("part")
    said = hour > NOON or hour == 0 or padded
    minutes = hour * _MINUTES + (digits or 0) % 100 + slots.total("minute") - slots.total("before")
    hour, minute = divmod(minutes % (24 * _MINUTES), _MINUTES)
    return Clock(hour, minute, "said" if said else "open")
