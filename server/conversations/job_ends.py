"""Tells a person how their jobs in the background ended: where they asked for them, in a gap, and
after a restart, too.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Final

from sayso.server.agent.jobs.job import Job
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreClosed, StoreError
from sayso.server.store.jobs import JobBegan, JobDetached, JobTold
from sayso.server.store.records import Event

log = logging.getLogger(__name__)

LATELY_S: Final = 14 * 86_400.0
"""Of a job that ended before it nobody wants to hear: two weeks, which is a holiday."""

_ENDED: Final = {
    "done": "The job “{title}” has ended{text}.",
    "failed": "The job “{title}” failed{text}.",
    "cancelled": "The job “{title}” was stopped{text}.",
    "unknown": (
        "Sayso ended while the job “{title}” went on: how far it came is unknown, and it was not"
        " begun again."
    ),
}
_LEFT: Final = {
    "unknown": "Sayso ended, and “{title}” with it, which a run had left in the background.",
}
_LEFT_ENDED: Final = "“{title}”, which a run had left in the background, has ended."

TellPerson = Callable[[Callable[[], str], str, str], Awaitable[None]]
"""Says words to the person whose conversation it is as soon as they are there, where the device is
if it is; returns when that is on its way."""


def words_of(job: Job) -> str:
    """What a person is told of the end of a job."""
    if job.kind == "processes":
        return _LEFT.get(job.state, _LEFT_ENDED).format(title=job.title)
    text = f": {job.text.rstrip('.')}" if job.text else ""
    return _ENDED[job.state].format(title=job.title, text=text)


def untold(events: Iterable[Event]) -> set[str]:
    """The conversations with jobs in the background of whose end nobody was told, or that had none
    when the server ended."""
    open_jobs: dict[str, str] = {}
    for event in events:
        match event.record:
            case JobDetached(id=job) | JobBegan(id=job, kind="processes"):
                open_jobs[job] = event.conversation
            case JobTold(id=job):
                open_jobs.pop(job, None)
            case _:
                pass
    return set(open_jobs.values())


class JobEnds:
    """Of all conversations. What is told when its person comes does not wait in an open one."""

    def __init__(self, tell: TellPerson, keep: Callable[[Event], Awaitable[int]]) -> None:
        """`keep` adds to the log; raises StoreError."""
        self._tell = tell
        self._keep = keep
        self._telling: dict[str, tuple[str, asyncio.Task[None]]] = {}
        """By job: its conversation, and what waits for the person."""

    def follow(self, journal: Journal) -> None:
        """Tell how this conversation's jobs end, and how those ended that were not told of."""
        journal.jobs.watch(partial(self._changed, journal))
        for job in journal.jobs.untold:
            self._begin(journal, job)

    async def forget(self, conversation: str) -> None:
        """What was to be told of a conversation is told to nobody."""
        for about, task in list(self._telling.values()):
            if about == conversation:
                await self._end(task)

    async def close(self) -> None:
        """What was not told is told after the next start."""
        for _, task in list(self._telling.values()):
            await self._end(task)

    @staticmethod
    async def _end(task: asyncio.Task[None]) -> None:
        task.cancel()
        await asyncio.wait({task})

    def _changed(self, journal: Journal, job: Job) -> None:
        if any(job is one for one in journal.jobs.untold):
            self._begin(journal, job)

    def _begin(self, journal: Journal, job: Job) -> None:
        if job.id not in self._telling:
            task = asyncio.create_task(self._tell_of(journal, job))
            self._telling[job.id] = journal.conversation, task
            task.add_done_callback(lambda _: self._telling.pop(job.id))

    async def _tell_of(self, journal: Journal, job: Job) -> None:
        await self._tell(partial(words_of, job), job.by, journal.conversation)
        try:
            try:
                await journal.note("server", JobTold(job.id))
            except StoreClosed:  # the conversation is not open any more
                await self._keep(Event(journal.conversation, "server", JobTold(job.id)))
        except StoreError as problem:
            log.warning("that a job's end was told was not written down: %s", problem)
