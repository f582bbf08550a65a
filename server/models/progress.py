"""The seam for what shows the progress of a download."""

from typing import Protocol


class Progress(Protocol):
    """Told by the fetch, in its own thread."""

    def begin(self, file: str, total: int, done: int) -> None:
        """A file is fetched: its size, and what of it is here already, in bytes."""
        ...

    def advance(self, count: int) -> None:
        """So many bytes more; fewer, if negative, where a file is begun anew."""
        ...

    def wait(self, reason: str, seconds: float) -> None:
        """The line is cut; it is tried again after so long."""
        ...


class Silent:
    """Shows nothing."""

    def begin(self, file: str, total: int, done: int) -> None:
        """Nobody looks."""

    def advance(self, count: int) -> None:
        """Nobody looks."""

    def wait(self, reason: str, seconds: float) -> None:
        """Nobody looks."""
