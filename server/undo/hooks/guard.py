"""Disables, when a run is over, what its code set up for git or a login to run unasked.

A sandbox protects the hooks that exist when its interpreter starts
(runtimes/protection/write_protected_files.py). What code makes during a run, a whole repository for
example, it may make; but hooks in it are renamed, and its settings keep what only describes it. The
same happens to what should have been closed where a machine's Landlock cannot. Code's own version
stays beside, with another name.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sayso.server.store.changes import Changes
from sayso.server.undo.checkpointer import Checkpointer
from sayso.server.undo.hooks.inspection import Inspection
from sayso.server.undo.hooks.recovery import RecoveryFile
from sayso.server.undo.results import Undone

log = logging.getLogger(__name__)

_UNFINISHED = (
    "Not all that the code left could be looked through for what git or a login would run unasked:"
    " {}. Do not use git there until a further run has ended without this."
)


class GitHookGuard:
    """A checkpointer that also puts out of action what code left to run unasked."""

    def __init__(
        self,
        checkpointer: Checkpointer,
        writable: Callable[[], Sequence[Path]],
        recovery: RecoveryFile,
        hold: Callable[[int], Awaitable[None]] | None = None,
    ) -> None:
        """`writable`: the folders and files that code may write to now. `recovery`: keeps what was
        the person's own before a run, for the next server. `hold`: told when the latest of that was
        changed, in nanoseconds, it sees to it that no sandbox of before is used first."""
        self._checkpointer = checkpointer
        self._writable = writable
        self._inspection = Inspection(recovery)
        self._hold = hold
        self._note = ""
        """On what was closed before the run."""
        self._going: set[str] = set()
        """Runs that go on."""

    async def recover(self) -> str:
        """Look through what code left when a server was ended that could not look any more; what is
        to be told of that, in sentences."""
        try:
            note = await asyncio.shield(asyncio.to_thread(self._inspection.recover))
        except (OSError, ValueError) as error:
            note = f"{_words(error)}."
        if note:
            log.warning("what code left when Sayso was ended: %s", note)
        return note

    async def accept(self) -> None:
        """The person takes what could not be looked through for theirs."""
        try:
            await asyncio.shield(asyncio.to_thread(self._inspection.accept))
        except OSError as error:  # No code runs yet, and the person is told why.
            log.warning("what a run left is not accepted: %s", _words(error))

    async def before(self, run: str) -> str:
        try:
            self._note = await self._do(self._inspection.before)
        except (OSError, ValueError) as error:
            return f"It did not run, because {_words(error)}."
        if self._hold:
            await self._hold(self._inspection.own_changed_at)
        hindrance = await self._checkpointer.before(run)
        if not hindrance:
            self._going.add(run)
        elif not self._going:
            await asyncio.shield(asyncio.to_thread(self._inspection.forget))
        return hindrance

    async def after(self, run: str) -> Changes:
        self._going.discard(run)
        note, self._note = f"{self._note} {await self._look()}".strip(), ""
        changes = await self._checkpointer.after(run)
        return replace(changes, note=note) if note else changes

    async def restoring(self, work: Callable[[], Awaitable[Undone]]) -> Undone:
        """Let runs be taken back or made again. What comes back is code's as well: it may have been
        armed in the moment in which it was kept."""
        try:
            told = await self._do(self._inspection.before)
        except (OSError, ValueError) as error:
            return Undone("failed", problem=f"Nothing was put back, because {_words(error)}.")
        done = Undone("failed")
        try:
            done = await work()
        finally:
            note = f"{told} {await self._look()}".strip()
        return replace(done, note=note) if note else done

    async def close(self) -> None:
        """No code runs any more: look once more for what it left since its last run."""
        try:
            note = await self._do(self._inspection.finish)
        except (OSError, ValueError) as error:
            note = _UNFINISHED.format(_words(error))
        if note:
            log.warning("what a program left that code had started: %s", note)

    async def _look(self) -> str:
        """Put out of action what is code's; returns a note on it."""
        look = partial(self._inspection.after, others=bool(self._going))
        try:
            return await self._do(look)
        except (OSError, ValueError) as error:
            log.warning("what a run left could not be looked through: %s", _words(error))
            return _UNFINISHED.format(_words(error))

    async def _do(self, look: Callable[[Sequence[Path]], str]) -> str:
        """In a thread of its own, and to its end, even if nobody waits for it any more."""
        return await asyncio.shield(asyncio.to_thread(look, self._writable()))


def _words(error: OSError | ValueError) -> str:
    words = error.strerror if isinstance(error, OSError) else None
    return (words or str(error)).rstrip(".")
