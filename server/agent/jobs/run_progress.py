"""Makes a job of a run that lasts, and receives its progress: screens get it at once, the log now
and then.
"""

import asyncio
import logging
import secrets
from typing import Final

from sayso.server.agent.jobs.job import TEXT_CHARS, one_line, within
from sayso.server.agent.jobs.output_progress import KEPT_CHARS, fraction_in, latest_line
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import JobBegan, JobProgressed
from sayso.server.store.redaction import redacted

log = logging.getLogger(__name__)

KEPT_EVERY_S: Final = 10.0
"""Between two records of one job's progress: a run of an hour takes 360 lines of the log."""

JOB_AFTER_S: Final = 10.0
"""A run that lasts longer is listed: about as long as a person looks on without asking."""

READ_EVERY_S: Final = 1.0
"""Between two looks at what a job printed last."""


class RunProgress:
    """The way of one run's progress into its conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept_until: dict[str, float] = {}
        """By job: until when what it told last is enough for the log."""
        self._told = False
        """The code says itself how far it is."""
        self._printed = self._shown = ""

    async def tell(self, run: str, text: str, fraction: float | None = None) -> bool:
        """Tell how far this run is: in a line of its own words, and from 0 to 1 if it knows.

        The first time makes a job of it. Returns whether anybody is told: a run that is over, or
        never was, tells nothing. A log that can't be written to is no reason to stop telling.
        """
        self._told = True
        return await self._show(run, text, fraction)

    async def list_run(self, run: str) -> str:
        """Make a job of a run that goes on, if it is none; return the job's id, or nothing."""
        if not self._journal.jobs.of_run(run):
            line = self._latest
            await self._show(run, line, fraction_in(line))
        job = self._journal.jobs.of_run(run)
        return job.id if job else ""

    def printed(self, run: str, text: str) -> None:
        """The run put this out."""
        self._printed = (self._printed + text)[-KEPT_CHARS:]
        if job := self._journal.jobs.of_run(run):
            self._journal.jobs.wrote(job.id, text)

    async def follow(self, run: str) -> None:
        """Make a job of a run when it has lasted, and tell what it prints for as long as it says
        nothing by itself; until cancelled."""
        clock = asyncio.get_running_loop().time
        began = clock()
        while True:
            await asyncio.sleep(READ_EVERY_S)
            if not self._journal.jobs.of_run(run):
                if clock() - began >= JOB_AFTER_S:
                    await self.list_run(run)
                continue
            line = self._latest
            if line and line != self._shown and not self._told:
                self._shown = line
                await self._show(run, line, fraction_in(line))

    @property
    def _latest(self) -> str:
        return redacted(latest_line(self._printed))

    async def _show(self, run: str, text: str, fraction: float | None) -> bool:
        jobs = self._journal.jobs
        if not jobs.goes_on(run):
            return False
        line = one_line(text, TEXT_CHARS)
        share = None if fraction is None else within(fraction)
        try:
            if job := jobs.of_run(run):
                await self._progressed(job.id, line, share)
            else:
                await self._begin(run, line, share)
        except StoreError as problem:
            log.warning("how far a run is was not written down: %s", problem)
        return True

    async def _begin(self, run: str, line: str, share: float | None) -> None:
        jobs, name = self._journal.jobs, new_job_id()
        self._keep_no_more_until_later(name)
        began = JobBegan(name, "run", jobs.asked, run, jobs.turn, line, share, jobs.asked_by)
        await self._journal.note("runtime", began)

    async def _progressed(self, job: str, line: str, share: float | None) -> None:
        if asyncio.get_running_loop().time() < self._kept_until.get(job, 0.0):
            self._journal.jobs.progressed(job, line, share)
            return
        self._keep_no_more_until_later(job)
        await self._journal.note("runtime", JobProgressed(job, line, share))

    def _keep_no_more_until_later(self, job: str) -> None:
        going = {one.id for one in self._journal.jobs.running}
        self._kept_until = {name: at for name, at in self._kept_until.items() if name in going}
        self._kept_until[job] = asyncio.get_running_loop().time() + KEPT_EVERY_S


def new_job_id() -> str:
    """An id that no other job has."""
    return f"j{secrets.token_hex(4)}"
