"""Records of jobs: work that lasts."""

from dataclasses import dataclass
from typing import Literal

EndState = Literal["done", "failed", "cancelled", "unknown"]


@dataclass(frozen=True, slots=True)
class JobBegan:
    """Work has lasted so long, or told how far it is, that it is a job from now on."""

    id: str
    kind: str
    """`run`: a piece of code. `processes`: what a run that is over has left running. `helper`: a
    helper that works for a run."""
    title: str
    """What it is for, in a line."""
    run: str = ""
    """The run that it is, or in which it began."""
    turn: int = 0
    """The request that it belongs to, counted from 1 in its conversation."""
    text: str = ""
    """The line that it told, in its own words."""
    fraction: float | None = None
    """How much is done, from 0 to 1; none: it did not say."""
    by: str = ""
    """The device on which it was asked for, and is told of its end."""


@dataclass(frozen=True, slots=True)
class JobDetached:
    """A job goes on in the background: its request has gone on without it."""

    id: str
    run: str
    output: str = ""
    """What it had put out until then, as the model was told it."""
    seconds: float = 0.0
    """How long it had run."""


@dataclass(frozen=True, slots=True)
class JobProgressed:
    """How far a job is. Not all that it told is kept."""

    id: str
    text: str = ""
    """The last line that it told, in its own words."""
    fraction: float | None = None
    """How much is done, from 0 to 1; none: it did not say."""


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job is over."""

    id: str
    state: EndState
    """`unknown`: the server ended while it ran."""
    text: str = ""
    """The last line that it told."""


@dataclass(frozen=True, slots=True)
class JobTold:
    """The person was told of the end of a job in the background."""

    id: str


JobRecord = JobBegan | JobDetached | JobProgressed | JobEnded | JobTold
