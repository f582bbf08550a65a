"""Translates the agent's events into events of the turn machine and messages to devices."""

from collections.abc import Callable, Iterable

from sayso.protocol import messages as m
from sayso.server.agent import events as agent
from sayso.server.agent.jobs.job import Job
from sayso.server.agent.jobs.jobs import Jobs
from sayso.server.agent.jobs.updates import PacedUpdates
from sayso.server.conversations.files.artifacts import ConversationArtifacts
from sayso.server.turn import events as turn
from sayso.server.turn.events import Ticket


def event_of(
    ticket: Ticket, event: agent.AgentEvent, artifacts: ConversationArtifacts
) -> turn.Event:
    """Translates a step of the work for the turn. What is not text becomes an artifact."""
    match event:
        case agent.Said(text=text):
            return turn.ReplyGrew(ticket, text)
        case agent.WorkDone():
            return turn.WorkEnded(ticket, _cost(event))
        case agent.WorkFailed(message=message, what=what):
            return turn.WorkFailed(ticket, message, what)
        case agent.ApprovalAsked():
            return turn.AgentShowed(ticket, "awaiting_approval", approval_request(event))
        case agent.ApprovalSettled(id=name, decision=decision, by=by):
            return turn.AgentShowed(ticket, "thinking", m.ApprovalDone(name, decision, by))
        case agent.RunStarted(id=name, language=language, code=code):
            return turn.AgentShowed(ticket, "acting", m.CodeStart(name, language, code))
        case agent.RunOutput():
            return turn.AgentShowed(ticket, "acting", _output(event, artifacts))
        case agent.CodeAsked(id=name, text=text, choices=choices):
            return turn.CodeAsked(ticket, name, text, choices)
        case agent.RunEnded():
            return turn.AgentShowed(ticket, "thinking", _ended(event))


def approval_request(event: agent.ApprovalAsked) -> m.ApprovalRequest:
    """The question as it is put to a device."""
    return m.ApprovalRequest(
        event.id,
        event.nonce,
        event.language,
        event.code,
        event.where,
        event.may_touch,
        event.expires_s,
        event.kind,
        event.warnings,
        event.why,
        event.tap,
    )


class JobUpdates:
    """Tells devices how a conversation's jobs stand, no faster than anybody reads."""

    def __init__(self, jobs: Jobs, tell: Callable[[m.TaskUpdate], None]) -> None:
        self._jobs = jobs
        self._paced = PacedUpdates(lambda job: tell(_task_update(job)))
        jobs.watch(self._paced.changed)

    @property
    def standing(self) -> list[m.TaskUpdate]:
        """What is to be told to a device that knows of none yet."""
        return [_task_update(job) for job in self._jobs.running]

    def goes_on(self, job: str) -> bool:
        """Whether there is such a job, and it is not over."""
        return any(one.id == job for one in self._jobs.running)

    def close(self) -> None:
        """Tell nothing more."""
        self._paced.close()


def _task_update(job: Job) -> m.TaskUpdate:
    return m.TaskUpdate(
        job.id, job.state, job.kind, job.title, job.text, job.fraction, job.output, job.run
    )


def _ended(event: agent.RunEnded) -> m.CodeEnd:
    changes = event.changes
    shown = m.Changes(
        _shown(changes.added), _shown(changes.changed), _shown(changes.deleted), changes.more
    )
    return m.CodeEnd(event.id, event.status, event.seconds, event.detail, shown)


def _shown(paths: Iterable[str]) -> tuple[str, ...]:
    """Names of files may hold bytes that are no text."""
    return tuple(path.encode("utf-8", "replace").decode() for path in paths)


def _cost(event: agent.WorkDone) -> dict[str, float]:
    cost: dict[str, float] = {"tokens_in": event.tokens_in, "tokens_out": event.tokens_out}
    return cost if event.usd is None else {**cost, "usd": event.usd}


def _output(event: agent.RunOutput, artifacts: ConversationArtifacts) -> m.CodeOut:
    output = event.output
    file = artifacts.put(output.mime, output.data) if output.data else None
    return m.CodeOut(event.id, output.kind, output.mime, output.text, file)
