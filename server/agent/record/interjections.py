"""What was said about a request while it was worked on: by the person, and by their hooks."""

from dataclasses import dataclass


@dataclass(slots=True)
class Steer:
    """What the person said about a request while it was worked on."""

    text: str
    after: int | None = None
    """The model was told it after so many of its replies; None: not yet."""


@dataclass(frozen=True, slots=True)
class Objection:
    """What a hook of the person's has against an answer."""

    hook: str
    why: str
    after: int
    """It was said after so many of the model's replies."""
