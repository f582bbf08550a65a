"""What the agent tells while it works on one request.

What a device is told in the same words is the wire's own record, from here to the device. The rest
is the agent's: what only code around it needs, or what becomes a file before it is told. In here,
the `output` of CodeEnd is the path of a file, which devices are told an id for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sayso.protocol import messages as m
from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeStart,
    ReplyDelta,
)
from sayso.server.runtimes.runtime import Output
from sayso.server.store.changes import Changes


@dataclass(frozen=True, slots=True)
class CodeOut:
    """A piece of output, whole. The wire's record of this name has an address in place of what is
    no text."""

    id: str
    output: Output


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """Running code asks the person something. It is no approval: the answer is for that code."""

    id: str = ""
    """Empty: what it asked last is settled."""
    text: str = ""
    choices: tuple[str, ...] = ()
    """What may be answered; empty: anything."""


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """Most of the request's time is used, and what runs goes on: the person is asked what to do.
    Silence lets it go on in the background."""

    text: str


@dataclass(frozen=True, slots=True)
class SteersGiven:
    """The model is being told what the person said meanwhile."""

    count: int


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The request is answered."""

    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """The request could not be answered; the text is one sentence to be shown and spoken."""

    message: str
    what: Literal["model_failed", "store_failed"] = "model_failed"
    """In a word, as on the wire."""


AgentEvent = (
    ReplyDelta
    | ApprovalRequest
    | ApprovalDone
    | CodeStart
    | CodeOut
    | CodeAsked
    | Announce
    | TimeAsked
    | CodeEnd
    | SteersGiven
    | WorkDone
    | WorkFailed
)

__all__ = [
    "AgentEvent",
    "Announce",
    "ApprovalDone",
    "ApprovalRequest",
    "CodeAsked",
    "CodeEnd",
    "CodeOut",
    "CodeStart",
    "ReplyDelta",
    "SteersGiven",
    "TimeAsked",
    "WorkDone",
    "WorkFailed",
    "changes_shown",
]


def changes_shown(changes: Changes) -> m.Changes:
    """A run's changes as devices are told of them."""
    added, changed, deleted = map(_shown, (changes.added, changes.changed, changes.deleted))
    renamed = tuple(m.Renamed(*_shown((one.old, one.new))) for one in changes.renamed)
    commits = _shown(changes.commits)
    return m.Changes(added, changed, deleted, changes.more, renamed, changes.by_products, commits)


def _shown(paths: Iterable[str]) -> tuple[str, ...]:
    """Names of files may hold bytes that are no text."""
    return tuple(path.encode("utf-8", "replace").decode() for path in paths)
