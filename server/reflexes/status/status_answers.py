"""Words how far work is: numbers, and neither code nor names. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from sayso.server.reflexes.wording import Wording


@dataclass(frozen=True, slots=True)
class Standing:
    """What is told of a request."""

    doing: Literal["nothing", "thinking", "running", "waiting"]
    steps: int
    """Times that code was run for it."""
    since_s: float
    """Seconds for which it has been doing this."""
    whole_s: float
    """Seconds that it took, or has taken until now."""
    fraction: float | None
    """How much of what runs is done, from 0 to 1."""
    passed: int
    failed: int
    """Of the last tests."""
    files: int
    """That it changed."""
    tokens: int
    usd: float | None
    plan: tuple[str, ...] = ()
    """Its steps, in a model's words."""
    plan_step: int = 0
    """Which is worked on, from 0; their number, if all are done."""


@dataclass(frozen=True, slots=True)
class JobStanding:
    """What is told of a job that goes on in the background."""

    title: str
    since_s: float
    fraction: float | None
    """How much of it is done, from 0 to 1."""


JOBS_MOST: Final = 3
"""Of which more than their number is told: a person who listens keeps no more in mind."""


STEPS_MOST: Final = 4
"""To come, of which more than their number is told."""

_SAYABLE: Final = re.compile(r"[^\W\d_](?:[^\W_]|[ ,;'-])*")
"""Words, and no path, code or symbol."""


class StatusAnswers:
    """In one language."""

    def __init__(self, phrases: Mapping[str, str], wording: "Wording") -> None:
        self._phrases = phrases
        self._wording = wording

    def doing(self, now: Standing) -> str:
        """What is being done, since when, and what came of it so far."""
        return _joined(self._plan(now), self._now(now), self._fraction(now), *self._results(now))

    def left(self, now: Standing) -> str:
        """How much is left, as far as anybody can tell."""
        phrases = self._phrases
        if plan := self._plan(now):
            return _joined(plan, self._to_come(now), self._fraction(now))
        if now.fraction is None:
            return _joined(phrases["unknown"], self._now(now))
        return _joined(phrases["left"].format(percent=_percent(1 - now.fraction)), self._now(now))

    def spent(self, now: Standing) -> str:
        """What it took until now."""
        length = self._wording.length(now.whole_s, exactness="rough")
        if not now.usd:
            return self._phrases["took"].format(length=length, tokens=now.tokens)
        usd = f"{now.usd:.2f}" if now.usd >= 0.01 else f"{now.usd:.4f}"  # noqa: PLR2004 (a cent)
        return self._phrases["cost"].format(length=length, tokens=now.tokens, usd=usd)

    def stopped(self, now: Standing) -> str:
        """It was stopped where it is."""
        steps = self._counted(now.steps, "steps")
        return _joined(self._phrases["stopped"].format(count=steps, names=""), *self._results(now))

    def jobs(self, jobs: Sequence[JobStanding]) -> str:
        """What goes on in the background, and how far it is."""
        if not jobs:
            return self._phrases["no_jobs"]
        told = "; ".join(self._job(job) for job in jobs[:JOBS_MOST])
        return _joined(self._counted(len(jobs), "jobs").format(jobs=told))

    def helpers(self, number: int) -> str:
        """How many helpers are at work; empty if none is."""
        return _joined(self._counted(number, "helpers")) if number else ""

    def jobs_stopped(self, titles: Sequence[str]) -> str:
        """These jobs were stopped."""
        if not titles:
            return self._phrases["no_jobs"]
        each = (self._phrases["job"].format(title=title) for title in titles)
        return self._phrases["jobs_stopped"].format(jobs="; ".join(each))

    def changes(self, shown: str, *, whole: bool) -> str:
        """This has changed: as it is shown, or the beginning of it."""
        more = "" if whole else f"\n{self._phrases['changed_more']}"
        return f"{self._phrases['changed']}\n{shown}{more}"

    def _job(self, job: JobStanding) -> str:
        phrases = self._phrases
        length = self._wording.length(job.since_s, exactness="rough", place="after")
        title = phrases["job"].format(title=job.title)
        if job.fraction is None:
            return phrases["job_since"].format(title=title, length=length)
        percent = _percent(job.fraction)
        return phrases["job_fraction"].format(title=title, length=length, percent=percent)

    def _now(self, now: Standing) -> str:
        phrases = self._phrases
        length = self._wording.length(now.since_s, exactness="rough", place="after")
        match now.doing:
            case "running":
                step = self._wording.number(now.steps)
                return phrases["running"].format(step=step, length=length)
            case "waiting":
                return phrases["waiting"]
            case _:
                return phrases["thinking"].format(length=length)

    def _plan(self, now: Standing) -> str:
        """At which step of its plan it is; empty without one."""
        count = self._wording.number(len(now.plan))
        if not now.plan or "plan" not in self._phrases:
            return ""
        if now.plan_step >= len(now.plan):
            return self._phrases["plan_done"].format(count=count)
        step = self._wording.number(now.plan_step + 1)
        told = self._phrases["plan"].format(step=step, count=count)
        name = now.plan[now.plan_step]
        return f"{told}: {name}." if _can_be_said(name) else f"{told}."

    def _to_come(self, now: Standing) -> str:
        """The steps after that, as far as they can be said."""
        names = [name for name in now.plan[now.plan_step + 1 :] if _can_be_said(name)]
        if not names:
            return ""
        return self._phrases["plan_next"].format(names="; ".join(names[:STEPS_MOST]))

    def _fraction(self, now: Standing) -> str:
        if now.fraction is None:
            return ""
        return self._phrases["fraction"].format(percent=_percent(now.fraction))

    def _results(self, now: Standing) -> tuple[str, ...]:
        phrases, tests = self._phrases, ""
        if now.failed:
            tests = phrases["failed"].format(failed=now.failed, count=now.passed + now.failed)
        elif now.passed:
            tests = self._counted(now.passed, "passed")
        files = self._counted(now.files, "files") if now.files else ""
        return tests, files

    def _counted(self, number: int, what: str) -> str:
        forms = {form: self._phrases[f"{what}_{form}"] for form in ("one", "other")}
        return self._wording.counted(number, forms)


def _can_be_said(step: str) -> bool:
    return _SAYABLE.fullmatch(step) is not None


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f}"


def _joined(*sentences: str) -> str:
    return " ".join(one[:1].upper() + one[1:] for one in sentences if one)
