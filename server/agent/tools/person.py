"""The person, as a tool can ask them something while it works.

Their answers are data for the tool and approve nothing.
"""

from typing import Protocol


class NoAnswerError(Exception):
    """Nobody answered in time, or nobody can; the text says so."""


class Person(Protocol):
    """Whose conversation it is."""

    async def ask(self, question: str, choices: tuple[str, ...] = ()) -> str:
        """Their answer, one of the choices if there are any. Raises NoAnswerError."""
        ...

    async def confirm(self, what: str, lines: tuple[str, ...], why: str) -> bool:
        """Whether they allow this, by a tap on a screen that shows it."""
        ...
