"""Completes what goes on from what was said before: "Set a timer." … "Ten minutes." Pure."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final

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
from sayso.server.reflexes.household.list_reflexes import AddToList, LookOnList, TakeOffList
from sayso.server.reflexes.memory.memory_reflexes import ForgetMemory, Recall, Remember
from sayso.server.reflexes.reflex import (
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    Elsewhere,
    Kind,
    ListTimers,
    Reflex,
    SetReminder,
    SetTimer,
    Snooze,
    TellDate,
    TellTime,
    TimeUntil,
)
from sayso.server.reflexes.time_expressions import After, At, Day, When, for_waking

WINDOW_S: Final = 30.0
"""So long after the last sentence one goes on from it; later nobody remembers what was asked."""

MOST_DEVICES: Final = 256
"""Devices whose last sentence is remembered: those of a household many times over."""


class FollowUps:
    """What was said last, by device."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock`: seconds that only go forward."""
        self._clock = clock
        self._last: OrderedDict[str, tuple[Reflex, float]] = OrderedDict()

    def completed(self, reflex: Reflex, device: str) -> Reflex | None:
        """What it means after what was said before; None if it means nothing by itself."""
        whole = self._whole(reflex, self._latest(device))
        self._last.pop(device, None)
        if whole is not None:
            self._last[device] = (whole, self._clock())
            if len(self._last) > MOST_DEVICES:
                self._last.popitem(last=False)
        return whole

    def interrupt(self, device: str) -> None:
        """Something else was said there, from which nothing goes on."""
        self._last.pop(device, None)

    def fits(self, reflex: Reflex, device: str) -> bool:
        """Whether it means something now."""
        return self._whole(reflex, self._latest(device)) is not None

    def _latest(self, device: str) -> Reflex | None:
        reflex, at = self._last.get(device, (None, 0.0))
        return reflex if self._clock() - at <= WINDOW_S else None

    @staticmethod
    def _whole(reflex: Reflex, before: Reflex | None) -> Reflex | None:
        match reflex:
            case Length() | Moment() | Another():
                return _set(reflex, before)
            case CallOff():
                return _called_off(reflex, before)
            case Instead() | Snooze():
                return _corrected(reflex, before)
            case Place(place, zone):
                return TellTime(place, zone) if isinstance(before, TellTime) else None
            case AboutDay(day):
                return _of_day(day, before)
            case Which():
                return _chosen(reflex, before)
            case MoreItems(items):
                if isinstance(before, AddToList | TakeOffList | LookOnList):
                    return replace(before, items=items)
                return None
            case ForgetMemory(""):
                return _forgotten(before)
        return reflex


def _forgotten(before: Reflex | None) -> Reflex | None:
    """That what was just remembered, or told of, is to be forgotten."""
    match before:
        case Remember(about) | Recall(about) if about:
            return ForgetMemory(about)
        case _:
            return None


def _set(reflex: Length | Moment | Another, before: Reflex | None) -> Reflex | None:
    """The timer, alarm or reminder for which the time is now said, or said anew."""
    match reflex, before:
        case Length(seconds), SetTimer(0, name):
            return SetTimer(seconds, name)
        case Length(seconds), SetReminder(None):
            return replace(before, when=After(seconds))
        case Moment(when), SetReminder(None):
            return _at(before, when)
        case Another(seconds, name), SetTimer(length) | ChangeTimer(_, length) if length:
            seconds = seconds or _in_its_unit(reflex.number, length)
            return SetTimer(seconds, name) if seconds else None
        case Another(when=After() | At() as when, days=days), SetReminder(kind="alarm"):
            return _at(replace(before, days=days), when)
        case _:
            return None


