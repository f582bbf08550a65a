"""Stores the state of folders before and after each run, and undoes runs. Blocks.

    before(run)   look at every folder, keep what is new, note that the run begins
    after(run)    look again: what is different is what the run changed
    undo(...)     look again: what is still as the run left it is put back

What changes between two runs is nobody's to take back, but it is kept: the next run may change it.
Where runs go on side by side, the earlier one is kept in parts (changes/run_parts.py).
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
from sayso.server.settings import MB, Undo
from sayso.server.store.changes import Changes
from sayso.server.undo import partial_files
from sayso.server.undo.archive import Archive, Run
from sayso.server.undo.changes.by_products import ByProducts
from sayso.server.undo.changes.listing import Line, lines_of, listed
from sayso.server.undo.changes.run_parts import RunParts, run_of
from sayso.server.undo.changes.seen_folder import SeenFolder
from sayso.server.undo.file_contents import pieces, stored_bytes
from sayso.server.undo.git.commits import as_it_is_now, made_for, without_commits
from sayso.server.undo.plan import Left, plan
from sayso.server.undo.quota import UndoQuota
from sayso.server.undo.restore import Restorer
from sayso.server.undo.results import Undone
from sayso.server.undo.roots import Root
from sayso.server.undo.scan import TooManyFiles, look, read
from sayso.server.undo.tree import Change, Entry, Unkept, joined

log = logging.getLogger(__name__)

RUNS_KEPT: Final = 1_000
"""Nobody goes back further; what they changed goes out earlier where room is short."""

GRACE_NS: Final = 15_000_000_000
"""A crashed server's run is known to have been alive to within 5 s; its end takes a moment."""

_USUAL: Final = Undo()


@dataclass(frozen=True, slots=True)
class Room:
    """How much is kept, as the settings have it (`settings/defaults/undo.py`)."""

    total_bytes: int = _USUAL.total_mb * MB
    all_bytes: int = _USUAL.house_mb * MB
    """Of all conversations together."""
    file_bytes: int = _USUAL.file_mb * MB
    files: int = _USUAL.files


