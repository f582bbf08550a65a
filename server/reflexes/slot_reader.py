"""Turns the slots that a sentence filled into the reflex that it means. Pure, for any language.

What the slots mean stands at the top of `slots.py`.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import tzinfo
from decimal import Decimal
from typing import Final, Literal, cast

from sayso.server.reflexes.context.continuations import (
    AboutDay,
    Another,
    CallOff,
    Instead,
    Length,
    Moment,
    MoreItems,
    Place,
    Which,
)
from sayso.server.reflexes.figures.units import convert
from sayso.server.reflexes.household.list_reflexes import (
    AddToList,
    BeginList,
    ClearList,
    LookOnList,
    ReadList,
    TakeOffList,
    TellLists,
)
from sayso.server.reflexes.memory.memory_reflexes import ForgetMemory, Recall, Remember
from sayso.server.reflexes.reflex import (
    Calculate,
    Cancel,
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    ChangeVoice,
    Convert,
    Elsewhere,
    Faster,
    FlipCoin,
    IfKnown,
    Kind,
    ListTimers,
    Louder,
    Need,
    No,
    NormalSpeed,
    PickNumber,
    Quieter,
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
    StopJobs,
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
from sayso.server.reflexes.slot_values import Slot, Slots
from sayso.server.reflexes.time_expressions import After, At, Part, When, for_waking

DIE_SIDES: Final = 6

INCHES_OF_A_FOOT: Final = 12

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
    "TellLists": TellLists(),
    "NormalSpeed": NormalSpeed(),
    "Redo": Redo(),
}


def reflex_of(intent: str, said: Iterable[Slot]) -> Reflex | None:
    """What the sentence means; None if its parts do not fit together."""
    if plain := _PLAIN.get(intent):
        return plain
    reader, slots = _READERS.get(intent), Slots(said)
    reflex = reader(slots) if reader else None
    return IfKnown(reflex) if reflex and slots.text("only") == "known" else reflex


def _tell_date(slots: Slots) -> Reflex | None:
    return TellDate(After(slots.seconds, slots.days) if slots.days else slots.day)


def _about_day(slots: Slots) -> Reflex | None:
    day = After(slots.seconds, slots.days) if slots.days else slots.day
    return None if day is None else AboutDay(day)


def _time_until(slots: Slots) -> Reflex | None:
    day, clock = slots.day, slots.clock
    if day is None and clock is None:
        return None
    unit: Literal["day", "week"] = "week" if slots.text("counted") == "week" else "day"
    return TimeUntil(At(clock, day, cast("Part | None", slots.text("part") or None)), unit)


def _set_timer(slots: Slots) -> Reflex | None:
    return SetTimer(slots.seconds, slots.words("name"))


def _length(slots: Slots) -> Reflex | None:
    return Length(slots.seconds) if slots.seconds else None


def _moment(slots: Slots) -> Reflex | None:
    when = slots.when
    return None if when is None else Moment(when)


def _another(slots: Slots) -> Reflex | None:
    if number := slots.number("bare"):
        return Another(0, slots.words("name"), number=number)
    if slots.seconds:
        return Another(slots.seconds, slots.words("name"))
    when, days = slots.when, slots.each
    if when is None or (days and not _comes_again(when)):
        return None
    return Another(when=when, days=days)


def _instead(slots: Slots) -> Reflex | None:
    if number := slots.number("bare"):
        return Instead(number=number)
    if slots.seconds:
        return Instead(slots.seconds)
    when = slots.when
    return None if when is None else Instead(when=when)


def _call_off(slots: Slots) -> Reflex | None:
    which: Literal["one", "all"] = "all" if slots.text("which") == "all" else "one"
    seconds, day = slots.seconds, slots.day
    when = None if seconds else slots.when or (At(day=day) if day else None)
    return CallOff(which, slots.words("name"), seconds, when, slots.each)


def _which(slots: Slots) -> Reflex | None:
    which: Literal["one", "all"] = "all" if slots.text("which") == "all" else "one"
    when = None if slots.seconds else slots.when
    return Which(which, slots.words("name"), slots.seconds, when)


def _change_timer(slots: Slots) -> Reflex | None:
    action = cast('Literal["add", "subtract", "set", "pause", "resume"]', slots.text("action"))
    change = action in ("add", "subtract", "set")
    if change and not slots.seconds:
        return None
    length = 0 if change else slots.seconds
    which: Literal["one", "all"] = "all" if slots.text("which") == "all" else "one"
    seconds = slots.seconds if change else 0
    return ChangeTimer(action, seconds, slots.words("name"), length, which)


def _set_alarm(slots: Slots) -> Reflex | None:
    when, days = slots.when, slots.each
    if slots.text("when") == "unsaid":
        return SetReminder(None, kind="alarm")
    if when is None or (days and not _comes_again(when)):
        return None
    return SetReminder(for_waking(when, again=bool(days)), slots.words("what"), "alarm", days)


def _set_reminder(slots: Slots) -> Reflex | None:
    when, days = slots.when, slots.each
    if when is None and days:
        when = At(part="morning")
    if slots.text("when") == "unsaid":
        return SetReminder(None, slots.words("what", "what_before_time", "what_untimed"))
    if when is None or (days and not _comes_again(when)):
        return None
    return SetReminder(when, slots.words("what", "what_before_time"), days=days)


def _change_alarm(slots: Slots) -> Reflex | None:
    when = slots.when
    if when is None:
        return None
    old = slots.renamed("old_")
    part = cast("Part | None", old.text("part") or None)
    before = At(old.clock, part=part) if old.clock else None
    if slots.text("kind") == "reminder":
        return ChangeAlarm(when, before, "reminder", slots.words("name"))
    return ChangeAlarm(for_waking(when, again=False), before)


def _list_timers(slots: Slots) -> Reflex | None:
    which: Literal["all", "next"] = "next" if slots.text("which") == "next" else "all"
    day = slots.day
    when = None if day is None else At(day=day)
    name = slots.words("name", "about")
    kind = cast(Kind, slots.text("kind"))
    return ListTimers(kind, name, which, when, slots.seconds)


def _cancel_timer(slots: Slots) -> Reflex | None:
    kind = cast(Kind, slots.text("kind"))
    which: Literal["one", "all"] = "all" if slots.text("which") == "all" else "one"
    if kind == "timer":
        return CancelTimer(kind, which, slots.words("name"), slots.seconds)
    when, day = slots.when, slots.day
    if when is None and day is not None:
        when = At(day=day)  # today's
    return CancelTimer(kind, which, slots.words("name"), when=when, days=slots.each)


def _tell_time(slots: Slots) -> Reflex | None:
    place = slots.first("place")
    if place is None:
        return TellTime(later_s=slots.seconds)
    return TellTime(place.text, place.value) if isinstance(place.value, tzinfo) else None


def _place(slots: Slots) -> Reflex | None:
    place = slots.first("place")
    if place is None or not isinstance(place.value, tzinfo):
        return None
    return Place(place.text, place.value)


def _calculate(slots: Slots) -> Reflex | None:
    if slots.text("sign"):
        return _worked_out(slots)
    found = slots.first("sum")
    if found is None or not isinstance(found.value, Decimal):
        return None
    return Calculate(found.text, found.value, slots.words("currency"))


def _worked_out(slots: Slots) -> Reflex | None:
    """What is to be done with two numbers: "divide 91 by 7", told as "91 divided by 7"."""
    names = ("right", "left") if slots.text("turned") else ("left", "right")
    one, other = (slots.first(name) for name in names)
    if one is None or other is None:
        return None
    left, right = one.value, other.value
    if not isinstance(left, Decimal) or not isinstance(right, Decimal):
        return None
    said = f"{one.text} {slots.text('sign')} {other.text}"
    match slots.text("does"):
        case "over":
            return Calculate(said, left / right) if right else None
        case "times":
            return Calculate(said, left * right)
        case "plus":
            return Calculate(said, left + right)
        case _:
            return Calculate(said, left - right)


def _roll(slots: Slots) -> Reflex | None:
    return RollDie(slots.number("count") or 1, slots.number("sides") or DIE_SIDES)


def _pick(slots: Slots) -> Reflex | None:
    lowest, highest = slots.number("lowest"), slots.number("highest")
    lowest = 1 if lowest is None else lowest
    if highest is None or highest <= lowest:
        return None
    return PickNumber(lowest, highest)


def _convert(slots: Slots) -> Reflex | None:
    amount = slots.first("amount")
    number = amount.value if amount else Decimal(1)
    if not isinstance(number, Decimal):
        return None
    said = f"{amount.text if amount else 1} {slots.words('unit')}"
    if (inches := slots.first("inches")) is not None:
        number += Decimal(inches.whole) / INCHES_OF_A_FOOT
        said += f" {inches.text}"
    result = convert(number, slots.text("unit"), slots.text("into"))
    return None if result is None else Convert(said, result, slots.words("into"))


def _set_volume(slots: Slots) -> Reflex | None:
    percent, level = slots.number("percent"), slots.number("level")
    if percent is None and level is None:
        return None
    return SetVolume(percent if percent is not None else 10 * (level or 0))


_READERS: Final[Mapping[str, Callable[[Slots], Reflex | None]]] = {
    "TellTime": _tell_time,
    "TellDate": _tell_date,
    "TimeUntil": _time_until,
    "Place": _place,
    "SetTimer": _set_timer,
    "Length": _length,
    "AboutDay": _about_day,
    "Moment": _moment,
    "Instead": _instead,
    "CallOff": _call_off,
    "Another": _another,
    "Which": _which,
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
    "MoreItems": lambda slots: MoreItems(slots.words("items", "few_items")),
    "BeginList": lambda slots: BeginList(slots.list_name),
    "RollDie": _roll,
    "PickNumber": _pick,
    "ClearList": lambda slots: ClearList(slots.list_name),
    "Remember": lambda slots: Remember(slots.words("what")),
    "Recall": lambda slots: Recall(slots.words("about")),
    "ForgetMemory": lambda slots: ForgetMemory(slots.words("about", "what")),
    "Calculate": _calculate,
    "Convert": _convert,
    "SetVolume": _set_volume,
    "ChangeVoice": lambda slots: ChangeVoice(slots.words("name").removesuffix("'s")),
    "Talk": lambda slots: Talk(cast(Topic, slots.text("topic"))),
    "StopAfter": lambda _: StopAfter(),
    "TellStatus": lambda _: TellStatus(),
    "TellLeft": lambda _: TellStatus("left"),
    "TellSpent": lambda _: TellStatus("spent"),
    "TellJobs": lambda _: TellStatus("jobs"),
    "TellChanges": lambda _: TellStatus("changes"),
    "StopJobs": lambda _: StopJobs(),
    "Undo": lambda slots: Undo(slots.number("requests") or 1, slots.words("about")),
    "Elsewhere": lambda slots: Elsewhere(cast(Need, slots.text("needs"))),
}

INTENTS: Final = frozenset((*_PLAIN, *_READERS))
"""What a file of sentences may define."""


def _comes_again(when: When) -> bool:
    """Whether it is a time of day, which each day has."""
    timed = isinstance(when, At) and (when.clock is not None or when.part is not None)
    return timed and isinstance(when, At) and when.day is None
