"""How far the latest request is: the fold of what was noted. Pure; the time is an argument."""

from dataclasses import dataclass, field
from typing import Literal

from sayso.server.agent.record.test_results import TestResult, read_test_result
from sayso.server.store.changes import Changes
from sayso.server.store.jobs import JobDetached
from sayso.server.store.plans import PlanChanged
from sayso.server.store.records import (
    Answered,
    ApprovalClosed,
    ApprovalOpened,
    Asked,
    ConversationReset,
    CutOff,
    Failed,
    Interrupted,
    Record,
    RunIntended,
    RunReported,
    Withdrawn,
)
from sayso.server.store.steering import Explained

Doing = Literal["nothing", "thinking", "running", "waiting"]
"""`waiting`: for a yes."""


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """How a request stands at one moment."""

    doing: Doing = "nothing"
    steps: int = 0
    """Times that code was run for it."""
    since_s: float = 0.0
    """Seconds for which it has been doing this."""
    whole_s: float = 0.0
    """Seconds since it was asked for; until its end, if it is over."""
    run: str = ""
    """What runs for it now."""
    tests: TestResult | None = None
    """How the last tests went."""
    files: int = 0
    """Files that it changed, as far as they were counted one by one."""
    tokens: int = 0
    usd: float | None = None
    plan: tuple[str, ...] = ()
    """Its steps, in the model's words."""
    plan_step: int = 0
    """Which of them is worked on, from 0; their number, if all are done."""
    ever: bool = True
    """There was a request."""


@dataclass(slots=True)
class _Request:
    asked_at: float
    doing: Doing = "thinking"
    since: float = 0.0
    ended_at: float = 0.0
    steps: int = 0
    tests: TestResult | None = None
    files: set[str] = field(default_factory=set)
    more_files: int = 0
    tokens: int = 0
    usd: float | None = None
    plan: tuple[str, ...] = ()
    plan_step: int = 0
    run: str = ""
    """What it waits for: what goes on in the background is none of it."""
    runs: set[str] = field(default_factory=set)


class WorkProgress:
    """Follows the latest request of one conversation."""

    def __init__(self) -> None:
        self._latest: _Request | None = None
        self._before: _Request | None = None
        """The one before, for one that turns out to have been half a request."""

    def status(self, now: float) -> WorkStatus:
        """How it stands now. Times are of the clock that `apply` was given."""
        one = self._latest
        if one is None:
            return WorkStatus(ever=False)
        over = one.doing == "nothing"
        return WorkStatus(
            one.doing,
            one.steps,
            now - one.since,
            (one.ended_at if over else now) - one.asked_at,
            one.run if one.doing == "running" else "",
            one.tests,
            len(one.files) + one.more_files,
            one.tokens,
            one.usd,
            one.plan,
            one.plan_step,
        )

    def apply(self, record: Record, now: float) -> None:
        """Something was noted."""
        if isinstance(record, Asked):
            self._before, self._latest = self._latest, _Request(now, since=now)
        elif isinstance(record, (Withdrawn, ConversationReset)):
            self._latest = self._before if isinstance(record, Withdrawn) else None
            self._before = None
        elif self._latest:
            self._follow(self._latest, record, now)

    def _follow(self, one: _Request, record: Record, now: float) -> None:
        match record:
            case ApprovalOpened():
                self._turn(one, "waiting", now)
            case ApprovalClosed():
                self._turn(one, "thinking", now)
            case RunIntended(run=run):
                one.steps, one.run = one.steps + 1, run
                one.runs.add(run)
                self._turn(one, "running", now)
            case RunReported() | JobDetached():
                self._ran(one, record, now)
            case PlanChanged(steps=steps, current=current):
                one.plan, one.plan_step = steps, current
            case Answered() | Explained():
                self._spend(one, record)
                if isinstance(record, Answered) and not record.calls and record.whole == "whole":
                    self._turn(one, "nothing", now)
            case Failed() | Interrupted() | CutOff():
                self._turn(one, "nothing", now)
            case _:
                pass

    @staticmethod
    def _turn(one: _Request, doing: Doing, now: float) -> None:
        if one.doing != doing:
            one.since = now
        one.doing = doing
        if doing == "nothing":
            one.ended_at = now

    def _ran(self, one: _Request, report: RunReported | JobDetached, now: float) -> None:
        """A run is over, or goes on in the background."""
        if report.run == one.run:
            one.run = ""
            self._turn(one, "thinking", now)
        if not isinstance(report, RunReported) or report.run not in one.runs:
            return
        one.tests = read_test_result(report.output) or one.tests
        changes: Changes = report.changes
        one.files.update((*changes.added, *changes.changed, *changes.deleted))
        one.more_files += changes.more

    @staticmethod
    def _spend(one: _Request, record: Answered | Explained) -> None:
        one.tokens += record.tokens_in + record.tokens_out
        if record.usd is not None:
            one.usd = (one.usd or 0.0) + record.usd
