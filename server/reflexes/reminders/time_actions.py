"""Performs reflexes about timers, alarms and reminders, and words the answer."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.asker import Asker
from sayso.server.reflexes.clock import HERE, now_here
from sayso.server.reflexes.errors import TooFar, TooMany
from sayso.server.reflexes.reflex import (
    Cancel,
    CancelTimer,
    ChangeAlarm,
    ChangeTimer,
    Kind,
    ListTimers,
    Reflex,
    SetReminder,
    SetTimer,
    Snooze,
    Stop,
    TellStatus,
)
from sayso.server.reflexes.reminders.recurrence import next_time
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.reflexes.reminders.reminders import MAX_OPEN, Reminders
from sayso.server.reflexes.reminders.ringing import Ringing
from sayso.server.reflexes.time_expressions import After, At, Day, When, beside, fits, resolve
from sayso.server.store.errors import StoreError

log = logging.getLogger(__name__)

MAX_TOLD: Final = 5
"""Changes that are told one by one."""

LONGEST_ENDING: Final = 2
"""Letters that a language puts behind a name: "Soßentimer"."""

SNOOZE_S: Final = 600
"""As long as an alarm is silent after "snooze", if nobody says how long."""


class TimeActions:
    """Answers in the language of whoever asks, and sees to the reminders."""

    def __init__(
        self,
        answers: Callable[[str], Answers],
        reminders: Reminders,
        ringing: Ringing,
        now: Callable[[], datetime] = now_here,
    ) -> None:
        self._answers = answers
        self._reminders = reminders
        self._ringing = ringing
        self._now = now

    async def answer(self, reflex: Reflex, asker: Asker) -> str | None:
        """Do it and say so; None if this reflex is about something else."""
        answers = self._answers(asker.language)
        if reflex == TellStatus("left") and self._reminders.all(asker.conversation, "timer"):
            reflex = ListTimers("timer")  # no work is left to tell of: that is asked first
        try:
            return await self._perform(reflex, asker)
        except TooMany:
            return answers.too_many(MAX_OPEN)
        except TooFar:
            return answers.too_far()
        except StoreError as problem:
            log.warning("a reminder could not be kept: %s", problem)
            return answers.not_kept()

    async def _perform(self, reflex: Reflex, asker: Asker) -> str | None:
        match reflex:
            case SetTimer():
                return await self._set_timer(reflex, asker)
            case ChangeTimer():
                return await self._change_timer(reflex, asker)
            case SetReminder(when=None):
                return self._answers(asker.language).changing.when
            case SetReminder(when=After() | At() as when):
                return await self._set_reminder(reflex, when, asker)
            case ChangeAlarm():
                return await self._change_alarm(reflex, asker)
            case Snooze():
                return await self._snooze(reflex, asker)
            case ListTimers():
                return self._list(reflex, asker)
            case CancelTimer():
                return await self._cancel(reflex, asker)
            case Stop() | Cancel() if self._ringing.is_just_silent(asker.conversation):
                return self._answers(asker.language).changing.stopped
            case _:
                return None

    def knows(self, reflex: Reflex, asker: Asker) -> bool:
        """Whether what it names is open: a timer or reminder that is called so."""
        match reflex:
            case ListTimers(kind, name) | CancelTimer(kind, name=name):
                pass
            case ChangeAlarm(kind=kind, name=name):
                pass
            case ChangeTimer(name=name):
                kind = "timer"
            case _:
                return False
        some = self._reminders.all(asker.conversation, kind)
        return any(_words(name) <= _words(one.what) for one in some if name)

    def due(self, reminder: Reminder) -> str:
        """What is said of a reminder whose time has come."""
        return self._answers(reminder.language).due(reminder, self._now())

    def rings(self, alarm: Reminder) -> str:
        """What is said of an alarm while it rings."""
        return self._answers(alarm.language).rings(alarm, self._now())

    async def _set_timer(self, asked: SetTimer, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        if not asked.seconds:
            return answers.changing.how_long
        reminder = await self._reminders.take(
            "timer",
            now.timestamp() + asked.seconds,
            what=asked.name,
            seconds=asked.seconds,
            asker=asker,
        )
        return answers.taken(reminder, None, now)

    async def _change_timer(self, asked: ChangeTimer, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        bare = not asked.name and not asked.length
        if asked.action == "add" and bare and self._ringing.ringing(asker.conversation):
            return await self._snooze(Snooze(asked.seconds), asker)
        running = self._reminders.all(asker.conversation, "timer")
        if asked.action in ("pause", "resume"):
            fitting = [one for one in running if one.is_paused == (asked.action == "resume")]
            running = fitting or running
        meant = _named(running, asked.name)
        if asked.length:
            meant = [one for one in meant if one.seconds == asked.length]
        if not meant or (len(meant) > 1 and asked.which == "one"):
            return self._not_one_of("timer", running, meant, asker)
        said = [await self._changed(asked, timer, now, answers) for timer in meant[:MAX_TOLD]]
        for timer in meant[MAX_TOLD:]:
            await self._changed(asked, timer, now, answers)
        return " ".join(dict.fromkeys(said))

    async def _changed(
        self, asked: ChangeTimer, timer: Reminder, now: datetime, answers: Answers
    ) -> str:
        left = timer.left or timer.due - now.timestamp()
        match asked.action:
            case "pause":
                changed = replace(timer, left=max(1.0, left))
                words = answers.changing.paused
            case "resume":
                changed = replace(timer, left=0.0, due=now.timestamp() + left)
                words = answers.changing.resumed
            case "set":
                changed = replace(timer, due=now.timestamp() + asked.seconds)
                if timer.is_paused:
                    changed = replace(changed, left=float(asked.seconds))
                words = answers.changing.changed
            case "add" | "subtract":
                step = asked.seconds if asked.action == "add" else -asked.seconds
                if left + step <= 0:
                    return answers.changing.too_short
                changed = replace(timer, due=timer.due + step)
                if timer.is_paused:
                    changed = replace(changed, left=left + step)
                words = answers.changing.changed
        await self._reminders.change(changed)
        return answers.say(words, changed, now)

    async def _set_reminder(self, asked: SetReminder, when: When, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        due = self._first(when, asked.days, now)
        if due is None:
            return answers.passed()
        reminder = await self._reminders.take(
            asked.kind,
            due.timestamp(),
            what=asked.what,
            days=asked.days,
            asker=asker,
        )
        return answers.taken(reminder, when, now)

    @staticmethod
    def _first(when: When, days: Sequence[int], now: datetime) -> datetime | None:
        if not days:
            return resolve(when, now)
        # Nobody means nine at night by "every day at nine": it is as on another day.
        usual = replace(when, day=Day(ahead=1)) if isinstance(when, At) else when
        due = resolve(usual, now)
        if due is None:
            return None
        first = next_time(due.timestamp(), days, now.timestamp(), due.tzinfo or HERE)
        return datetime.fromtimestamp(first, due.tzinfo)

    async def _change_alarm(self, asked: ChangeAlarm, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        some = self._reminders.all(asker.conversation, asked.kind)
        meant = self._at(_named(some, asked.name), asked.before, now)
        if len(meant) != 1:
            return self._not_one_of(asked.kind, some, meant, asker)
        before = datetime.fromtimestamp(meant[0].due, now.tzinfo)
        due = self._first(beside(asked.when, before), meant[0].days, now)
        if due is None:
            return answers.passed()
        changed = replace(meant[0], due=due.timestamp())
        if asked.kind == "alarm":
            self._silence(asker)
        await self._reminders.change(changed)
        return answers.moved(changed, now)

    async def _snooze(self, asked: Snooze, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        alarm = self._ringing.snooze(asker.conversation)
        if alarm is None:
            return answers.changing.not_ringing
        seconds = asked.seconds or SNOOZE_S
        again = await self._reminders.take(
            "alarm",
            now.timestamp() + seconds,
            what=alarm.what,
            seconds=seconds,
            asker=asker,
        )
        return answers.say(answers.changing.snoozed, again, now)

    def _silence(self, asker: Asker) -> list[Reminder]:
        return self._ringing.stop(asker.conversation)

    def _list(self, asked: ListTimers, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        some = self._reminders.all(asker.conversation, asked.kind)
        meant = self._at(_named(some, asked.name), asked.when, now)
        if asked.seconds:
            meant = [one for one in meant if one.seconds == asked.seconds]
        if some and not meant:
            return answers.unmatched(asked.kind, some, now)
        return answers.open(asked.kind, meant[:1] if asked.which == "next" else meant, now)

    async def _cancel(self, asked: CancelTimer, asker: Asker) -> str:
        now, answers = self._now(), self._answers(asker.language)
        if asked.kind == "alarm" and asked.when is None and self._silence(asker):
            return answers.changing.stopped
        some = self._reminders.all(asker.conversation, asked.kind)
        if not some:
            return answers.none(asked.kind)
        meant = _named(some, asked.name)
        if asked.seconds:
            meant = [one for one in meant if one.seconds == asked.seconds]
        if asked.days:
            zone = now.tzinfo
            meant = [
                one
                for one in meant
                if one.days == asked.days
                or (not one.days and datetime.fromtimestamp(one.due, zone).weekday() in asked.days)
            ]
        meant = self._at(meant, asked.when, now)
        if not meant or (len(meant) > 1 and asked.which == "one"):
            return self._not_one_of(asked.kind, some, meant, asker)
        if isinstance(asked.when, At) and asked.when.day is not None:
            return " ".join([await self._call_off_once(one, asker) for one in meant])
        for reminder in meant:
            await self._reminders.cancel(reminder, asker.device)
        if len(meant) > 1:
            return answers.all_cancelled(asked.kind)
        return answers.cancelled(meant[0], now)

    async def _call_off_once(self, reminder: Reminder, asker: Asker) -> str:
        """Call off what is due on the day that was said; what comes again does so after it."""
        now, answers = self._now(), self._answers(asker.language)
        if reminder.days:
            later = next_time(reminder.due, reminder.days, reminder.due, now.tzinfo or HERE)
            await self._reminders.change(replace(reminder, due=later))
        else:
            await self._reminders.cancel(reminder, asker.device)
        return answers.cancelled(replace(reminder, days=()), now)

    @staticmethod
    def _at(some: Sequence[Reminder], when: When | None, now: datetime) -> list[Reminder]:
        """Those that are due at this time; all if it was not said."""
        if not isinstance(when, At):
            return list(some)
        zone = now.tzinfo
        return [one for one in some if fits(when, datetime.fromtimestamp(one.due, zone), now)]

    def _not_one_of(
        self, kind: Kind, some: Sequence[Reminder], meant: Sequence[Reminder], asker: Asker
    ) -> str:
        """Why it is not clear which one is meant: there is none, none such, or several."""
        answers, now = self._answers(asker.language), self._now()
        if not some:
            return answers.none(kind)
        if not meant:
            return answers.unmatched(kind, some, now)
        return answers.which(kind, meant, now)


def _named(reminders: Sequence[Reminder], name: str) -> list[Reminder]:
    """Those that are called so, or that have the name in what they remind of."""
    wanted = name.casefold()
    exact = [one for one in reminders if wanted and one.what.casefold() == wanted]
    return exact or [one for one in reminders if _alike(wanted, one.what.casefold())]


def _alike(wanted: str, what: str) -> bool:
    """Whether the name is in it, or is it with another ending: the "Soßen" timer is the one for
    the "Soße"."""
    ending = wanted.removeprefix(what) if what else wanted
    return wanted in what or (ending != wanted and len(ending) <= LONGEST_ENDING)


def _words(text: str) -> set[str]:
    return set(text.casefold().split())
