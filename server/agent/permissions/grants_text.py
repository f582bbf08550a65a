"""What is granted, and what would be, as a person is told it."""

from collections.abc import Callable, Iterator, Sequence
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


@dataclass(frozen=True, slots=True)
class HeldLease:
    """Something that is open to one capability alone, for a while."""

    line: str
    """In the words in which it was asked for: `browse example.org`."""
    seconds: float
    """So long it still holds."""
    end: Callable[[], None]
    """Closes it at once."""

    @property
    def until(self) -> str:
        """How long it holds, in words."""
        minutes = max(1, round(self.seconds / 60))
        return f"for {minutes} more minute{'' if minutes == 1 else 's'}"


class HeldLeases:
    """All that is open for a while; gone through, one by one."""

    def __init__(self) -> None:
        self._sources: list[Callable[[], Sequence[HeldLease]]] = []

    def add(self, source: Callable[[], Sequence[HeldLease]]) -> None:
        """Ask a capability, too, what is open to it."""
        self._sources.append(source)

    def __iter__(self) -> Iterator[HeldLease]:
        for source in self._sources:
            yield from source()

    def end(self) -> None:
        """Close all of it at once."""
        for lease in self:
            lease.end()
