"""What happens to words that are said while a request is worked on."""

from dataclasses import dataclass

from sayso.server.turn.ticket import Ticket


@dataclass(frozen=True, slots=True)
class SteerKept:
    """What the person said about this work is safe, and the model will be told it."""

    ticket: Ticket
    device: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class SteersGiven:
    """The model is being told what the person said meanwhile."""

    ticket: Ticket
    count: int
    """Of those that it was not told before, the earliest so many."""


@dataclass(frozen=True, slots=True)
class SteerTooLate:
    """What the person said about this work came when it had ended."""

    ticket: Ticket
    device: str
    text: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class LeftEnded:
    """What stopped work had left in the background has ended, too."""

    device: str
    """Where it was stopped."""
    titles: str


@dataclass(frozen=True, slots=True)
class AsideAnswered:
    """What was said beside the work is answered."""

    device: str
    text: str
    """Empty: there is no answer without a language model."""
    asked: str
    spoken: bool
    by_model: bool = False
    """It is a model's words, which may hold a question of their own."""


@dataclass(frozen=True, slots=True)
class BackgroundChanged:
    """Work began or ended that goes on whoever speaks."""

    goes_on: bool
