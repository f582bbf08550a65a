"""Undoes what code did to files, request by request, and tells the conversation about it.

The files are restored first and the note is written after: if Sayso ends between the two, the
files are as they were, and the model is not told; it sees them when it looks.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from sayso.server.agent.record.conversation_history import Request
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.records import MadeAgain, TakenBack
from sayso.server.undo.changes.listing import LISTED
from sayso.server.undo.results import Undone

log = logging.getLogger(__name__)

LOOKED_AT: Final = 20
"""Of the latest requests, when those are told that can be taken back: more nobody wants to hear."""

_STEM: Final = 4
"""Letters that two words must share to be forms of one: "rename" and "renaming"."""


class Checkpoints(Protocol):
    """What keeps the states before and after runs."""

    async def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone: ...

    async def redo(self) -> Undone: ...

    async def diff(self, groups: Iterable[Sequence[str]], most: int = 1) -> str: ...

    async def changed(self, groups: Iterable[Sequence[str]]) -> Sequence[bool]: ...


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

    async def undo(self, by: str = "", most: int = 1, about: str = "") -> Undone:
        """Take back all that the runs of the latest requests did that changed files, of so many at
        most; or of the latest request in which these words are.

        The model is no longer told of that request. While code runs, nothing is done. Once begun
        it is done to the end, even if the task that asked is cancelled.
        """
        requests = self._requests
        chosen = [each for each in requests if names(about, each.asked)] if about else requests

        async def work() -> Undone:
            if about and not any(await self._changed(chosen)):
                return await self._unknown()
            undone = await self._checkpoints.undo([each.runs for each in chosen], most)
            plain = not about and most == 1
            return self._with_words(undone, requests[:1] if plain else ())

        return await self._to_the_end(work, TakenBack, by)

    async def redo(self, by: str = "") -> Undone:
        """Do again what was taken back last; no code runs."""

        async def work() -> Undone:
            return self._with_words(await self._checkpoints.redo(), self._requests[:1])

        return await self._to_the_end(work, MadeAgain, by)

    async def diff(self, most: int = 1, about: str = "") -> str:
        """What `undo` would take back, for a screen; empty if nothing."""
        chosen = [each.runs for each in self._requests if not about or names(about, each.asked)]
        return await self._checkpoints.diff(chosen, most)

    @property
    def _requests(self) -> Sequence[Request]:
        """Those for which anything ran, the latest first."""
        return [each for each in reversed(self._journal.history.requests) if each.runs]

    async def _changed(self, requests: Sequence[Request]) -> Sequence[bool]:
        return await self._checkpoints.changed([each.runs for each in requests])

    async def _unknown(self) -> Undone:
        """No request of these words is there; but these are."""
        requests = self._requests[:LOOKED_AT]
        there = zip(requests, await self._changed(requests), strict=True)
        return Undone("unknown", requests=tuple(each.asked for each, changed in there if changed))

    def _with_words(self, done: Undone, plain: Sequence[Request]) -> Undone:
        """It says which requests it was about, unless that goes without saying (`plain`)."""
        about = [each for each in self._requests if not set(done.runs).isdisjoint(each.runs)]
        if list(plain) == about:
            return done
        return replace(done, requests=tuple(each.asked for each in about))

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
                restored = (*done.restored, *(one.new for one in done.renamed))
                removed = (*done.removed, *(one.old for one in done.renamed))
                record = kind(done.runs, restored[:LISTED], removed[:LISTED], left, by)
                try:
                    await self._journal.note("person", record)
                except StoreError as problem:
                    log.warning("that files were put back could not be noted: %s", problem)
            return done


def names(words: str, asked: str) -> bool:
    """Whether each of the words, or a form of it, is in a request."""
    there = _words(asked)
    return all(any(_alike(word, other) for other in there) for word in _words(words))


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    stem = short[:-1] if len(short) > _STEM else short
    return one == other or (len(short) >= _STEM and long.startswith(stem))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
