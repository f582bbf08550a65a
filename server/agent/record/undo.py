"""Undoes what code did to files, request by request, and tells the conversation about it.

The files are restored first and the note is written after: if Sayso ends between the two, the
files are as they were, and the model is not told; it sees them when it looks.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.records import MadeAgain, TakenBack
from sayso.server.undo.results import Undone
from sayso.server.undo.store import LISTED

log = logging.getLogger(__name__)


class Checkpoints(Protocol):
    """What keeps the states before and after runs."""

    async def undo(self, groups: Iterable[Sequence[str]]) -> Undone: ...

    async def redo(self) -> Undone: ...

    async def diff(self, groups: Iterable[Sequence[str]]) -> str: ...


class UndoRequests:
    """For one conversation."""

    def __init__(self, journal: Journal, checkpoints: Checkpoints) -> None:
        self._journal = journal
        self._checkpoints = checkpoints
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[Undone]] = set()

    async def close(self) -> None:
        """Finish what was begun."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def undo(self, by: str = "") -> Undone:
        """Take back all that the runs of the latest request did that changed files.

        The model is no longer told of that request. While code runs, nothing is done. Once begun
        it is done to the end, even if the task that asked is cancelled.
        """
        return await self._to_the_end(lambda: self._checkpoints.undo(self._requests), TakenBack, by)

    async def redo(self, by: str = "") -> Undone:
        """Do again what was taken back last; no code runs."""
        return await self._to_the_end(self._checkpoints.redo, MadeAgain, by)

    async def diff(self) -> str:
        """What `undo` would take back, for a screen; empty if nothing."""
        return await self._checkpoints.diff(self._requests)

    @property
    def _requests(self) -> list[Sequence[str]]:
        return [runs for runs in reversed(self._journal.history.runs) if runs]

    async def _to_the_end(
        self,
        work: Callable[[], Awaitable[Undone]],
        kind: Callable[..., TakenBack | MadeAgain],
        by: str,
    ) -> Undone:
        task = asyncio.create_task(self._do(work, kind, by))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _do(
        self,
        work: Callable[[], Awaitable[Undone]],
        kind: Callable[..., TakenBack | MadeAgain],
        by: str,
    ) -> Undone:
        async with self._one_at_a_time:
            done = await work()
            if done.outcome == "done":
                left = tuple(one.path for one in done.left[:LISTED])
                record = kind(done.runs, done.restored[:LISTED], done.removed[:LISTED], left, by)
                try:
                    await self._journal.note("person", record)
                except StoreError as problem:
                    log.warning("that files were put back could not be noted: %s", problem)
            return done
