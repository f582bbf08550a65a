"""Records of what the person, or a program of theirs, said about work that went on, or that a limit
had ended."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Steered:
    """The person said something about the request while it was worked on."""

    text: str
    by: str = ""
    """The device it was said at."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The person asked something about code that waited for a yes, or ran, and was answered; the
    code went on waiting, or running."""

    asked: str
    text: str
    by: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class DayExtended:
    """The person let the work go on beyond a day's limit, by as much again."""

    by: str = ""
    """The device on which they said so."""


@dataclass(frozen=True, slots=True)
class SentBack:
    """A hook of the person's did not take an answer: the model went on with what it said."""

    hook: str
    why: str


@dataclass(frozen=True, slots=True)
class SaidBeside:
    """What stood on screens and no language model is told of: a request that was answered without
    one, or what Sayso said by itself."""

    text: str
    asked: str = ""
    """What the person said; empty: Sayso spoke by itself."""
    by: str = ""
    """The device it was said at."""


SteeringRecord = Steered | Explained | DayExtended | SentBack | SaidBeside
