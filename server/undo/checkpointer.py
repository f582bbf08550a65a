"""The seam to what keeps the state before a run, so that the run can be undone."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from sayso.server.store.changes import NO_CHANGES, Changes
from sayso.server.undo.results import Undone


class Checkpointer(Protocol):
    """Told of every run before it starts and when it is over."""

    async def before(self, run: str) -> str:
        """Keep what the run may change. Returns why it must not run, in words; empty if it may."""
        ...

    async def after(self, run: str) -> Changes:
        """The run is over, however it ended; returns what it changed."""
        ...


class NoCheckpoints:
    """Keeps nothing: for those who run code where nothing can be undone."""

    async def before(self, run: str) -> str:
        return ""

    async def after(self, run: str, code: str = "") -> Changes:
        return NO_CHANGES

    async def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone:
        return Undone("off")

    async def redo(self) -> Undone:
        return Undone("off")

    async def diff(self, groups: Iterable[Sequence[str]], most: int = 1) -> str:
        return ""

    async def changed(self, groups: Iterable[Sequence[str]]) -> Sequence[bool]:
        return [False for _ in groups]

    async def former(self, runs: Sequence[str]) -> dict[str, str]:
        return {}

    async def opened(self) -> None:
        pass

    async def close(self) -> None:
        pass
