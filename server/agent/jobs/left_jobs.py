"""Makes jobs of what runs have left running, such as `sleep 600 &`: listed, told of, and ended."""

import asyncio
import logging
from typing import Final

from sayso.server.agent.jobs.job import TITLE_CHARS, one_line
from sayso.server.agent.jobs.run_progress import new_job_id
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import EndState, JobBegan, JobEnded
from sayso.server.store.redaction import redacted

log = logging.getLogger(__name__)

LASTS_S: Final = 1.0
"""What is gone by then was only slow to end."""

LOOK_EVERY_S: Final = 2.0
"""Between two looks at whether it still runs."""

LISTED_MOST: Final = 16
"""Of one conversation: what more is left is ended, so that nothing goes on unlisted."""

_TOO_MANY: Final = f"It was ended: {LISTED_MOST} such jobs go on already."


class LeftJobs:
    """Of one conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._left: dict[str, LeftProcesses] = {}
        """By job."""
        self._tasks: set[asyncio.Task[None]] = set()

    def follow(self, run: str, left: LeftProcesses, turn: int, by: str) -> None:
        """List what a run of this request has left, until it has ended."""
        task = asyncio.create_task(self._follow(run, left, turn, by))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def __contains__(self, job: str) -> bool:
        return job in self._left

    @property
    def any(self) -> bool:
        """Whether anything is left that runs."""
        return bool(self._left)

    async def stop(self, job: str, why: str = "") -> bool:
        """End it; returns when it is gone, and whether it was there to be ended."""
        left = self._left.pop(job, None)
        if left is None:
            return False
        if not await asyncio.to_thread(left.end):
            log.warning("what a run has left could not be ended")
        await self._note(JobEnded(job, "cancelled", why))
        return True

    async def close(self) -> None:
        """Look at nothing any more: the interpreters are ended."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in list(self._left):
            await self._over(job, "cancelled")

    async def _follow(self, run: str, left: LeftProcesses, turn: int, by: str) -> None:
        await asyncio.sleep(LASTS_S)
        while not await asyncio.to_thread(lambda: left.works):
            if not await asyncio.to_thread(lambda: left.alive):
                return
            await asyncio.sleep(LOOK_EVERY_S)
        command = await asyncio.to_thread(lambda: left.title)
        job, too_many = new_job_id(), len(self._left) >= LISTED_MOST
        self._left[job] = left
        title = one_line(redacted(command), TITLE_CHARS)
        await self._note(JobBegan(job, "processes", title, run, turn, by=by))
        if too_many:
            await self.stop(job, _TOO_MANY)
            return
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if job not in self._left or not await asyncio.to_thread(lambda: left.alive):
                break
        await self._over(job, "done")

    async def _over(self, job: str, state: EndState) -> None:
        if self._left.pop(job, None):
            await self._note(JobEnded(job, state))

    async def _note(self, record: JobBegan | JobEnded) -> None:
        try:
            await self._journal.note("runtime", record)
        except StoreError as problem:
            log.warning("what a run has left was not written down: %s", problem)
