"""Records what happens in one conversation, in memory and in the event log."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from sayso.server.agent.jobs.jobs import Jobs
from sayso.server.agent.prompt.server_notes import DID_NOT_RUN, LOST_BEFORE, LOST_WHILE_RUNNING
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.agent.record.screen_turns import ScreenTurn, screen_turns
from sayso.server.agent.record.work_status import WorkProgress
from sayso.server.store.errors import StoreClosed
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobEnded
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    CutOff,
    Event,
    InterpretersEnded,
    Record,
    RunReported,
    Source,
    SpeechBegan,
    SpokenOut,
)

LATELY_S: Final = 60.0
"""Before now an answer must have been said to its end, or it is of no use to say it again: after a
night without power nobody wants to hear the evening's. Its device has as long to come back."""
CHARACTERS_A_SECOND: Final = 8.0
"""Of a slow speaker."""


@dataclass(frozen=True, slots=True)
class HalfSaid:
    """An answer that the person has heard only in part, or not at all."""

    device: str
    text: str


class Journal:
    """Made by `open`, used by everything that takes part in one conversation."""

    def __init__(
        self,
        log: EventLog,
        conversation: str,
        history: History,
        tip: int | None,
        watch: Callable[[Record], None] | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        """`watch` sees what is noted from now on."""
        self.conversation = conversation
        self._watch = watch
        self.history = history
        self.jobs = jobs or Jobs()
        self.progress = WorkProgress()
        """How far the latest request is, by Unix time."""
        self.half_said: HalfSaid | None = None
        """What was being said when the server ended, just now."""
        self.screen_turns: Sequence[ScreenTurn] = ()
        """What screens had shown when it was opened: the last turns."""
        self.terms = ConversationSettings()
        """On which terms the conversation was left when it was last closed."""
        self._log = log
        self._tip = tip
        self._in_order = asyncio.Lock()
        self._questions: dict[str, str] = {}
        """Open when the server ended: the question's id, and what it was about."""
        self._writing: set[asyncio.Task[int]] = set()
        self._put_down = False

    @classmethod
    async def open(
        cls, log: EventLog, conversation: str, watch: Callable[[Record], None] | None = None
    ) -> Self:
        """Read a conversation, or begin it. Raises StoreError.

        What had started and not reported when the server ended is noted as "outcome unknown" and
        never run again. Where a question was open, what had not started still waits for its
        answer (`waits`), unless the person has asked for something else since, and only the disk
        did not take that it was over; anything else that had not started is noted as not run, and
        the request as cut off (`cut_off`).
        """
        events = await log.conversation(conversation)
        history = History(event.record for event in events)
        tip = events[-1].id if events else None
        jobs = Jobs(events)
        journal = cls(log, conversation, history, tip, watch, jobs)
        for event in events:
            journal.progress.apply(event.record, event.time)
        journal.terms = ConversationSettings.of(event.record for event in events)
        journal.screen_turns = screen_turns(event.record for event in events)
        await journal._put_in_order(_open_questions(events))
        if not journal.waits:
            await journal.withdraw_questions()
            if history.unfinished:
                await journal.note("server", CutOff())
            elif history.speaks_to:
                await journal._note_half_said(events)
        if history.state_may_be_lost:
            await journal.note("server", InterpretersEnded())
        return journal

    async def _put_in_order(self, questions: dict[str, str]) -> None:
        """What belongs to the latest request may wait for its answer; of the rest it is noted how
        it ended."""
        latest = self.history.latest_calls
        for approval, run in questions.items():
            if run in latest:
                self._questions[approval] = run
            else:
                await self.note("server", ApprovalClosed(approval, run, "cancelled"))
        for act in self.history.open_acts:
            if act.intended:
                report = RunReported(act.call.id, "unknown", detail=LOST_WHILE_RUNNING)
            elif act.call.id not in latest:
                report = RunReported(act.call.id, "refused", detail=DID_NOT_RUN)
            elif not self._questions:
                report = RunReported(act.call.id, "refused", detail=LOST_BEFORE)
            else:
                continue
            await self.note("server", report)
        for job in self.jobs.in_background:
            if self.jobs.goes_on(job.run):
                report = RunReported(job.run, "unknown", detail=LOST_WHILE_RUNNING)
                await self.note("server", report)
        for job in self.jobs.running:  # that were none of these runs, or whose end was not noted
            await self.note("server", JobEnded(job.id, "unknown"))

    async def _note_half_said(self, events: Sequence[Event]) -> None:
        """The server ended while the last answer was being said."""
        history = self.history
        answer = HalfSaid(history.speaks_to, " ".join(history.said).strip())
        begun = max(e.time for e in events if isinstance(e.record, (Answered, SpeechBegan)))
        lately = time.time() - begun < LATELY_S + len(answer.text) / CHARACTERS_A_SECOND
        if lately and answer.text:  # Of a failure there is none.
            self.half_said = answer
        await self.note("server", SpokenOut())

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
        """Everything since the beginning; memory holds only the latest. Raises StoreError."""
        events = await self._log.conversation(self.conversation)
        return History((event.record for event in events), held_chars=sys.maxsize)

    async def withdraw_questions(self) -> None:
        """Those from before the server ended are put no more: asked anew, or out of date."""
        for approval, run in list(self._questions.items()):
            await self.note("server", ApprovalClosed(approval, run, "cancelled"))
            del self._questions[approval]

    async def note(self, source: Source, record: Record) -> int:
        """Something happened. Returns when it is safe; raises StoreError if it cannot be kept.

        It is remembered at once and kept in order, even if the one who notes it is cancelled. The
        end of a job that follows from it is noted with it.
        """
        return await self.begin_to_note(source, record)

    def begin_to_note(self, source: Source, record: Record) -> Awaitable[int]:
        """The same, at once: it is remembered, and what is returned ends when it is safe."""
        if self._put_down:
            raise StoreClosed("Sayso is ending.")
        writing = self._begin_to_keep(source, record)
        for end in self.jobs.ended_by(record):
            writing = self._begin_to_keep("server", end)
        return asyncio.shield(writing)

    def _begin_to_keep(self, source: Source, record: Record) -> "asyncio.Task[int]":
        now = time.time()
        self.history.apply(record)
        self.jobs.apply(record, now)
        self.progress.apply(record, now)
        if self._watch:
            self._watch(record)
        writing = asyncio.ensure_future(self._keep(source, record, now))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)
        return writing

    def put_down(self) -> None:
        """Nothing more is noted: the server ends. What that breaks off is nobody's decision; it
        stays open in the log, and who opens it next finds it as after a kill.
        """
        self._put_down = True

    async def _keep(self, source: Source, record: Record, when: float) -> int:
        async with self._in_order:
            event = Event(self.conversation, source, record, self._tip, when)
            self._tip = await self._log.append(event)
            return self._tip


def _open_questions(events: Sequence[Event]) -> dict[str, str]:
    """Return the approvals that were asked for and not settled: by id, what each was about."""
    questions = {}
    for event in events:
        match event.record:
            case ApprovalOpened(id=name, run=run):
                questions[name] = run
            case ApprovalClosed(id=name):
                questions.pop(name, None)
    return questions
