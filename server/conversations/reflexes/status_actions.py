"""Tells how far work is, and ends what goes on in the background, without a language model."""

import time
from collections.abc import Callable

from sayso.server.agent.loop import Agent
from sayso.server.agent.record.work_status import WorkStatus
from sayso.server.reflexes.answers import Answers
from sayso.server.reflexes.reflex import Reflex, StopJobs, TellStatus
from sayso.server.reflexes.status.status_answers import JobStanding, Standing


class StatusActions:
    """Of one conversation."""

    def __init__(self, agent: Agent, answers: Callable[[str], Answers]) -> None:
        self._agent = agent
        self._answers = answers

    @property
    def is_working(self) -> bool:
        """A request is worked on."""
        return self._agent.status.doing != "nothing"

    @property
    def goes_on(self) -> bool:
        """A request is worked on, or something goes on in the background."""
        return self.is_working or bool(self._agent.jobs.in_background)

    async def answer(self, reflex: Reflex, language: str) -> str | None:
        """Say how far it is, or stop what goes on in the background; None where this asks for
        something else, or nothing goes on. What it took is told afterwards, too, of a request for
        which code ran."""
        now = self._agent.status
        words = self._answers(language).status
        jobs = [_job(job.title, job.began, job.fraction) for job in self._agent.jobs.in_background]
        background = words.jobs(jobs) if jobs else ""
        helpers = words.helpers(len(self._agent.jobs.helpers))
        match reflex:
            case TellStatus("all") if self.is_working:
                doing = words.doing(self._standing(now))
                return " ".join(filter(None, (doing, helpers, background)))
            case TellStatus("left") if self.is_working:
                return words.left(self._standing(now))
            case TellStatus("all" | "left") if background:
                return background
            case TellStatus("jobs"):
                return " ".join(filter(None, (helpers, background))) or words.jobs(jobs)
            case TellStatus("spent") if now.ever and (self.is_working or now.steps):
                return words.spent(self._standing(now))
            case StopJobs():
                ended = [job.title for job in await self._agent.runs.stop_background()]
                return words.jobs_stopped(ended)
            case _:
                return None

    def stopped(self, language: str) -> str:
        """Say that it was stopped, and how far it is."""
        return self._answers(language).status.stopped(self._standing(self._agent.status))

    def _standing(self, now: WorkStatus) -> Standing:
        job = self._agent.jobs.of_run(now.run)
        return Standing(
            now.doing,
            now.steps,
            now.since_s,
            now.whole_s,
            job.fraction if job else None,
            now.tests.passed if now.tests else 0,
            now.tests.failed if now.tests else 0,
            now.files,
            now.tokens,
            now.usd,
            now.plan,
            now.plan_step,
        )


def _job(title: str, began: float, fraction: float | None) -> JobStanding:
    return JobStanding(title, time.time() - began, fraction)
