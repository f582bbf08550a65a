"""Timers, alarms and reminders: kept in the log, told when their time comes, also after a restart.

    taken ──▶ open ──▶ due ──▶ told        each arrow is in the log before anyone is answered, but
               │ ▲      └────▶ open again  for the last: told first, then written down
               │ └── changed, paused
               └────▶ cancelled

Time is the wall clock's, looked at again at least every half minute, because a machine sleeps and
clocks are set. What was promised for a clock time follows the wall clock wherever it goes; a timer
takes as long as it was set for, so when the clock is set, the timers of this run go along.

What came due while nobody could be told is told as soon as somebody can be, once. If the power
fails in the instant between telling and writing it down, it is told again: better than never.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, Self

from sayso.server.log_context import conversation_id, log_ids
from sayso.server.reflexes import clock
from sayso.server.reflexes.asker import NOBODY, Asker
from sayso.server.reflexes.errors import TooFar, TooMany
from sayso.server.reflexes.reflex import Kind
from sayso.server.reflexes.reminders.recurrence import next_time
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Event, Source
from sayso.server.store.reminders import ReminderCancelled, ReminderSet, ReminderTold

log = logging.getLogger(__name__)

MAX_OPEN: Final = 100
"""Of one person: more than anybody has in mind at once; a loop that sets them ends here."""

MAX_AHEAD_S: Final = 366 * 86_400.0
"""A year: what lies further ahead belongs into a calendar."""

LOOK_S: Final = 30.0
"""The clock is looked at at least this often: so much later than due it may be after the machine
slept or its clock was set."""

STEP_S: Final = 2.0
"""A clock that moved this much against the steady one was set; less is drift."""

RETRY_S: Final = 30.0
"""Rest after telling failed."""

OnDue = Callable[[Reminder], Awaitable[None]]
"""Tells the person, on the reminder's device. May wait, for the device or for a gap to speak;
returns when it is told. What it raises is logged, and it is asked again."""


class Reminders:
    """All that is open. Made by `open`; `run` tells what is due."""

    def __init__(
        self,
        event_log: EventLog,
        on_due: OnDue,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = clock.steady,
        owner: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`owner`: whose a conversation is."""
        self._owner = owner
        self._log = event_log
        self._on_due = on_due
        self._wall = wall
        self._steady = steady
        self._skew = wall() - steady()
        self._open: dict[str, Reminder] = {}
        self._counting: set[str] = set()
        """Timers that were set in this run, and so by this clock."""
        self._telling: dict[str, asyncio.Task[None]] = {}
        self._rest_until: dict[str, float] = {}
        self._changed = asyncio.Event()

    @classmethod
    async def open(
        cls,
        event_log: EventLog,
        on_due: OnDue,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = clock.steady,
        owner: Callable[[str], str] = lambda _: "",
    ) -> Self:
        """What the log holds open. Raises StoreError."""
        reminders = cls(event_log, on_due, wall, steady, owner)
        # Whatever is open was set within the time that reminders may lie ahead, and a year more
        # in which this machine may have been off.
        since = wall() - 2 * MAX_AHEAD_S
        types = (ReminderSet, ReminderTold, ReminderCancelled)
        for event in await event_log.of_types(*types, since=since):
            reminders._remember(event)
        return reminders

    def all(self, conversation: str, kind: Kind | None = None) -> list[Reminder]:
        """What is open of the person whose conversation this is, the next one first: a timer that
        was set in the kitchen is asked for and stopped in the study."""
        theirs = self._of_the_person(conversation)
        some = (reminder for reminder in theirs if kind in {None, reminder.kind})
        return sorted(some, key=lambda reminder: reminder.due)

    def _of_the_person(self, conversation: str) -> list[Reminder]:
        person = self._owner(conversation)
        return [each for each in self._open.values() if self._owner(each.conversation) == person]

    async def take(
        self,
        kind: Kind,
        due: float,
        *,
        what: str = "",
        seconds: int = 0,
        days: tuple[int, ...] = (),
        asker: Asker = NOBODY,
    ) -> Reminder:
        """Take one on, for good. Raises TooMany, TooFar, StoreError."""
        await self._follow_the_clock()
        if len(self._of_the_person(asker.conversation)) >= MAX_OPEN:
            raise TooMany(f"{MAX_OPEN} timers and reminders are open; cancel some first.")
        if due > self._wall() + MAX_AHEAD_S:
            raise TooFar("A reminder may lie a year ahead at most.")
        name = secrets.token_hex(8)
        where = (asker.device, asker.conversation, asker.language)
        reminder = Reminder(name, kind, due, what, seconds, *where, days)
        self._open[name] = reminder
        if kind == "timer":
            self._counting.add(name)
        try:
            await self._write("person", reminder, _set(reminder))
        except StoreError:
            self._forget(name)
            raise
        self._changed.set()
        return reminder

    async def change(self, reminder: Reminder) -> None:
        """Let what is open be due at another time, or wait; nothing happens if it is not open any
        more. Raises TooFar, StoreError."""
        await self._follow_the_clock()
        if reminder.id not in self._open:
            return
        if reminder.due > self._wall() + MAX_AHEAD_S:
            raise TooFar("A reminder may lie a year ahead at most.")
        await self._write("person", reminder, _set(reminder))
        self._open[reminder.id] = reminder
        self._rest_until.pop(reminder.id, None)
        self._changed.set()

    async def cancel(self, reminder: Reminder, by: str = "") -> None:
        """Call one off; nothing happens if it is not open any more. Raises StoreError."""
        if reminder.id not in self._open:
            return
        await self._write("person", reminder, ReminderCancelled(reminder.id, by))
        self._forget(reminder.id)
        if telling := self._telling.get(reminder.id):
            telling.cancel()

    def forget(self, conversation: str) -> None:
        """The conversation is forgotten, and with it what is open in it: it is told to nobody."""
        for reminder in [one for one in self._open.values() if one.conversation == conversation]:
            self._forget(reminder.id)
            if telling := self._telling.get(reminder.id):
                telling.cancel()

    async def run(self) -> None:
        """Tell what comes due, until cancelled."""
        async with asyncio.TaskGroup() as tellers:
            while True:
                await self._follow_the_clock()
                self._changed.clear()
                for reminder in self._due():
                    with log_ids(
                        device=reminder.device, conversation=conversation_id(reminder.conversation)
                    ):
                        telling = tellers.create_task(self._tell(reminder))
                    self._telling[reminder.id] = telling
                    telling.add_done_callback(partial(self._ended, reminder.id))
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._rest()):
                        await self._changed.wait()

    def _waiting(self) -> list[Reminder]:
        return [
            reminder
            for name, reminder in self._open.items()
            if name not in self._telling and not reminder.is_paused
        ]

    def _ready(self, reminder: Reminder) -> float:
        """When it is to be told, in Unix seconds."""
        return max(reminder.due, self._rest_until.get(reminder.id, 0.0))

    def _due(self) -> list[Reminder]:
        now = self._wall()
        due = [reminder for reminder in self._waiting() if self._ready(reminder) <= now]
        return sorted(due, key=lambda reminder: reminder.due)

    def _rest(self) -> float:
        """Seconds until something may be due."""
        now = self._wall()
        waits = (self._ready(reminder) - now for reminder in self._waiting())
        return max(0.0, min([LOOK_S, *waits]))

    async def _tell(self, reminder: Reminder) -> None:
        try:
            await self._on_due(reminder)
            if self._open.get(reminder.id) != reminder:
                return  # it was changed meanwhile, and is due then
            if reminder.days:
                await self._let_come_again(reminder)
                return
            late = max(0.0, self._wall() - reminder.due)
            self._forget(reminder.id)
            await self._write("server", reminder, ReminderTold(reminder.id, late))
        except StoreError:
            log.exception("a reminder was told, which could not be written down")
        except Exception:  # the task's root: one that cannot be told must not silence the others
            log.exception("a reminder could not be told; it is tried again")
            self._rest_until[reminder.id] = self._wall() + RETRY_S

    async def _let_come_again(self, reminder: Reminder) -> None:
        due = next_time(reminder.due, reminder.days, self._wall(), clock.HERE)
        again = replace(reminder, due=due)
        self._open[reminder.id] = again
        await self._write("server", again, _set(again))

    def _ended(self, name: str, _telling: asyncio.Task[None]) -> None:
        del self._telling[name]
        self._changed.set()

    async def _follow_the_clock(self) -> None:
        """If the clock was set, move the timers along, so that they take as long as they were
        set for."""
        skew = self._wall() - self._steady()
        step = skew - self._skew
        if abs(step) < STEP_S:
            return
        self._skew = skew
        self._rest_until.clear()
        log.info("the clock was set by %.0f s", step)
        moved = [
            replace(one, due=one.due + step)
            for one in map(self._open.__getitem__, self._counting)
            if not one.is_paused
        ]
        self._open.update({reminder.id: reminder for reminder in moved})
        for reminder in moved:
            try:
                await self._write("server", reminder, _set(reminder))
            except StoreError:
                log.exception("a timer's new time could not be written down")

    def _remember(self, event: Event) -> None:
        match event.record:
            case ReminderSet() as kept:
                self._open[kept.id] = _kept(kept, event.conversation)
            case ReminderTold(id=name) | ReminderCancelled(id=name):
                self._open.pop(name, None)

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)
        self._counting.discard(name)
        self._rest_until.pop(name, None)

    async def _write(
        self,
        source: Source,
        reminder: Reminder,
        record: ReminderSet | ReminderTold | ReminderCancelled,
    ) -> None:
        await self._log.append(Event(reminder.conversation, source, record, time=self._wall()))


def _set(reminder: Reminder) -> ReminderSet:
    return ReminderSet(
        reminder.id,
        reminder.kind,
        reminder.due,
        reminder.what,
        reminder.seconds,
        reminder.device,
        reminder.language,
        reminder.days,
        reminder.left,
    )


def _kept(record: ReminderSet, conversation: str) -> Reminder:
    return Reminder(
        record.id,
        record.kind,
        record.due,
        record.what,
        record.seconds,
        record.by,
        conversation,
        record.language,
        record.days,
        record.left,
    )
