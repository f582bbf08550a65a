"""The jobs of one conversation that go on: the fold of the log's records. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal

from sayso.server.agent.jobs.job import TITLE_CHARS, Job, one_line
from sayso.server.store.jobs import JobBegan, JobEnded, JobProgressed
from sayso.server.store.records import (
    Asked,
    Record,
    RunIntended,
    RunReported,
    Withdrawn,
)

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
    """Follows what happens in a conversation, and tells those who watch how each job stands.

    A job that is over is told once more, as it ended, and forgotten: the log has it.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._jobs: dict[str, Job] = {}
        self._runs: set[str] = set()
        """Runs that go on."""
        self._asked = ""
        self._turn = 0
        self._watchers: list[Callable[[Job], None]] = []
        for record in records:
            self.apply(record)

    def watch(self, watcher: Callable[[Job], None]) -> None:
        """Call this whenever a job has begun, got on or ended."""
        self._watchers.append(watcher)

    @property
    def running(self) -> Sequence[Job]:
        """The jobs that go on, the oldest first."""
        return list(self._jobs.values())

    def goes_on(self, run: str) -> bool:
        """Whether this run has begun and has not ended."""
        return run in self._runs

    def of_run(self, run: str) -> Job | None:
        """The job that this run is, if it has told how far it is."""
        return next((job for job in self._jobs.values() if job.run == run), None)

    @property
    def asked(self) -> str:
        """What the person asked for last, in a line."""
        return one_line(self._asked, TITLE_CHARS)

    @property
    def turn(self) -> int:
        """Which request of the conversation that was, counted from 1."""
        return self._turn

    def apply(self, record: Record) -> None:
        """Something happened."""
        match record:
            case Asked(text=text):
                self._asked, self._turn = text, self._turn + 1
            case Withdrawn():  # The whole request follows, and is the same one.
                self._turn -= 1
            case RunIntended(run=run):
                self._runs.add(run)
            case RunReported(run=run):
                self._runs.discard(run)
                if job := self.of_run(run):
                    self._tell(job.wrote(record.output))
            case JobBegan():
                job = Job(record.id, record.kind, record.title, record.run, record.turn)
                self._tell(job.progressed(record.text, record.fraction))
            case JobProgressed(id=name, text=text, fraction=fraction):
                self.progressed(name, text, fraction)
            case JobEnded(id=name, state=state) if name in self._jobs:
                self._tell(self._jobs.pop(name).ended(state))
            case _:
                pass

    def progressed(self, job: str, text: str, fraction: float | None) -> None:
        """A job told how far it is; nothing happens if it is over."""
        if known := self._jobs.get(job):
            self._tell(known.progressed(text, fraction))

    def ended_by(self, record: Record) -> Sequence[JobEnded]:
        """The ends of jobs that follow from what happened."""
        if not isinstance(record, RunReported):
            return ()
        job = self.of_run(record.run)
        return (JobEnded(job.id, _ENDS[record.status]),) if job else ()

    def _tell(self, job: Job) -> None:
        if job.state == "running":
            self._jobs[job.id] = job
        for watcher in self._watchers:
            watcher(job)
