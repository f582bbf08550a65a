"""A conversation's checkpoints, for the event loop: what `UndoStore` does, in a thread of its
own."""

import asyncio
import contextlib
import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from sayso.server.store.changes import NO_CHANGES, Changes
from sayso.server.undo.archive import Archive, ArchiveInUse
from sayso.server.undo.diff import compared, former
from sayso.server.undo.results import Undone
from sayso.server.undo.roots import Root
from sayso.server.undo.store import Room, UndoStore

log = logging.getLogger(__name__)

ALIVE_S: Final = 5.0
"""How often it is noted that a run still runs: after a crash, what changed later was not its."""

Answer = TypeVar("Answer")


def archive_of(folder: Path, conversation: str) -> Path:
    """The file in which a conversation's checkpoints lie; others beside it begin with its name."""
    name = hashlib.blake2b(conversation.encode(), digest_size=16).hexdigest()
    return folder / f"{name}.sqlite"


class Checkpoints:
    """Made and used on the event loop; `open` it, and `close` it once."""

    def __init__(
        self,
        folder: Path,
        conversation: str,
        workspace: Path,
        writable: Callable[[], Sequence[Path]],
        room: Room,
    ) -> None:
        """`folder`: where archives lie. `writable`: the folders and files that code may write to
        now."""
        self._path = archive_of(folder, conversation)
        self._workspace = workspace
        self._writable = writable
        self._roots: dict[Path, Root] = {}
        self._room = room
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sayso-undo")
        self._archive: Archive | None = None
        self._store: UndoStore | None = None
        self._trouble = ""
        self._telling: dict[str, asyncio.Task[None]] = {}
        """By run: notes that it still runs."""

    def open(self) -> None:
        """Begin to scan the folders in the background; callers that need them wait for it."""
        self._do(self._open, self._now())

    async def opened(self) -> None:
        """Returns when the folders are taken in."""
        await asyncio.shield(self._do(lambda: None))

    async def close(self) -> None:
        """Finish what was begun."""
        for run in list(self._telling):
            self._rest(run)
        await asyncio.shield(self._do(self._close))
        self._thread.shutdown(wait=False)

    # --- Checkpointer ---

    async def before(self, run: str) -> str:
        """Keep what the run may change. Returns why it must not run; empty if it may."""
        keeping = self._do(self._before, run, self._now())
        try:
            hindrance = await asyncio.shield(keeping)
        except asyncio.CancelledError:
            self._do(self._forget, run)
            raise
        if not hindrance:
            self._telling[run] = asyncio.create_task(self._tell_alive(run))
        return hindrance

    async def after(self, run: str, code: str = "") -> Changes:
        """The run is over; returns what it changed. `code`: what ran."""
        self._rest(run)
        return await asyncio.shield(self._do(self._after, run, self._now(), code))

    # --- taking back ---

    async def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone:
        """Take back the first of these groups of runs that changed anything, so many at most."""
        wanted = [tuple(group) for group in groups]
        return await asyncio.shield(self._do(self._safely, lambda store: store.undo(wanted, most)))

    async def redo(self) -> Undone:
        """Make again what was taken back last."""
        return await asyncio.shield(self._do(self._safely, UndoStore.redo))

    async def diff(self, groups: Iterable[Sequence[str]], most: int = 1) -> str:
        """What `undo` would take back, as text; empty if there is nothing."""
        wanted = [tuple(group) for group in groups]
        return await asyncio.shield(self._do(self._diff, wanted, most))

    async def changed(self, groups: Iterable[Sequence[str]]) -> Sequence[bool]:
        """For each of these groups of runs, whether there is anything of it to take back."""
        wanted = [tuple(group) for group in groups]
        return await asyncio.shield(self._do(self._changed, wanted))

    async def former(self, runs: Sequence[str]) -> dict[str, str]:
        """What these runs changed, by path: git's name of what was there before, empty where
        nothing was; without what is not kept."""
        return await asyncio.shield(self._do(self._former, tuple(runs)))

    # --- in the thread ---

    def _open(self, roots: Sequence[Root]) -> None:
        try:
            self._store = self._opened()
            self._store.open(roots)
        except ArchiveInUse:
            self._trouble = "another Sayso server keeps the same conversation"
        except (OSError, sqlite3.Error) as error:
            self._trouble = _words(error)
            log.warning("checkpoints cannot be kept in %s: %s", self._path, self._trouble)

    def _opened(self) -> UndoStore:
        try:
            self._archive = Archive.open(self._path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            # What is damaged is no use for taking anything back; it must not stop new work.
            damaged = self._path.with_suffix(".damaged")
            log.warning("%s is damaged (%s) and was moved to %s", self._path, error, damaged)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._path.replace(damaged)
            self._archive = Archive.open(self._path)
        own = self._path.parent.stat()
        return UndoStore(
            self._archive, self._workspace, self._room, frozenset({(own.st_dev, own.st_ino)})
        )

    def _close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def _before(self, run: str, roots: Sequence[Root]) -> str:
        if self._store is None:
            self._open(roots)
        if self._store is not None:
            try:
                self._store.before(run, roots)
            except (OSError, sqlite3.Error) as error:
                self._trouble = _words(error)
            else:
                return ""
        return (
            f"It did not run, because what it might change cannot be kept for undoing:"
            f" {self._trouble}. Mend that, or set undo.total_mb to 0 to run code without undo."
        )

    def _after(self, run: str, roots: Sequence[Root], code: str) -> Changes:
        if self._store is None:
            return NO_CHANGES
        try:
            return self._store.after(run, roots, code)
        except (OSError, sqlite3.Error) as error:
            # It stays open in the archive: the next look at the folders closes it.
            log.warning("what a run changed could not be kept: %s", _words(error))
            return NO_CHANGES

    def _forget(self, run: str) -> None:
        if self._store is not None:
            with contextlib.suppress(OSError, sqlite3.Error):
                self._store.forget(run)

    def _alive(self, run: str) -> None:
        if self._store is not None:
            with contextlib.suppress(sqlite3.Error):
                self._store.alive(run)

    def _safely(self, work: Callable[[UndoStore], Undone]) -> Undone:
        if self._store is None:
            return Undone("failed", problem=f"Nothing can be taken back: {self._trouble}.")
        try:
            return work(self._store)
        except (OSError, sqlite3.Error) as error:
            return Undone("failed", problem=f"That did not work: {_words(error)}.")

    def _changed(self, groups: Sequence[Sequence[str]]) -> Sequence[bool]:
        if self._store is None:
            return [False] * len(groups)
        return [self._store.can_take_back(group) for group in groups]

    def _former(self, runs: Sequence[str]) -> dict[str, str]:
        try:
            return former(self._store, runs) if self._store else {}
        except (OSError, sqlite3.Error) as error:
            log.warning("what was there before is not known: %s", _words(error))
            return {}

    def _diff(self, groups: Sequence[Sequence[str]], most: int) -> str:
        if self._store is None:
            return ""
        try:
            return compared(self._store, self._store.changed(groups, most))
        except (OSError, sqlite3.Error) as error:
            return f"That did not work: {_words(error)}."

    # --- helpers ---

    def _do(self, work: Callable[..., Answer], *arguments: object) -> asyncio.Future[Answer]:
        loop = asyncio.get_running_loop()
        return loop.run_in_executor(self._thread, partial(work, *arguments))

    def _now(self) -> Sequence[Root]:
        """What is granted now; what lies in a granted folder is seen with that."""
        writable = self._writable()
        for path in writable:
            if (root := self._roots.get(path)) is None or not root.is_there():
                # What is there now was granted: the grants are gone through before each run. What
                # was deleted stays what it was; of a link nothing is kept.
                with contextlib.suppress(OSError):
                    self._roots[path] = Root.at(path)
        roots = list(dict.fromkeys(self._roots[path] for path in writable if path in self._roots))
        return [root for root in roots if not any(other.holds(root) for other in roots)]

    async def _tell_alive(self, run: str) -> None:
        while True:
            await asyncio.sleep(ALIVE_S)
            self._do(self._alive, run)

    def _rest(self, run: str) -> None:
        if telling := self._telling.pop(run, None):
            telling.cancel()


def _words(error: OSError | sqlite3.Error) -> str:
    words = error.strerror if isinstance(error, OSError) else None
    return (words or str(error)).rstrip(".").lower()