class UndoStore:
    """Of one conversation. `roots`, wherever given: where code may write now."""

    def __init__(
        self, archive: Archive, workspace: Path, room: Room, skip: Set[tuple[int, int]]
    ) -> None:
        """`skip`: devices and inodes of folders that are Sayso's own."""
        self._workspace = workspace
        self._archive = archive
        self._room = room
        self._quota = UndoQuota(archive.path, room.all_bytes)
        self._skip = skip
        self._trees: dict[int, dict[str, Entry]] = {}
        self._numbers: dict[Root, int] = {}
        self._runs = {run.name: run for run in archive.runs()}
        self._going = RunParts()
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
        for part in self._open_of(self._going.latest):
            self._end(part, roots)  # what has changed until now is what it changed
        self._close_open(roots)
        seen = self._see(roots)
        with self._whole():
            self._write(seen)
            for old in list(self._runs)[: max(0, len(self._runs) - RUNS_KEPT)]:
                self._archive.forget(old)
            self._archive.begin(run, time.time_ns())
        self._going.begin(run)

    def after(self, run: str, roots: Sequence[Root], code: str = "") -> Changes:
        """What the run changed. `code`: what ran."""
        parts = self._going.end(run)
        ended = [self._end(part, roots, code) for part in self._open_of(parts)]
        self._go_on()
        if ended and len(parts) == 1:
            return ended[0]
        joined = self.joined_changes(parts)
        told = [line for root, found in joined.items() for line in lines_of(root, found)]
        by_products = [each for found in joined.values() for each in found if each.by_product]
        return listed(told, sum(each.matters for each in by_products))

    def alive(self, run: str) -> None:
        """It still runs."""
        for part in self._open_of(self._going.of(run)):
            self._archive.alive(part.name, time.time_ns())

    def forget(self, run: str) -> None:
        """It did not run after all."""
        self._going.end(run)
        with self._whole():
            self._archive.forget(run)
        self._go_on()

    def _open_of(self, parts: Sequence[str]) -> list[Run]:
        return [run for run in self._runs.values() if run.name in parts and run.status == "open"]

    def _go_on(self) -> None:
        """A run is over: what changes from now on is what the latest other one changes."""
        if self._going and not self._anything_runs:
            with self._whole():
                self._archive.begin(self._going.next_part(), time.time_ns())

    def _close_open(self, roots: Sequence[Root]) -> None:
        for run in [run for run in self._runs.values() if run.status == "open"]:
            self._end(run, roots, by_ns=run.alive_ns + GRACE_NS)

    def _end(self, run: Run, roots: Sequence[Root], code: str = "", by_ns: int = 0) -> Changes:
        """`by_ns`: what was changed later was not changed by this run; zero if it ends now."""
        told: list[Line] = []
        commits: list[str] = []
        by_products = 0
        seen = self._see(roots)
        with self._whole():
            self._write(seen)
            for folder in seen:
                found = [each for each in folder.found if not by_ns or _was_by(each, by_ns)]
                if found:
                    found = ByProducts(folder.known, self.content, code).mark(found)
                self._archive.end(run.name, folder.number, found)
                beside, first_lines = without_commits(found, self.content)
                told += lines_of(folder.root.shown(self._workspace), beside)
                commits += first_lines
                by_products += sum(change.matters and change.by_product for change in found)
            self._archive.mark([run.name], "done")
        return listed(told, by_products, commits)

    # --- taking back ---

    def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone:
        """Take back the first groups of runs that changed anything and are not undone, so many at
        most; where one did nothing but commit, together with what it committed."""
        if self._anything_runs:
            return Undone("running")
        runs = self.changed(groups, most)
        if not runs:
            return Undone("nothing")
        number = 1 + max(run.taken_back for run in self._runs.values())
        undone = self._restore(runs, self._joined(runs))
        if undone.outcome == "done" and not undone.may_be_tried_again:
            with self._whole():
                self._archive.mark(runs, "undone", number)
        return undone

    def redo(self) -> Undone:
        """Make the changes again that were taken back last."""
        undone = [run for run in self._runs.values() if run.status == "undone"]
        if self._anything_runs:
            return Undone("running")
        if not undone:
            return Undone("nothing")
        latest = max(run.taken_back for run in undone)
        runs = [run.name for run in undone if run.taken_back == latest]
        again = {
            root: [change.reversed for change in found]
            for root, found in self._joined(runs).items()
        }
        redone = self._restore(runs, again)
        if redone.outcome == "done" and not redone.may_be_tried_again:
            with self._whole():
                self._archive.mark(runs, "done")
        return redone

    def changed(self, groups: Iterable[Sequence[str]], most: int = 1) -> tuple[str, ...]:
        """The runs that `undo` would take back, the first one first."""
        there = [runs for group in groups if (runs := self._to_take_back(group))]
        chosen = {run for group in there[:most] for run in group}
        for number in range(min(most, len(there))):
            for other in made_for(
                number,
                lambda each: self._joined(there[each]) if each < len(there) else None,
                lambda root, folder: self._tree(root).get(f"{folder}/index"),
                self.content,
            ):
                chosen.update(there[other])
        return tuple(name for name in self._runs if name in chosen)

    @property
    def _anything_runs(self) -> bool:
        return any(run.status == "open" for run in self._runs.values())

    def can_take_back(self, group: Sequence[str]) -> bool:
        """Whether these runs changed something to speak of, and are not undone."""
        return bool(self._to_take_back(group))

    def _to_take_back(self, group: Sequence[str]) -> list[str]:
        """All runs of a request, if any of them changed something to speak of."""
        known = [run for run in self._runs.values() if run_of(run.name) in group]
        done = [run for run in known if run.status == "done"]
        return [run.name for run in done] if any(run.matters for run in done) else []

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
        lines: list[Line] = []
        commits: list[str] = []
        left: list[Left] = []
        for number, changed in wanted.items():
            root = Root.read(paths[number])
            shown = root.shown(self._workspace)
            self._take_in(root)
            now = self._tree(number)
            found = [as_it_is_now(change, now, self.content) for change in changed]
            todo = plan(found, now)
            try:
                with root.opened() as descriptor:
                    failed = self._restorer(root, descriptor, now).restore(todo.steps)
            except OSError as error:
                log.info("a folder is not there to be put back: %s", error.strerror)
                failed = [Left(step.path, "no_folder") for step in todo.steps]
            self._take_in(root)
            done = {step.path for step in todo.steps} - {one.path for one in failed}
            back = [change.reversed for change in found if change.path in done and change.matters]
            told, first_lines = without_commits(back, self.content, gone=True)
            lines += lines_of(shown, told)
            commits += first_lines
            aside = {change.path for change in found if not change.told}
            missed = [one for one in failed if one.path not in aside]
            left += [Left(shown + one.path, one.reason) for one in (*todo.left, *missed)]
        return Undone.of(lines, commits, left, runs)

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

    def _see(self, roots: Sequence[Root], *, tidy: bool = False) -> list[SeenFolder]:
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
                    seen.append(SeenFolder(root, descriptor, number, known, view))
                    if tidy:
                        partial_files.remove(descriptor, view.drafts)
            if any(folder.view.unread for folder in seen):
                self._read(seen)
        return seen

    def _write(self, seen: Iterable[SeenFolder]) -> None:
        for folder in seen:
            known, now = folder.known, folder.view.entries
            new = [(path, entry) for path, entry in now.items() if known.get(path) is not entry]
            gone = [(path, None) for path in known.keys() - now.keys()]
            self._archive.update(folder.number, [*new, *gone])
            self._trees[folder.number] = now

    def _read(self, seen: Sequence[SeenFolder]) -> None:
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
            self._quota.make(needed - self._quota.left(self._archive.used_bytes()))
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
        return min(self._room.total_bytes - used, self._quota.left(used))


def _was_by(change: Change, by_ns: int) -> bool:
    """Whether it had happened by then. A deletion has no date, but undoing it destroys nothing."""
    return change.after is None or (change.after.ctime_ns or time.time_ns()) <= by_ns
