"""One conversation's memory and its pen: what is noted is remembered here and kept in the log."""

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Self

from sayso.server.agent.history import History
from sayso.server.agent.terms import Terms
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import (
    ApprovalClosed,
    ApprovalOpened,
    CutOff,
    Event,
    InterpretersEnded,
    Record,
    RunReported,
    Source,
)

_LOST_WHILE_RUNNING = "Sayso ended while it ran: what it did is unknown, and it was not run again."
_LOST_BEFORE = "Sayso ended before it ran: it did not run."


class Journal:
    """Made by `open`, used by everything that takes part in one conversation."""

    def __init__(
        self,
        log: EventLog,
        conversation: str,
        history: History,
        tip: int | None,
        watch: Callable[[Record], None] | None = None,
    ) -> None:
        """`watch` sees what is noted from now on."""
        self.conversation = conversation
        self._watch = watch
        self.history = history
        self.terms = Terms()
        """On which terms the conversation was left when it was last closed."""
        self._log = log
        self._tip = tip
        self._in_order = asyncio.Lock()
        self._questions: dict[str, str] = {}
        """Open when the server ended: the question's id, and what it was about."""
        self._writing: set[asyncio.Task[int]] = set()

    @classmethod
    async def open(
        cls, log: EventLog, conversation: str, watch: Callable[[Record], None] | None = None
    ) -> Self:
        """Read a conversation, or begin it. Raises StoreError.

        What had started and not reported when the server ended is noted as "outcome unknown" and
        never run again. Where a question was open, what had not started still waits for its
        answer (`waits`); anything else that had not started is noted as not run, and the request as
        cut off (`cut_off`).
        """
        events = await log.conversation(conversation)
        history = History(event.record for event in events)
        journal = cls(log, conversation, history, events[-1].id if events else None, watch)
        journal.terms = Terms.of(event.record for event in events)
        asked = {
            event.record.id: event.record.run
            for event in events
            if isinstance(event.record, ApprovalOpened)
        }
        for event in events:
            if isinstance(event.record, ApprovalClosed):
                asked.pop(event.record.id, None)
        journal._questions = asked
        for act in history.open_acts:
            if act.intended:
                report = RunReported(act.call.id, "unknown", detail=_LOST_WHILE_RUNNING)
            elif not asked:
                report = RunReported(act.call.id, "refused", detail=_LOST_BEFORE)
            else:
                continue
            await journal.note("server", report)
        if not journal.waits:
            await journal.withdraw_questions()
            if history.unfinished:
                await journal.note("server", CutOff())
        if history.state_may_be_lost:
            await journal.note("server", InterpretersEnded())
        return journal

    @property
    def waits(self) -> bool:
        """Whether something that was asked before the server ended can still be answered."""
        return bool(self._questions and self.history.open_acts)

    @property
    def cut_off(self) -> str:
        """What the person had asked for when the server ended in the middle of it, and has not come
        back to since; empty otherwise.
        """
        exchanges = self.history.exchanges
        return exchanges[-1].asked if exchanges and exchanges[-1].cut_off else ""

    async def whole(self) -> History:
        """Everything since the beginning, of which memory holds the latest. Raises StoreError."""
        events = await self._log.conversation(self.conversation)
        return History((event.record for event in events), held_chars=sys.maxsize)

    async def withdraw_questions(self) -> None:
        """Those from before the server ended are put no more: asked anew, or out of date."""
        for approval, run in list(self._questions.items()):
            await self.note("server", ApprovalClosed(approval, run, "cancelled"))
            del self._questions[approval]

    async def note(self, source: Source, record: Record) -> int:
        """Something happened. Returns when it is safe; raises StoreError if it cannot be kept.

        It is remembered at once and kept in order, even if the one who notes it is cancelled.
        """
        self.history.apply(record)
        if self._watch:
            self._watch(record)
        writing = asyncio.ensure_future(self._keep(source, record, time.time()))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return await asyncio.shield(writing)

    async def _keep(self, source: Source, record: Record, when: float) -> int:
        async with self._in_order:
            event = Event(self.conversation, source, record, self._tip, when)
            self._tip = await self._log.append(event)
            return self._tip
