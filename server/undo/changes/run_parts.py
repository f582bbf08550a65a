"""Which part of the time belongs to which run, where several go on at once. Pure.

What changes counts as the latest run's. An earlier one that goes on beside it is kept in parts,
each under a name of its own: one up to each run that begins, and one from when that is over.
"""

from collections.abc import Sequence
from typing import Final

_PART: Final = "+"
"""Between the name of a run and the number of a later part; no name has it."""


def run_of(part: str) -> str:
    """The name of the run that a part belongs to."""
    return part.partition(_PART)[0]


class RunParts:
    """Of the runs that go on."""

    def __init__(self) -> None:
        self._going: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        """Whether any goes on."""
        return bool(self._going)

    def begin(self, run: str) -> None:
        """It goes on from now."""
        self._going[run] = [run]

    def end(self, run: str) -> Sequence[str]:
        """It is over; returns its parts, none if it did not go on."""
        return self._going.pop(run, [])

    def of(self, run: str) -> Sequence[str]:
        """The parts of a run that goes on."""
        return self._going.get(run, [])

    @property
    def latest(self) -> Sequence[str]:
        """The last part of each."""
        return [parts[-1] for parts in self._going.values()]

    def next_part(self) -> str:
        """A further part of the run that began last."""
        run, parts = list(self._going.items())[-1]
        parts.append(f"{run}{_PART}{len(parts)}")
        return parts[-1]
