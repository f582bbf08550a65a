"""Performs reflexes about time (timers, alarms, reminders), and words the answer."""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.clock import now_here
from sayso.server.reflexes.errors import TooFar, TooMany
from sayso.server.reflexes.reflex import (
    CancelTimer,
    ListTimers,
    Reflex,
    SetReminder,
    SetTimer,
    TellDate,
    TellTime,
)
from sayso.server.reflexes.reminder import Reminder
from sayso.server.reflexes.reminders import MAX_OPEN, Reminders
from sayso.server.reflexes.time_expressions import resolve
from sayso.server.store.errors import StoreError

log = logging.getLogger(__name__)


class TimeActions:
    """Answers in one language, and sees to the reminders."""

    def __init__(
        self,
        answers: Answers,
        reminders: Reminders,
        now: Callable[[], datetime] = now_here,
    ) -> None:
        self._answers = answers
        self._reminders = reminders
        self._now = now

    async def answer(self, reflex: Reflex, device: str, conversation: str) -> str | None:
        """Do it and say so; None if this reflex is about the turn and not about time."""
        try:
            match reflex:
                case TellTime():
                    return self._answers.time(self._now())
                case TellDate():
                    return self._answers.date(self._now())
                case SetTimer():
                    return await self._set_timer(reflex, device, conversation)
                case SetReminder():
                    return await self._set_reminder(reflex, device, conversation)
                case ListTimers():
                    return self._list(reflex, conversation)
                case CancelTimer():
                    return await self._cancel(reflex, device, conversation)
                case _:
                    return None
        except TooMany:
            return self._answers.too_many(MAX_OPEN)
        except TooFar:
            return self._answers.too_far()
        except StoreError as problem:
            log.warning("a reminder could not be kept: %s", problem)
            return self._answers.not_kept()

    def due(self, reminder: Reminder) -> str:
        """What is said of a reminder whose time has come."""
        return self._answers.due(reminder, self._now())

    async def _set_timer(self, asked: SetTimer, device: str, conversation: str) -> str:
        now = self._now()
        reminder = await self._reminders.take(
            "timer",
            now.timestamp() + asked.seconds,
            what=asked.name,
            seconds=asked.seconds,
            device=device,
            conversation=conversation,
        )
        return self._answers.taken(reminder, None, now)

    async def _set_reminder(self, asked: SetReminder, device: str, conversation: str) -> str:
        now = self._now()
        due = resolve(asked.when, now)
        if due is None:
            return self._answers.passed()
        reminder = await self._reminders.take(
            asked.kind,
            due.timestamp(),
            what=asked.what,
            device=device,
            conversation=conversation,
        )
        return self._answers.taken(reminder, asked.when, now)

    def _list(self, asked: ListTimers, conversation: str) -> str:
        now = self._now()
        some = self._reminders.all(conversation, asked.kind)
        meant = _named(some, asked.name)
        if some and not meant:
            return self._answers.unmatched(asked.kind, some, now)
        return self._answers.open(asked.kind, meant, now)

    async def _cancel(self, asked: CancelTimer, device: str, conversation: str) -> str:
        now = self._now()
        some = self._reminders.all(conversation, asked.kind)
        if not some:
            return self._answers.none(asked.kind)
        meant = _named(some, asked.name)
        if asked.seconds:
            meant = [one for one in meant if one.seconds == asked.seconds]
        if not meant:
            return self._answers.unmatched(asked.kind, some, now)
        if len(meant) > 1 and asked.which == "one":
            return self._answers.which(asked.kind, meant, now)
        for reminder in meant:
            await self._reminders.cancel(reminder, device)
        if len(meant) > 1:
            return self._answers.all_cancelled(asked.kind)
        return self._answers.cancelled(meant[0], now)


def _named(reminders: Sequence[Reminder], name: str) -> list[Reminder]:
    """Those that are called so, or that have the name in what they remind of."""
    wanted = name.casefold()
    exact = [one for one in reminders if wanted and one.what.casefold() == wanted]
    return exact or [one for one in reminders if wanted in one.what.casefold()]
