"""What is asked of the memory: keep this for good, tell it, forget it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep this in mind, for good."""

    what: str


@dataclass(frozen=True, slots=True)
class Recall:
    """Tell what you keep in mind."""

    about: str = ""
    """Empty: all of it."""


@dataclass(frozen=True, slots=True)
class ForgetMemory:
    """Keep this in mind no more."""

    about: str = ""
    """Empty: what was just spoken of."""
