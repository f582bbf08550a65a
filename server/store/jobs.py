"""Records of jobs: work that lasts and tells how far it is."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class JobBegan:
    """Work that lasts has told for the first time how far it is."""

    id: str
    kind: str
    """`run`: a piece of code."""
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
    state: Literal["done", "failed", "cancelled", "unknown"]
    """`unknown`: the server ended while it ran."""
