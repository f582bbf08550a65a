"""Translates the agent's events into events of the turn machine and messages to devices."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from sayso.protocol import messages as m
from sayso.server.agent import events as agent
from sayso.server.agent.jobs.job import Job
from sayso.server.agent.jobs.jobs import Jobs
from sayso.server.agent.jobs.updates import PacedUpdates
from sayso.server.conversations.files.artifacts import ConversationArtifacts
from sayso.server.turn import events as turn
from sayso.server.turn.events import Ticket

PLAIN_TEXT: Final = "text/plain; charset=utf-8"

_Shown = (
    agent.ApprovalRequest
    | agent.ApprovalDone
    | agent.CodeStart
    | agent.CodeOut
    | agent.CodeEnd
    | agent.Announce
)


def event_of(
    ticket: Ticket, event: agent.AgentEvent, artifacts: ConversationArtifacts
) -> turn.Event:
    """Translates a step of the work for the turn. What is not text becomes an artifact."""
    match event:
        case agent.ReplyDelta(text=text):
            return turn.ReplyDelta(ticket, text)
        case agent.WorkDone():
            return turn.WorkDone(ticket, _cost(event))
        case agent.WorkFailed(message=message, what=what):
            return turn.WorkFailed(ticket, message, what)
        case agent.CodeAsked(id=name, text=text, choices=choices):
            return turn.CodeAsked(ticket, name, text, choices)
        case agent.SteersGiven(count=count):
            return turn.SteersGiven(ticket, count)
        case agent.TimeAsked(text=text):
            return turn.TimeAsked(ticket, text)
        case _:
            return _message_of(ticket, event, artifacts)


def _message_of(
    ticket: Ticket, event: _Shown, artifacts: ConversationArtifacts
) -> turn.AgentMessage:
    """What devices are told as it is, and where the work stands then."""
    match event:
        case agent.ApprovalRequest():
            return turn.AgentMessage(ticket, "awaiting_approval", event)
        case agent.CodeStart() | agent.Announce():
            return turn.AgentMessage(ticket, "acting", event)
        case agent.CodeOut():
            return turn.AgentMessage(ticket, "acting", _output(event, artifacts))
        case agent.CodeEnd() | agent.ApprovalDone():
            return turn.AgentMessage(ticket, "thinking", _settled(event, artifacts))


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

    def tell_standing(self, tell: Callable[[m.TaskUpdate], None]) -> None:
        """Tell somebody who knows of none yet."""
        for update in self.standing:
            tell(update)

    def close(self) -> None:
        """Tell nothing more."""
        self._paced.close()


def _task_update(job: Job) -> m.TaskUpdate:
    return m.TaskUpdate(
        job.id, job.state, job.kind, job.title, job.text, job.fraction, job.output, job.run
    )


def _cost(event: agent.WorkDone) -> dict[str, float]:
    cost: dict[str, float] = {"tokens_in": event.tokens_in, "tokens_out": event.tokens_out}
    return cost if event.usd is None else {**cost, "usd": event.usd}


def _output(event: agent.CodeOut, artifacts: ConversationArtifacts) -> m.CodeOut:
    output = event.output
    file = artifacts.put(output.mime, output.data) if output.data else None
    return m.CodeOut(event.id, output.kind, output.mime, output.text, file)


def _settled(
    event: agent.CodeEnd | agent.ApprovalDone, artifacts: ConversationArtifacts
) -> m.CodeEnd | m.ApprovalDone:
    """A run's end with an id in place of the path of its whole output."""
    if not isinstance(event, m.CodeEnd) or event.output is None:
        return event
    return replace(event, output=artifacts.put_file(PLAIN_TEXT, Path(event.output)))
