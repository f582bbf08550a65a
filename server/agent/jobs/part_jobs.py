"""Lists what works for a run by itself, as each helper does, as jobs of their own: followed, asked
about, and stopped one by one while the run goes on.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from sayso.server.agent.jobs.job import TEXT_CHARS, TITLE_CHARS, one_line
from sayso.server.agent.jobs.run_progress import KEPT_EVERY_S, new_job_id
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.jobs import EndState, JobBegan, JobEnded, JobProgressed
from sayso.server.store.redaction import redacted

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Part:
    stop: Callable[[], object]
    kept_until: float = 0.0
    """Until when what it told last is enough for the log."""
    over: asyncio.Event = field(default_factory=asyncio.Event)


class PartJobs:
    """Of one conversation."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._parts: dict[str, _Part] = {}
        """By job."""

    def __contains__(self, job: str) -> bool:
        return job in self._parts

    async def begin(self, run: str, kind: str, title: str, stop: Callable[[], object]) -> str:
        """List a part of this run; returns the job's id. `stop` ends it, and then `end` is
        called."""
        job, jobs = new_job_id(), self._journal.jobs
        self._parts[job] = _Part(stop)
        title = one_line(redacted(title), TITLE_CHARS)
        await self._note(JobBegan(job, kind, title, run, jobs.turn, by=jobs.asked_by))
        return job

    async def tell(self, job: str, text: str) -> None:
        """Tell how far it is, in a line; the log is told now and then."""
        part, now = self._parts.get(job), asyncio.get_running_loop().time()
        line = one_line(redacted(text), TEXT_CHARS)
        if part is None or not line:
            return
        if now < part.kept_until:
            self._journal.jobs.progressed(job, line, None)
            return
        part.kept_until = now + KEPT_EVERY_S
        await self._note(JobProgressed(job, line))

    def wrote(self, job: str, output: str) -> None:
        """It put this out."""
        if job in self._parts:
            self._journal.jobs.wrote(job, redacted(output))

    async def end(self, job: str, state: EndState, text: str = "") -> None:
        """It is over."""
        if part := self._parts.pop(job, None):
            part.over.set()
            await self._note(JobEnded(job, state, one_line(redacted(text), TEXT_CHARS)))

    async def stop(self, job: str) -> bool:
        """Stop it; returns when it has ended, and whether it was there to be stopped."""
        part = self._parts.get(job)
        if part is None:
            return False
        part.stop()
        await part.over.wait()
        return True

    async def _note(self, record: JobBegan | JobProgressed | JobEnded) -> None:
        try:
            await self._journal.note("runtime", record)
        except StoreError as problem:
            log.warning("how a part of a run stands was not written down: %s", problem)
