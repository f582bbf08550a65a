"""What is granted, and what would be, as a person is told it."""

from dataclasses import dataclass
from typing import Literal

from sayso.server.runtimes.grants import Grants


@dataclass(frozen=True, slots=True)
class Grant:
    """More reach, as it would be."""

    reach: Grants
    added: Grants
    """What is new in it."""
    warnings: tuple[str, ...] = ()
    needs_new_kernel: bool = False

    @property
    def lines(self) -> tuple[str, ...]:
        """What is new, a line each."""
        return self.added.lines


@dataclass(frozen=True, slots=True)
class HeldGrants:
    """One thing that is granted."""

    part: Grants
    until: Literal["conversation", "good", "rule"]
    """It lasts as long as this conversation; for good; as long as the person's rule."""

    @property
    def line(self) -> str:
        """In words."""
        return self.part.lines[0]
