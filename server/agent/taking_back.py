"""Taking back what code did to files, request by request, and telling the conversation of it.

The files come first and the word after: if Sayso ends between the two, the files are as they were,
and the model is not told; it sees them when it looks.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from sayso.server.agent.journal import Journal
from sayso.server.store.records import MadeAgain, TakenBack
from sayso.server.undo.keeping import LISTED
from sayso.server.undo.results import Undone


class Checkpoints(Protocol):
    """What keeps the states before and after runs."""

    async def undo(self, groups: Iterable[Sequence[str]]) -> Undone: ...

    async def redo(self) -> Undone: ...

    async def diff(self, groups: Iterable[Sequence[str]]) -> str: ...


class TakingBack:
    """For one conversation."""

    def __init__(self, journal: Journal, checkpoints: Checkpoints | None) -> None:
        """Without checkpoints, everything is answered by "off"."""
        self._journal = journal
        self._checkpoints = checkpoints
        self._one_at_a_time = asyncio.Lock()

    async def undo(self, by: str = "") -> Undone:
        """Take back all that the runs of the latest request did that changed files. Raises
        StoreError.

        The model is no longer told of that request. While code runs, nothing is done.
        """
        if self._checkpoints is None:
            return Undone("off")
        async with self._one_at_a_time:
            undone = await self._checkpoints.undo(self._requests)
            await self._note(undone, TakenBack, by)
            return undone

    async def redo(self, by: str = "") -> Undone:
        """Do again what was taken back last; no code runs. Raises StoreError."""
        if self._checkpoints is None:
            return Undone("off")
        async with self._one_at_a_time:
            redone = await self._checkpoints.redo()
            await self._note(redone, MadeAgain, by)
            return redone

    async def diff(self) -> str:
        """What `undo` would take back, for a screen; empty if nothing."""
        return await self._checkpoints.diff(self._requests) if self._checkpoints else ""

    @property
    def _requests(self) -> list[Sequence[str]]:
        return [runs for runs in reversed(self._journal.history.runs) if runs]

    async def _note(
        self, done: Undone, kind: Callable[..., TakenBack | MadeAgain], by: str
    ) -> None:
        if done.outcome == "done":
            left = tuple(one.path for one in done.left[:LISTED])
            record = kind(done.runs, done.restored[:LISTED], done.removed[:LISTED], left, by)
            await self._journal.note("person", record)
