"""Who asked, where, and in which language."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Asker:
    """Where a sentence came from."""

    device: str
    conversation: str
    language: str = "en"
    """Code of the language in which it was understood, and is answered."""


NOBODY = Asker("", "")
"""Where it does not matter."""
