"""Stores the state of folders before and after each run, and undoes runs. Blocks.

    before(run)   look at every folder, keep what is new, note that the run begins
    after(run)    look again: what is different is what the run changed
    undo(...)     look again: what is still as the run left it is put back

What changes between two runs is nobody's to take back, but it is kept: the next run may change it.
"""

import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.store.records import Changes
from sayso.server.undo import partial_files
from sayso.server.undo.archive import Archive, Run
from sayso.server.undo.file_contents import pieces, stored_bytes
from sayso.server.undo.plan import Left, plan
from sayso.server.undo.quota import UndoQuota
from sayso.server.undo.restore import Restorer
from sayso.server.undo.results import Outcome, Undone
from sayso.server.undo.roots import Root
from sayso.server.undo.scan import Scan, TooManyFiles, look, read
from sayso.server.undo.tree import Change, Entry, Unkept, changes, joined

log = logging.getLogger(__name__)

LISTED: Final = 100
"""Paths that a run's report names; nobody reads more, and messages and the log stay small."""

LISTED_CHARS: Final = 8_000
"""All these paths together: an eighth of a client's longest message."""

RUNS_KEPT: Final = 1_000
"""Nobody goes back further; what they changed goes out earlier where room is short."""

GRACE_NS: Final = 15_000_000_000
"""A crashed server's run is known to have been alive to within 5 s; its end takes a moment."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much is kept."""

    total_bytes: int = 2_000_000_000
    house_bytes: int = 10_000_000_000
    """Of all conversations together."""
    file_bytes: int = 100_000_000
    files: int = 200_000


@dataclass(frozen=True, slots=True)
class _Seen:
    """A folder, as it was just seen."""

    root: Root
    descriptor: int
    number: int
    known: Mapping[str, Entry]
    view: Scan

    @property
    def found(self) -> list[Change]:
        return changes(self.known, self.view.entries)


