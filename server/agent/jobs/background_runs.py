"""The runs of one conversation: one that a request waits for, and those in the background.

foreground ── leave ──▶ background ── end, stop, or its time is up ──▶ told
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Final

from sayso.server.agent.jobs.code_run import CodeRun
from sayso.server.agent.jobs.job import Job
from sayso.server.agent.jobs.left_jobs import LeftJobs
from sayso.server.agent.jobs.part_jobs import PartJobs
from sayso.server.agent.limits import JobLimits
from sayso.server.agent.prompt import server_notes
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import JobDetached, JobTold
from sayso.server.undo.checkpointer import Checkpointer

log = logging.getLogger(__name__)

_NUMBERS: Final = {1: "One job goes", 2: "Two jobs go", 3: "Three jobs go"}

NOTHING_RUNS: Final = "Nothing runs that could go on in the background."
CANNOT: Final = "This cannot go on in the background."


@dataclass(slots=True)
class _Kept:
    """A run in the background."""

    run: CodeRun
    task: "asyncio.Task[None]"
    detaching: "asyncio.Task[str]"
    limit: asyncio.TimerHandle


@dataclass(slots=True)
class Foreground:
    """A run that a request waits for."""

    run: CodeRun
    task: "asyncio.Task[None]" = field(init=False)


class BackgroundRuns:
    """Begins runs, lets them go to the background, and stops them there."""

    def __init__(self, journal: Journal, checkpointer: Checkpointer, limits: JobLimits) -> None:
        self.checkpointer = checkpointer
        self._journal = journal
        self._limits = limits
        self._foreground: Foreground | None = None
        self._background: dict[str, _Kept] = {}
        """By the run's id."""
        self._left = LeftJobs(journal)
        self.parts = PartJobs(journal)
        """What works for the run in the foreground by itself."""
        self._stopped_with: dict[int, Sequence[str]] = {}
        """By request: what was ended together with its run."""

    @property
    def in_background(self) -> bool:
        """Whether anything goes on there."""
        return bool(self._background) or self._left.any

    @property
    def full(self) -> str:
        """Why no more can go on in the background, in a sentence; empty if it can."""
        most = self._limits.at_once
        if len(self._background) < most:
            return ""
        going = _NUMBERS.get(most, f"{most} jobs go")
        return f"{going} on in the background already: stop one of them, or wait for its end."

    async def see_through(self, run: CodeRun, work: Coroutine[None, None, None]) -> str:
        """Do the work of a run in the foreground. Returns when it is over; or else, as soon as it
        goes on in the background, the id of the job that it is. Raises what the work raises."""
        turn, by = self._journal.jobs.turn, self._journal.jobs.asked_by
        self._stopped_with = {}
        here = self._foreground = Foreground(run)
        here.task = task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._look_for_left(run, turn, by))
        leaving = asyncio.create_task(run.left.wait())
        try:
            await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
            kept = self._background.get(run.id)
            if kept and (job := await asyncio.shield(kept.detaching)):
                return job
            await asyncio.wait({task})
            task.result()
        except asyncio.CancelledError:
            if run.id not in self._background:
                await _stopped(task)
                self._stopped_with[turn] = run.stopped_with
            raise
        finally:
            leaving.cancel()
            self._foreground = None
        return ""

    def send_foreground(self) -> str:
        """Let what a request waits for go on in the background; why not, in a sentence."""
        return self.leave(self._foreground.run) if self._foreground else NOTHING_RUNS

    def leave(self, run: CodeRun) -> str:
        """Let this run go on in the background; why not, in a sentence."""
        here = self._foreground
        if here is None or here.run is not run or run.left.is_set():
            return "" if run.id in self._background else NOTHING_RUNS
        if self.full:
            return self.full
        if here.task.done() or not run.leave():
            return CANNOT
        loop = asyncio.get_running_loop()
        self._background[run.id] = _Kept(
            run,
            here.task,
            loop.create_task(self._detach(run)),
            loop.call_later(self._limits.hours * 3600, self._time_is_up, run.id),
        )
        here.task.add_done_callback(lambda task: self._ended(run.id, task))
        return ""

    async def stop(self, name: str) -> bool:
        """Stop the job with this id in the background, or one that is a part of what a request
        waits for; returns when it has ended, and whether there was one. Its person knows of it, and
        is not told."""
        if name in self.parts:
            return await self.parts.stop(name)
        if name in self._left:
            await self._note_told(name)
            return await self._left.stop(name)
        job = self._journal.jobs.get(name)
        kept = self._background.get(job.run) if job else None
        if job is None or kept is None:
            return False
        kept.run.why_stopped = server_notes.INTERRUPTED
        await self._note_told(name)
        await _stopped(kept.task)
        return True

    async def end(self, name: str) -> None:
        """The same, for those who need not know."""
        await self.stop(name)

    async def stop_request(self, turn: int) -> Sequence[str]:
        """Stop all that this request, counted from 1, has left in the background; returns what that
        was, and what was ended together with its run."""
        of_it = [job for job in self._journal.jobs.in_background if job.turn == turn]
        stopped = await self._stop_all(of_it)
        return [*self._stopped_with.pop(turn, ()), *(job.title for job in stopped)]

    async def _stop_all(self, jobs: Sequence[Job]) -> Sequence[Job]:
        stopped = await asyncio.gather(*(self.stop(job.id) for job in jobs))
        return [job for job, was in zip(jobs, stopped, strict=True) if was]

    async def stop_background(self) -> Sequence[Job]:
        """Stop all that goes on in the background; returns it."""
        return await self._stop_all(self._journal.jobs.in_background)

    async def close(self) -> None:
        """Stop all; returns when it has ended."""
        await asyncio.gather(*(_stopped(kept.task) for kept in list(self._background.values())))
        await self._left.close()

    async def _detach(self, run: CodeRun) -> str:
        """Write down that it goes on; return the job's id, or nothing if it has just ended."""
        job = await run.progress.list_run(run.id)
        if job:
            detached = JobDetached(job, run.id, run.output, round(run.seconds, 3))
            try:
                await self._journal.note("runtime", detached)
            except StoreError as problem:
                log.warning("that a run goes on was not written down: %s", problem)
        return job

    def _look_for_left(self, run: CodeRun, turn: int, by: str) -> None:
        if run.left_processes:
            self._left.follow(run.id, run.left_processes, turn, by)

    def _time_is_up(self, run: str) -> None:
        kept = self._background.get(run)
        if kept and not kept.task.cancelling():
            kept.run.why_stopped = server_notes.JOB_TOO_LONG
            kept.task.cancel()

    def _ended(self, run: str, task: "asyncio.Task[None]") -> None:
        kept = self._background.pop(run)
        kept.limit.cancel()
        match None if task.cancelled() else task.exception():
            case None:
                pass
            case StoreError() as problem:
                log.warning("the end of a job was not written down: %s", problem)
            case error:
                log.error("a run in the background failed", exc_info=error)

    async def _note_told(self, job: str) -> None:
        try:
            await self._journal.note("server", JobTold(job))
        except StoreError as problem:
            log.warning("that a job was stopped was not written down: %s", problem)


async def _stopped(task: "asyncio.Task[None]") -> None:
    """Cancel a task; return when it has ended, however impatient the caller is. One that is
    cancelled already writes down its end, which a second time would break off."""
    if not task.cancelling():
        task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
