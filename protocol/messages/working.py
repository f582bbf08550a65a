"""What is being done: code, its output, and the person's say-so."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.protocol.messages.bounds import Count


@dataclass(frozen=True, slots=True)
class TurnState:
    """Where the three regions of the turn stand."""

    ears: Literal["idle", "listening", "committed"]
    work: Literal["idle", "thinking", "acting", "awaiting_approval"]
    mouth: Literal["silent", "speaking", "ducked"]


@dataclass(frozen=True, slots=True)
class CodeStart:
    """The code that is about to run, as it will run."""

    id: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class CodeOut:
    """A piece of output."""

    id: str
    kind: Literal["stdout", "stderr", "result", "display", "error"]
    mime: str = "text/plain"
    text: str = ""
    """The content, if it is text."""
    file: str | None = None
    """The id of the content, if it is to be fetched over HTTP."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """Something that has another name, or lies elsewhere; a folder once, for all that is in it."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a run changed in the files that it may write to. Folders' paths end with a slash."""

    added: tuple[str, ...] = ()
    """Relative to the workspace, or absolute outside of it."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    more: Count = 0
    """How many further paths changed that are not listed."""
    renamed: tuple[Renamed, ...] = ()
    by_products: Count = 0
    """How many paths came along beside these: caches, what git ignores or notes for itself."""
    commits: tuple[str, ...] = ()
    """First lines of the commits that it made, whose files in `.git` are not listed."""


@dataclass(frozen=True, slots=True)
class CodeEnd:
    """The run is over, or goes on in the background."""

    id: str
    status: Literal["ok", "error", "interrupted", "died", "refused", "unknown"]
    """`died`: the interpreter ended and its variables are lost.

    `unknown`: the server ended while it ran, so that nobody knows how it went.
    """
    seconds: float = 0.0
    detail: str = ""
    """One sentence for the person, where there is something to say."""
    changes: Changes = field(default_factory=Changes)
    output: str | None = None
    """The id of all that it put out as text, to be fetched over HTTP, if that is long."""
    job: str = ""
    """The job as which it goes on in the background; empty: the run is over."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """May this run? Silence denies."""

    id: str
    nonce: str
    """To be sent back in `approve`."""
    language: str
    code: str
    where: str
    """The folder in which it runs."""
    may_touch: tuple[str, ...] = ()
    """What the sandbox lets it touch, worked out by the server, in words."""
    expires_s: float = 60.0
    """Seconds until it counts as denied, from when it was sent."""
    kind: Literal["run", "access"] = "run"
    """`access`: the work asks for more reach; `code` says for what.

    `may_touch` is what it would come to.
    """
    warnings: tuple[str, ...] = ()
    """What the person should know before they say yes, worked out by the server."""
    why: str = ""
    """With `access`: what the model says that it is for."""
    tap: bool = False
    """It opens more than the sandbox: a yes needs an `approve`, words count for nothing."""
    question: str = ""
    """What is asked, where that is neither whether code may run nor for more reach; shown above
    all else."""
    wider: str = ""
    """With code: what a `yes` that is `lasting` says yes to besides; empty: it can't be."""


@dataclass(frozen=True, slots=True)
class Approve:
    """The person's answer to `approval.request`."""

    id: str
    nonce: str
    decision: Literal["yes", "no", "edit"]
    code: str | None = None
    """With `edit`, and only then: the code to run instead."""
    lasting: bool = False
    """With `yes` to a request for access: for good, not for this conversation alone. With `yes` to
    code: to what is `wider`, too."""

    def __post_init__(self) -> None:
        if (self.decision == "edit") != bool(self.code):
            raise ValueError("needs `code` with `edit`, and only then")


@dataclass(frozen=True, slots=True)
class ApprovalDone:
    """The request is settled; every device that shows it takes it down."""

    id: str
    decision: Literal["yes", "no", "edit", "expired", "cancelled"]
    by: str = ""
    """The device that decided."""


@dataclass(frozen=True, slots=True)
class TaskUpdate:
    """How a job, a piece of work that lasts, is getting on. It replaces what was told of it before.

    A job outlives its turn, so none of these is stale.
    """

    id: str
    state: Literal["running", "done", "failed", "cancelled", "unknown"]
    """`unknown`: the server ended while it ran, so that nobody knows how it went."""
    kind: str = ""
    """`run`: a piece of code. `processes`: what a run that is over has left running."""
    title: str = ""
    """What it is for, in a line."""
    text: str = ""
    """The last line that it told of its progress, in its own words."""
    fraction: float | None = None
    """How much of it is done, from 0 to 1; none: it did not say."""
    output: str = ""
    """The end of what it has put out so far."""
    run: str = ""
    """With the kind `run`: the id of its `code.start`."""

    def __post_init__(self) -> None:
        if self.fraction is not None and not 0.0 <= self.fraction <= 1.0:
            raise ValueError("needs a `fraction` from 0 to 1")


@dataclass(frozen=True, slots=True)
class TaskCancel:
    """Stop this job."""

    id: str


@dataclass(frozen=True, slots=True)
class Metrics:
    """When things happened in a turn: milliseconds after the end of the person's audio."""

    marks: Mapping[str, float] = field(default_factory=dict)
    """For example `{"final": 80.1, "first_token": 81.0, "first_audio_sent": 160.4}`."""
    cost: Mapping[str, Any] = field(default_factory=dict)
    """For example `{"tokens_in": 812, "tokens_out": 64, "usd": 0.0004}`."""