class UndoStore:
    """Of one conversation. `roots`, wherever given: where code may write now."""

    def __init__(
        self, archive: Archive, workspace: Path, room: Room, skip: Set[tuple[int, int]]
    ) -> None:
        """`skip`: devices and inodes of folders that are Sayso's own."""
        self._workspace = workspace
        self._archive = archive
        self._room = room
        self._house = UndoQuota(archive.path, room.house_bytes)
        self._skip = skip
        self._trees: dict[int, dict[str, Entry]] = {}
        self._numbers: dict[Root, int] = {}
        self._runs = {run.name: run for run in archive.runs()}
        self._needed: Set[str] = frozenset()
        """Runs that must not go out for want of room now."""
        self.unwatched: dict[Root, str] = {}
        """Folders that are not kept, and why."""

    # --- around a run ---

    def open(self, roots: Sequence[Root]) -> None:
        """Take in the folders as they are. What a crash left open is closed."""
        self._archive.sweep()
        self._close_open(roots)
        seen = self._see(roots, tidy=True)
        with self._whole():
            self._write(seen)

    def before(self, run: str, roots: Sequence[Root]) -> None:
        """Returns when everything is kept that the run could change."""
        self._close_open(roots)
        seen = self._see(roots)
        with self._whole():
            self._write(seen)
            for old in list(self._runs)[: max(0, len(self._runs) - RUNS_KEPT)]:
                self._archive.forget(old)
            self._archive.begin(run, time.time_ns())

    def after(self, run: str, roots: Sequence[Root]) -> Changes:
        """What the run changed."""
        found = self._runs.get(run)
        if found is None or found.status != "open":
            return Changes()
        return self._end(found, roots, by_ns=0)

    def alive(self, run: str) -> None:
        """It still runs."""
        self._archive.alive(run, time.time_ns())

    def forget(self, run: str) -> None:
        """It did not run after all."""
        with self._whole():
            self._archive.forget(run)

    def _close_open(self, roots: Sequence[Root]) -> None:
        for run in [run for run in self._runs.values() if run.status == "open"]:
            self._end(run, roots, by_ns=run.alive_ns + GRACE_NS)

    def _end(self, run: Run, roots: Sequence[Root], by_ns: int) -> Changes:
        """`by_ns`: what was changed later was not changed by this run; zero if it ends now."""
        told: list[tuple[str, Change]] = []
        seen = self._see(roots)
        with self._whole():
            self._write(seen)
            for folder in seen:
                found = folder.found
                if by_ns:
                    found = [change for change in found if _was_by(change, by_ns)]
                self._archive.end(run.name, folder.number, found)
                shown = folder.root.shown(self._workspace)
                told += [(shown + named(change), change) for change in found if change.matters]
            self._archive.mark([run.name], "done")
        return listed(told)

    # --- taking back ---

    def undo(self, groups: Iterable[Sequence[str]]) -> Undone:
        """Take back the first group of runs that changed anything and is not undone."""
        for group in groups:
            known = [self._runs[name] for name in group if name in self._runs]
            if any(run.status == "open" for run in known):
                return Undone("running")
            runs = [run.name for run in known if run.status == "done" and run.matters]
            if runs:
                number = 1 + max(run.taken_back for run in self._runs.values())
                undone = self._restore(runs, self._joined(runs))
                if undone.outcome == "done" and not _may_be_tried_again(undone):
                    with self._whole():
                        self._archive.mark(runs, "undone", number)
                return undone
        return Undone("nothing")

    def redo(self) -> Undone:
        """Make the changes again that were taken back last."""
        undone = [run for run in self._runs.values() if run.status == "undone"]
        if any(run.status == "open" for run in self._runs.values()):
            return Undone("running")
        if not undone:
            return Undone("nothing")
        latest = max(run.taken_back for run in undone)
        runs = [run.name for run in undone if run.taken_back == latest]
        again = {
            root: [Change(change.path, change.after, change.before) for change in found]
            for root, found in self._joined(runs).items()
        }
        redone = self._restore(runs, again)
        if redone.outcome == "done" and not _may_be_tried_again(redone):
            with self._whole():
                self._archive.mark(runs, "done")
        return redone

    def changed(self, groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
        """The runs that `undo` would take back."""
        for group in groups:
            known = [self._runs[name] for name in group if name in self._runs]
            if runs := [run.name for run in known if run.status == "done" and run.matters]:
                return tuple(runs)
        return ()

    def joined_changes(self, runs: Sequence[str]) -> dict[str, list[Change]]:
        """What these runs changed together, by what stands before the paths when they are shown."""
        keys = self._archive.roots()
        return {
            Root.read(keys[root]).shown(self._workspace): found
            for root, found in self._joined(runs).items()
        }

    def content(self, entry: Entry) -> bytes:
        """A whole content that is kept."""
        whole = bytearray(entry.size)
        for place, data in self._archive.content(entry.content):
            whole[place : place + len(data)] = data
        return bytes(whole)

    def _joined(self, runs: Sequence[str]) -> dict[int, list[Change]]:
        steps = [self._archive.changes(run) for run in runs]
        roots = {root for step in steps for root in step}
        return {root: joined(step.get(root, []) for step in steps) for root in roots}

    def _restore(self, runs: Sequence[str], wanted: Mapping[int, Sequence[Change]]) -> Undone:
        self._needed = frozenset(runs)
        paths = self._archive.roots()
        restored: list[str] = []
        removed: list[str] = []
        left: list[Left] = []
        for number, found in wanted.items():
            root = Root.read(paths[number])
            shown = root.shown(self._workspace)
            self._take_in(root)
            now = self._tree(number)
            todo = plan(found, now)
            try:
                with root.opened() as descriptor:
                    failed = self._restorer(root, descriptor, now).restore(todo.steps)
            except OSError as error:
                log.info("a folder is not there to be put back: %s", error.strerror)
                failed = [Left(step.path, "no_folder") for step in todo.steps]
            self._take_in(root)
            missed = {one.path for one in failed}
            mattered = {change.path: change for change in found if change.matters}
            for step in todo.steps:
                change = mattered.pop(step.path, None)
                if change and step.path not in missed:
                    path = shown + named(change)
                    (restored if change.before else removed).append(path)
            left += [Left(shown + one.path, one.reason) for one in (*todo.left, *failed)]
        outcome: Outcome = "blocked" if left and not restored and not removed else "done"
        left.sort(key=lambda one: one.path)
        return Undone(outcome, tuple(restored), tuple(removed), tuple(left), tuple(runs))

    def _restorer(self, root: Root, descriptor: int, now: Mapping[str, Entry]) -> Restorer:
        # A single file was granted as it is: another one in its place would not be granted.
        way: Literal["anew", "in place"] = "in place" if root.only else "anew"
        return Restorer(descriptor, self._archive.content, now, way)

    # --- looking ---

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """A transaction; what is remembered of the archive is what is in it."""
        try:
            with self._archive.whole():
                yield
        except BaseException:
            self._trees.clear()
            raise
        finally:
            self._runs = {run.name: run for run in self._archive.runs()}

    def _tree(self, root: int) -> dict[str, Entry]:
        if root not in self._trees:
            self._trees[root] = self._archive.entries(root)
        return self._trees[root]

    def _number(self, root: Root) -> int:
        if root not in self._numbers:
            self._numbers[root] = self._archive.root(root.key, root.key_of_before)
        return self._numbers[root]

    def _take_in(self, root: Root) -> None:
        seen = self._see([root])
        with self._whole():
            self._write(seen)

    def _see(self, roots: Sequence[Root], *, tidy: bool = False) -> list[_Seen]:
        """Look at folders, and keep the contents that are new."""
        seen = []
        with ExitStack() as opened:
            for root in roots:
                try:
                    descriptor = opened.enter_context(root.opened())
                    opened_folders = paths_beneath.OpenedFolders(descriptor)
                    opened.callback(opened_folders.close)
                    number = self._number(root)
                    known = self._tree(number)
                    view = look(
                        descriptor, known, self._room.files, opened_folders, self._skip, root.only
                    )
                except TooManyFiles:
                    self.unwatched[root] = f"it has more than {self._room.files} files"
                except OSError as error:
                    self.unwatched[root] = (error.strerror or str(error)).lower()
                else:
                    self.unwatched.pop(root, None)
                    seen.append(_Seen(root, descriptor, number, known, view))
                    if tidy:
                        partial_files.remove(descriptor, view.drafts)
            if any(folder.view.unread for folder in seen):
                self._read(seen)
        return seen

    def _write(self, seen: Iterable[_Seen]) -> None:
        for folder in seen:
            known, now = folder.known, folder.view.entries
            new = [(path, entry) for path, entry in now.items() if known.get(path) is not entry]
            gone = [(path, None) for path in known.keys() - now.keys()]
            self._archive.update(folder.number, [*new, *gone])
            self._trees[folder.number] = now

    def _read(self, seen: Sequence[_Seen]) -> None:
        """Keep what is new, small files first: so most files find room."""
        unread = [(folder, path) for folder in seen for path in folder.view.unread]
        unread.sort(key=lambda one: one[0].view.entries[one[1]].size)
        room = self._make_room([folder.view.entries[path].size for folder, path in unread])

        def keep(file: int, status: os.stat_result) -> tuple[bytes, Unkept | Literal[""]]:
            nonlocal room
            size = stored_bytes(status)
            if size > self._room.file_bytes:
                return b"", "too_big"
            if size > room:
                return b"", "no_room"
            room -= size
            return self._archive.keep(status.st_size, pieces(file, status)), ""

        with self._archive.whole():
            for folder, path in unread:
                entry = read(folder.descriptor, path, keep)
                if entry is None:
                    del folder.view.entries[path]
                else:
                    folder.view.entries[path] = entry

    def _make_room(self, sizes: Sequence[int]) -> int:
        """How many bytes may be added, once the oldest runs have gone out for them."""
        needed = sum(size for size in sizes if size <= self._room.file_bytes)
        old = [
            run.name
            for run in self._runs.values()
            if run.status != "open" and run.name not in self._needed
        ]
        room = self._left()
        if needed > room:
            self._archive.sweep()
            self._house.make(needed - self._house.left(self._archive.used_bytes()))
            room = self._left()
        while old and needed > room:
            half = (len(old) + 1) // 2
            with self._whole():
                for name in old[:half]:
                    self._archive.forget(name)
            del old[:half]
            self._archive.sweep()
            room = self._left()
        return room

    def _left(self) -> int:
        used = self._archive.used_bytes()
        return min(self._room.total_bytes - used, self._house.left(used))


def _may_be_tried_again(done: Undone) -> bool:
    """Whether something went wrong that may go right the next time."""
    return any(one.reason == "system" for one in done.left)


def _was_by(change: Change, by_ns: int) -> bool:
    """Whether it had happened by then. A deletion has no date, but undoing it destroys nothing."""
    return change.after is None or (change.after.ctime_ns or time.time_ns()) <= by_ns


def named(change: Change) -> str:
    """As it is shown: folders end with a slash."""
    there = change.after or change.before
    return change.path + ("/" if there and there.kind == "folder" else "")


def listed(changed: Sequence[tuple[str, Change]]) -> Changes:
    """As it is reported."""
    told: list[tuple[str, Change]] = []
    room = LISTED_CHARS
    for path, change in changed[:LISTED]:
        room -= len(path)
        if room < 0:
            break
        told.append((path, change))
    return Changes(
        added=tuple(path for path, change in told if change.before is None),
        changed=tuple(path for path, change in told if change.before and change.after),
        deleted=tuple(path for path, change in told if change.after is None),
        more=len(changed) - len(told),
    )
