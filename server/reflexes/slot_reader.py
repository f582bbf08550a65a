"""Turns the slots that a sentence filled into the reflex that it means. Pure, for any language.

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
    each, days_each                         weekdays on which it comes again; several as "01234"
    name, what, what_before_time, place,    free words
      items, list_name, sum, amount
    unit, into                              keys of `figures/units.py`
    percent, level                          of the loudness; a level is of ten
    old_hour, old_minute …                  the clock time of the alarm that is changed
    list_key                                a list that the language knows by several names
    named                                   a weekday that the answer does not depend on
    kind, which, action, topic, needs,
      requests                              see `reflex.py`
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from decimal import Decimal
from typing import Final, Literal, cast

from sayso.server.reflexes.figures.units import convert
from sayso.server.reflexes.reflex import (
    AddToList,
    Calculate,
    Cancel,
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    ChangeVoice,
    ClearList,
    Convert,
    Elsewhere,
    Faster,
    FlipCoin,
    Kind,
    Length,
    ListTimers,
    LookOnList,
    Louder,
    Need,
    No,
    Place,
    Quieter,
    ReadList,
    Redo,
    Reflex,
    Repeat,
    RollDie,
    SetReminder,
    SetTimer,
    SetVolume,
    Slower,
    Snooze,
    Stop,
    StopAfter,
    TakeOffList,
    Talk,
    TellDate,
    TellStatus,
    TellTime,
    TellWeek,
    TimeUntil,
    Topic,
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
    "TellWeek": TellWeek(),
    "FlipCoin": FlipCoin(),
    "RollDie": RollDie(),
    "Redo": Redo(),
}

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


class _Slots:
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

    def renamed(self, prefix: str) -> "_Slots":
        """Those whose name begins so, without that."""
        some = (slot for slot in self.all if slot.name.startswith(prefix))
        return _Slots(replace(slot, name=slot.name.removeprefix(prefix)) for slot in some)

    @property
    def seconds(self) -> int:
        """Hours, minutes and seconds in all, whole days aside."""
        return round(
            sum(slot.number * _SECONDS[slot.name] for slot in self.all if slot.name in _SECONDS)
        )

    @property
    def days(self) -> int:
        return sum(slot.whole * _DAYS[slot.name] for slot in self.all if slot.name in _DAYS)


def reflex_of(intent: str, said: Iterable[Slot]) -> Reflex | None:
    """What the sentence means; None if its parts do not fit together."""
    if plain := _PLAIN.get(intent):
        return plain
    reader = _READERS.get(intent)
    return reader(_Slots(said)) if reader else None


def _tell_date(slots: _Slots) -> Reflex | None:
    return TellDate(After(slots.seconds, slots.days) if slots.days else _day(slots))


def _time_until(slots: _Slots) -> Reflex | None:
    day, clock = _day(slots), _clock(slots)
    if day is None and clock is None:
        return None
    return TimeUntil(At(clock, day, cast("Part | None", slots.text("part") or None)))


def _set_timer(slots: _Slots) -> Reflex | None:
    return SetTimer(slots.seconds, slots.words("name"))


def _length(slots: _Slots) -> Reflex | None:
    return Length(slots.seconds) if slots.seconds else None


def _change_timer(slots: _Slots) -> Reflex | None:
    action = cast('Literal["add", "subtract", "pause", "resume"]', slots.text("action"))
    change = action in ("add", "subtract")
    if change and not slots.seconds:
        return None
    length = 0 if change else slots.seconds
    return ChangeTimer(action, slots.seconds if change else 0, slots.words("name"), length)


def _set_alarm(slots: _Slots) -> Reflex | None:
    when, days = _when(slots), _each(slots)
    if when is None or (days and not _comes_again(when)):
        return None
    return SetReminder(_for_waking(when, days), slots.words("what"), "alarm", days)


def _set_reminder(slots: _Slots) -> Reflex | None:
    when, days = _when(slots), _each(slots)
    if when is None or (days and not _comes_again(when)):
        return None
    return SetReminder(when, slots.words("what", "what_before_time"), days=days)


def _change_alarm(slots: _Slots) -> Reflex | None:
    when = _when(slots)
    if when is None:
        return None
    old = _clock(slots.renamed("old_"))
    return ChangeAlarm(_for_waking(when, ()), At(old) if old else None)


def _list_timers(slots: _Slots) -> Reflex | None:
    which: Literal["all", "next"] = "next" if slots.text("which") == "next" else "all"
    return ListTimers(cast(Kind, slots.text("kind")), slots.words("name"), which)


def _cancel_timer(slots: _Slots) -> Reflex | None:
    kind = cast(Kind, slots.text("kind"))
    which: Literal["one", "all"] = "all" if slots.text("which") == "all" else "one"
    if kind == "timer":
        return CancelTimer(kind, which, slots.words("name"), slots.seconds)
    return CancelTimer(kind, which, slots.words("name"), when=_when(slots))


def _tell_time(slots: _Slots) -> Reflex | None:
    place = slots.first("place")
    if place is None:
        return TellTime()
    return TellTime(place.text, place.value) if isinstance(place.value, tzinfo) else None


def _place(slots: _Slots) -> Reflex | None:
    place = slots.first("place")
    if place is None or not isinstance(place.value, tzinfo):
        return None
    return Place(place.text, place.value)


def _calculate(slots: _Slots) -> Reflex | None:
    found = slots.first("sum")
    if found is None or not isinstance(found.value, Decimal):
        return None
    return Calculate(found.text, found.value)


def _convert(slots: _Slots) -> Reflex | None:
    amount = slots.first("amount")
    number = amount.value if amount else Decimal(1)
    if not isinstance(number, Decimal):
        return None
    result = convert(number, slots.text("unit"), slots.text("into"))
    said = f"{amount.text if amount else 1} {slots.words('unit')}"
    return None if result is None else Convert(said, result, slots.words("into"))


def _set_volume(slots: _Slots) -> Reflex | None:
    percent, level = slots.number("percent"), slots.number("level")
    if percent is None and level is None:
        return None
    return SetVolume(percent if percent is not None else 10 * (level or 0))


_READERS: Final[Mapping[str, Callable[[_Slots], Reflex | None]]] = {
    "TellTime": _tell_time,
    "TellDate": _tell_date,
    "TimeUntil": _time_until,
    "Place": _place,
    "SetTimer": _set_timer,
    "Length": _length,
    "ChangeTimer": _change_timer,
    "SetAlarm": _set_alarm,
    "SetReminder": _set_reminder,
    "ChangeAlarm": _change_alarm,
    "Snooze": lambda slots: Snooze(slots.seconds),
    "ListTimers": _list_timers,
    "CancelTimer": _cancel_timer,
    "AddToList": lambda slots: AddToList(slots.words("items"), slots.list_name),
    "TakeOffList": lambda slots: TakeOffList(slots.words("items"), slots.list_name),
    "ReadList": lambda slots: ReadList(slots.list_name),
    "LookOnList": lambda slots: LookOnList(slots.words("items"), slots.list_name),
    "ClearList": lambda slots: ClearList(slots.list_name),
    "Calculate": _calculate,
    "Convert": _convert,
    "SetVolume": _set_volume,
    "ChangeVoice": lambda slots: ChangeVoice(slots.words("name")),
    "Talk": lambda slots: Talk(cast(Topic, slots.text("topic"))),
    "StopAfter": lambda _: StopAfter(),
    "TellStatus": lambda _: TellStatus(),
    "TellLeft": lambda _: TellStatus("left"),
    "TellSpent": lambda _: TellStatus("spent"),
    "Undo": lambda slots: Undo(slots.number("requests") or 1, slots.words("about")),
    "Elsewhere": lambda slots: Elsewhere(cast(Need, slots.text("needs"))),
}

INTENTS: Final = frozenset((*_PLAIN, *_READERS))
"""What a file of sentences may define."""


def _each(slots: _Slots) -> tuple[int, ...]:
    """Weekdays on which it comes again and again."""
    digits = slots.text("days_each")
    found = {*map(int, digits), *(slot.whole for slot in slots.all if slot.name == "each")}
    return tuple(sorted(found))


def _comes_again(when: When) -> bool:
    """Whether it is a time of day, which each day has."""
    timed = isinstance(when, At) and (when.clock is not None or when.part is not None)
    return timed and isinstance(when, At) and when.day is None


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


def _for_waking(when: When, days: tuple[int, ...]) -> When:
    """On another day people are woken in the morning, even at five, and so they are on each."""
    if isinstance(when, After) or when.clock is None or when.part is not None:
        return when
    another_day = bool(days) or (when.day is not None and when.day.ahead != 0)
    if another_day:
        return replace(when, part="am") if when.clock.hour % NOON else when
    return replace(when, wakes=True)


def _day(slots: _Slots) -> Day | None:
    if slots.text("today_part"):
        return Day(ahead=0)
    if holiday := slots.number("holiday"):
        of_year, of_month = divmod(holiday, 100)
        return Day(date=of_month, month=of_year)
    ahead, weekday, date = map(slots.number, ("day", "weekday", "date"))
    if ahead is None and weekday is None and date is None:
        return None
    return Day(ahead, weekday, date, slots.number("month"), slots.number("year"))


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
