"""Written text as a person would say it. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word or a few as written, and how they are said."""

    written: str
    spoken: str
    """Empty if nothing is said."""


def spoken_pieces(text: str, language: str = "en") -> list[Spoken]:
    """The text piece by piece, in order."""
    return [Spoken(word, word if any(c.isalnum() for c in word) else "") for word in text.split()]