def _corrected(said: Instead | Snooze, before: Reflex | None) -> Reflex | None:
    """What was just set, moved to the time that is now said."""
    if isinstance(said, Snooze):
        # "Let me sleep half an hour": of an alarm that was just set, and does not ring yet.
        of_alarm = isinstance(before, SetReminder) and before.kind == "alarm" and said.seconds
        return (_corrected(Instead(said.seconds), before) if of_alarm else None) or said
    match before:
        case SetTimer(length, name) if length:
            seconds = said.seconds or _in_its_unit(said.number, length)
            return ChangeTimer("set", seconds, name, length) if seconds else None
        case ChangeTimer(_, length):
            seconds = said.seconds or _in_its_unit(said.number, length)
            return replace(before, action="set", seconds=seconds) if seconds else None
        case SetReminder(After() | At() as old, what, kind) if not before.days:
            length = old.seconds if isinstance(old, After) else 0
            seconds = said.seconds or _in_its_unit(said.number, length)
            when = After(seconds) if seconds else said.when
            if when is None:
                return None
            at = old if isinstance(old, At) else None
            return ChangeAlarm(_for(kind, when), at, kind, what)
        case ListTimers(kind, name) if kind != "timer" and said.when is not None:
            return ChangeAlarm(_for(kind, said.when), kind=kind, name=name)
        case ChangeAlarm(kind=kind) if said.when is not None:
            at = before.when if isinstance(before.when, At) else None
            return replace(before, when=_for(kind, said.when), before=at)
        case _:
            return None


def _in_its_unit(number: int, length: int) -> int:
    """So many of what a length of time was said in, in seconds: "make it five" after "four
    minutes"."""
    units = (unit for unit in (3_600, 60, 1) if length and length % unit == 0)
    return number * next(units, 0)


def _called_off(said: CallOff, before: Reflex | None) -> Reflex | None:
    """That what was just set, changed or told of is not wanted."""
    which = said.which
    if said.name or said.seconds or said.when or said.days:
        kind = _kind_of(before)
        details = (said.name, said.seconds, said.when, said.days)
        return CancelTimer(kind, which, *details) if kind else None
    match before:
        case SetTimer(length, name) if length:
            called = CancelTimer("timer", which, name, length)
        case ChangeTimer(name=name, length=length):
            called = CancelTimer("timer", which, name, length)
        case SetReminder(After() | At() as when, what, kind):
            called = CancelTimer(kind, which, what, when=when if isinstance(when, At) else None)
        case ChangeAlarm(when, kind=kind, name=name):
            called = CancelTimer(kind, which, name, when=when if isinstance(when, At) else None)
        case ListTimers(kind, name):
            called = CancelTimer(kind, which, name)
        case _:
            return None
    return CancelTimer(called.kind, "all") if which == "all" else called


def _kind_of(before: Reflex | None) -> Kind | None:
    """What was spoken of: timers, alarms or reminders."""
    match before:
        case SetTimer() | ChangeTimer():
            return "timer"
        case SetReminder(kind=kind) | ChangeAlarm(kind=kind):
            return kind
        case ListTimers(kind) | CancelTimer(kind):
            return kind
        case _:
            return None


def _for(kind: Kind, when: When) -> When:
    return for_waking(when, again=False) if kind == "alarm" else when


def _at(asked: SetReminder, when: When) -> SetReminder:
    wakes = asked.kind == "alarm"
    return replace(asked, when=for_waking(when, bool(asked.days)) if wakes else when)


def _of_day(day: Day | After, before: Reflex | None) -> Reflex | None:
    """The same question about another day."""
    match before:
        case TellDate():
            return TellDate(day)
        case TimeUntil(unit=unit) if isinstance(day, Day):
            return TimeUntil(At(day=day), unit)
        case ListTimers() if isinstance(day, Day):
            return replace(before, when=At(day=day))
        case Elsewhere("web"):
            return before
        case _:
            return None


def _chosen(reflex: Which, before: Reflex | None) -> Reflex | None:
    """What was to be done with one of several, and now it is said with which."""
    match before:
        case CancelTimer(kind, "one", "", 0, None):
            return CancelTimer(kind, reflex.which, reflex.name, reflex.seconds, reflex.when)
        case ChangeTimer(name="", length=0) if reflex.when is None:
            return replace(before, name=reflex.name, length=reflex.seconds, which=reflex.which)
        case _:
            return None
