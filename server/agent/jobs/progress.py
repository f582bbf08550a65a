"""Receives the progress that running code reports: screens get it at once, the log now and then."""

import asyncio
import logging
import secrets
from typing import Final

from sayso.server.agent.jobs.job import TEXT_CHARS, one_line, within
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import JobBegan, JobProgressed

log = logging.getLogger(__name__)

KEPT_EVERY_S: Final = 10.0
"""Between two records of one job's progress: a run of an hour takes 360 lines of the log."""


class RunProgress:
    """The way of a run's progress into one conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept_until: dict[str, float] = {}
        """By job: until when what it told last is enough for the log."""

    async def tell(self, run: str, text: str, fraction: float | None = None) -> bool:
        """Tell how far this run is: in a line of its own words, and from 0 to 1 if it knows.

        The first time makes a job of it. Returns whether anybody is told: a run that is over, or
        never was, tells nothing. A log that can't be written to is no reason to stop telling.
        """
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
        jobs, name = self._journal.jobs, f"j{secrets.token_hex(4)}"
        self._keep_no_more_until_later(name)
        began = JobBegan(name, "run", jobs.asked, run, jobs.turn, line, share)
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
