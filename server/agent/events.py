"""What the agent tells while it works on one request."""

from dataclasses import dataclass
from typing import Literal

from sayso.server.runtimes.runtime import Output
from sayso.server.store.records import NO_CHANGES, Changes


@dataclass(frozen=True, slots=True)
class Said:
    """The next piece of the answer, for screen and synthesis."""

    text: str


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """The work waits for the person's approval."""

    id: str
    nonce: str
    language: str
    code: str
    where: str
    may_touch: tuple[str, ...]
    expires_s: float
    kind: Literal["run", "access"] = "run"
    warnings: tuple[str, ...] = ()
    why: str = ""
    """What the model says that more reach is for."""
    tap: bool = False
    """It opens more than the sandbox."""


@dataclass(frozen=True, slots=True)
class ApprovalSettled:
    """The person decided, or time did."""

    id: str
    decision: Literal["yes", "no", "edit", "expired", "cancelled"]
    by: str


@dataclass(frozen=True, slots=True)
class RunStarted:
    """Code runs, as shown here."""

    id: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class RunOutput:
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
class RunEnded:
    id: str
    status: Literal["ok", "error", "interrupted", "died", "refused"]
    seconds: float
    detail: str = ""
    changes: Changes = NO_CHANGES


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
    Said
    | ApprovalAsked
    | ApprovalSettled
    | RunStarted
    | RunOutput
    | CodeAsked
    | RunEnded
    | WorkDone
    | WorkFailed
)
