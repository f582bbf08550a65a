"""Limits the rate of job updates: a job that reports a thousand times a second sends four."""

import asyncio
from collections.abc import Callable
from typing import Final

from sayso.server.agent.jobs.job import Job

TOLD_EVERY_S: Final = 0.25
"""Between two updates of one job: faster than anybody reads."""


class PacedUpdates:
    """Hands jobs on: the first at once, the last always, and an end without waiting."""

    def __init__(self, tell: Callable[[Job], None]) -> None:
        self._tell = tell
        self._waiting: dict[str, asyncio.TimerHandle] = {}
        """By job: when it may be told of again."""
        self._held: dict[str, Job] = {}
        """What came too soon; later it replaces what came before."""

    def changed(self, job: Job) -> None:
        """A job stands so now."""
        if job.state != "running":
            self._held.pop(job.id, None)
            if timer := self._waiting.pop(job.id, None):
                timer.cancel()
            self._tell(job)
        elif job.id in self._waiting:
            self._held[job.id] = job
        else:
            self._tell_and_wait(job)

    def close(self) -> None:
        """Hand on nothing more."""
        for timer in self._waiting.values():
            timer.cancel()
        self._waiting.clear()
        self._held.clear()

    def _tell_and_wait(self, job: Job) -> None:
        later = asyncio.get_running_loop().call_later
        self._waiting[job.id] = later(TOLD_EVERY_S, self._waited, job.id)
        self._tell(job)

    def _waited(self, job: str) -> None:
        del self._waiting[job]
        if held := self._held.pop(job, None):
            self._tell_and_wait(held)
