"""The jobs of one conversation: the fold of the log's records. Pure."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

from sayso.server.agent.jobs.job import TITLE_CHARS, Job, one_line
from sayso.server.agent.jobs.output_progress import latest_line
from sayso.server.agent.prompt.server_notes import JOB_TOO_LONG
from sayso.server.store.jobs import JobBegan, JobDetached, JobEnded, JobProgressed, JobTold
from sayso.server.store.records import (
    Asked,
    Event,
    Record,
    RunIntended,
    RunReported,
    Withdrawn,
)

RECENT: Final = 8
"""Jobs that are over and can still be looked at: what a person may ask about on the same day."""

_TOO_LONG: Final = "it had gone on as long as a job may (`jobs.hours`)"

_ENDS: Final[
    Mapping[
        Literal["ok", "error", "interrupted", "died", "refused", "unknown"],
        Literal["done", "failed", "cancelled", "unknown"],
    ]
] = {
    "ok": "done",
    "error": "failed",
    "died": "failed",
    "interrupted": "cancelled",
    "refused": "cancelled",
    "unknown": "unknown",
}
"""How a job ended, by how its run did."""


class Jobs:
    """Follows what happens in a conversation, and tells those who watch how each job stands."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._jobs: dict[str, Job] = {}
        self._recent: deque[Job] = deque(maxlen=RECENT)
        self._untold: dict[str, Job] = {}
        self._known: set[str] = set()
        """Those that go on, whose end the person need not be told, because they wanted it."""
        self._runs: dict[str, float] = {}
        """Runs that go on, and when they began."""
        self._asked = self._by = ""
        self._turn = 0
        self._watchers: list[Callable[[Job], None]] = []
        for event in events:
            self.apply(event.record, event.time)

    def watch(self, watcher: Callable[[Job], None]) -> None:
        """Call this whenever a job has begun, got on or ended."""
        self._watchers.append(watcher)

    @property
    def running(self) -> Sequence[Job]:
        """The jobs that go on, the oldest first."""
        return list(self._jobs.values())

    @property
    def in_background(self) -> Sequence[Job]:
        """Those of them that no request waits for."""
        return [job for job in self._jobs.values() if job.where == "background"]

    @property
    def helpers(self) -> Sequence[Job]:
        """Those of them that are helpers at work."""
        return [job for job in self._jobs.values() if job.kind == "helper"]

    @property
    def recent(self) -> Sequence[Job]:
        """Some that are over, the latest last."""
        return list(self._recent)

    @property
    def untold(self) -> Sequence[Job]:
        """Those of the background that are over, of which the person was not told."""
        return list(self._untold.values())

    def get(self, name: str) -> Job | None:
        """The job with this id, while it goes on and for a while after."""
        ended = (job for job in reversed(self._recent) if job.id == name)
        return self._jobs.get(name) or next(ended, None)

    def goes_on(self, run: str) -> bool:
        """Whether this run has begun and has not ended."""
        return run in self._runs

    def of_run(self, run: str) -> Job | None:
        """The job that this run is, if it is one."""
        return next(
            (job for job in self._jobs.values() if job.run == run and job.kind == "run"), None
        )

    @property
    def asked(self) -> str:
        """What the person asked for last, in a line."""
        return one_line(self._asked, TITLE_CHARS)

    @property
    def asked_by(self) -> str:
        """The device on which that was."""
        return self._by

    @property
    def turn(self) -> int:
        """Which request of the conversation that was, counted from 1."""
        return self._turn

    def apply(self, record: Record, at: float = 0.0) -> None:
        """Something happened, at this time in Unix seconds."""
        match record:
            case Asked(text=text, by=by):
                self._asked, self._by, self._turn = text, by, self._turn + 1
            case Withdrawn():  # The whole request follows, and is the same one.
                self._turn -= 1
            case RunIntended() | RunReported():
                self._follow_run(record, at)
            case _:
                self._follow_job(record, at)

    def _follow_run(self, record: RunIntended | RunReported, at: float) -> None:
        if isinstance(record, RunIntended):
            self._runs[record.run] = at
            return
        self._runs.pop(record.run, None)
        if job := self.of_run(record.run):
            self._tell(job.reported(record.output))

    def _follow_job(self, record: Record, at: float) -> None:
        match record:
            case JobBegan():
                self._begin(record, at)
            case JobDetached(id=name, output=output) if name in self._jobs:
                self._tell(self._jobs[name].detached(output))
            case JobProgressed(id=name, text=text, fraction=fraction):
                self.progressed(name, text, fraction)
            case JobEnded(id=name) if name in self._jobs:
                self._end(self._jobs.pop(name).ended(record.state, record.text, at))
            case JobTold(id=name) if name in self._jobs:
                self._known.add(name)
            case JobTold(id=name):
                self._untold.pop(name, None)
            case _:
                pass

    def progressed(self, job: str, text: str, fraction: float | None) -> None:
        """A job told how far it is; nothing happens if it is over."""
        if known := self._jobs.get(job):
            self._tell(known.progressed(text, fraction))

    def wrote(self, job: str, output: str) -> None:
        """A job in the background, or a helper, put something out; what another one in the
        foreground does is shown as its run's."""
        known = self._jobs.get(job)
        if known and (known.where == "background" or known.kind == "helper"):
            self._tell(known.wrote(output))

    def ended_by(self, record: Record) -> Sequence[JobEnded]:
        """The ends of jobs that follow from what happened."""
        if not isinstance(record, RunReported):
            return ()
        job = self.of_run(record.run)
        if job is None:
            return ()
        told = job.text if record.status == "unknown" else record.detail
        text = one_line(latest_line(record.output) or told, TITLE_CHARS)
        if JOB_TOO_LONG in record.detail:
            text = _TOO_LONG if text == one_line(told, TITLE_CHARS) else f"{_TOO_LONG}: {text}"
        return (JobEnded(job.id, _ENDS[record.status], text),)

    def _begin(self, record: JobBegan, at: float) -> None:
        left = record.kind == "processes"  # no request waits for what a run has left
        job = Job(
            record.id,
            record.kind,
            record.title,
            record.run,
            record.turn,
            where="background" if left else "foreground",
            by=record.by,
            began=self._runs.get(record.run, at),
        )
        self._tell(job.progressed(record.text, record.fraction))

    def _end(self, job: Job) -> None:
        self._recent.append(job)
        if job.id in self._known:
            self._known.discard(job.id)
        elif job.where == "background":
            self._untold[job.id] = job
        self._tell(job)

    def _tell(self, job: Job) -> None:
        if job.state == "running":
            self._jobs[job.id] = job
        for watcher in self._watchers:
            watcher(job)
