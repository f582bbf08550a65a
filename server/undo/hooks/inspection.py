"""Looks through the folders that code may write to, before and after each run, for what would run
unasked outside of the sandbox, and puts out of action what may be code's. Blocking: a thread's.

What was there when a folder was first looked at is the person's own: it is remembered how it was
before each run, and what is different after it is code's doing. All else is code's, whenever it
came, and must prove itself harmless at every look. What cannot be looked at is closed.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.protection.repositories import Kind, Repositories
from sayso.server.runtimes.protection.writable_folders import (
    PASSED_OVER,
    Place,
    TooMuch,
    Walk,
    WritableFolders,
    entries,
    walk,
)
from sayso.server.runtimes.protection.write_protected_files import other_systems, startup_files
from sayso.server.undo.hooks.disarming import Judgement
from sayso.server.undo.hooks.knowledge import Knowledge, Stamp
from sayso.server.undo.hooks.recovery import (
    CannotRecover,
    RecoveryFile,
    devices_now,
    is_there,
)
from sayso.server.undo.hooks.set_ids import SetIds

STAMPS_MOST: Final = 100_000
"""Hooks and startup files of the person's own: many times what there is."""

_TICK_NS: Final = 20_000_000
"""File systems date changes by the kernel's clock, which ticks every 1 to 10 ms."""


class Inspection:
    """Of one conversation's folders."""

    def __init__(self, recovery: RecoveryFile) -> None:
        self._lock = threading.Lock()
        self._recovery = recovery
        self._recovered = False
        self._remembered = Knowledge()
        self._set_ids = SetIds()
        self._confined = False
        """Whether the latest run has folders that it was let write to."""
        self._ran = False
        """Whether code ran, or may have, since all was looked through."""
        self.own_changed_at = 0
        """When the latest of what is the person's own had been changed for sure, in nanoseconds."""

    def recover(self) -> str:
        """Put out of action what is code's of before this server started; returns a note on it.
        An OSError says that not all could be: until then no code runs."""
        with self._lock:
            return self._recover()

    def accept(self) -> None:
        """The person takes for theirs what could not be recovered. Raises OSError."""
        with self._lock:
            if not self._recovered:
                self._recovery.remove()
                self._recovery.release()
                self._recovered = True

    def before(self, paths: Sequence[Path]) -> str:
        """Remember what is the person's own, on the disk, too. An OSError says why that cannot
        be."""
        with self._lock:
            recovered = self._recover()
            with self._opened(paths) as folders:
                look = _Look(self._remembered, folders, modes=not self._set_ids.knows(folders))
                look.judge(ran=self._ran)
                self._confined = any(path in folders.paths for path in paths)
                if self._confined:
                    self._remembered = look.remembered()
                    self.own_changed_at = self._remembered.changed_at + _TICK_NS
                    self._set_ids.remember(folders, look.seen)
                    self._remembered.set_ids = self._set_ids.known
                    self._recovery.begin(self._remembered)
                    self._ran = True
                else:
                    self._set_ids.forget()
                    self._recovery.remove()
                    self._recovery.release()
                return f"{recovered} {look.note}".strip()

    def after(self, paths: Sequence[Path], *, others: bool = False) -> str:
        """Put out of action what is code's; returns a note on it. An OSError says that not all
        could be. `others`: more code runs there, which may change it again."""
        with self._lock:
            if not self._confined:
                return ""
            with self._opened(paths) as folders:
                note = self._look_again(folders)
            self._ran = others
            if not others:
                self._recovery.looked()
            return note

    def finish(self, paths: Sequence[Path]) -> str:
        """The same once more, when no code runs there any more, where any ran. What a person
        changed of their own meanwhile is theirs."""
        with self._lock:
            try:
                if not self._remembered.roots:
                    return ""
                with self._opened(paths) as folders:
                    note = self._look_again(folders, ran=self._ran)
                self._recovery.remove()
                return note
            finally:
                self._recovery.release()

    def forget(self) -> None:
        """No code ran after all."""
        with self._lock:
            self._ran = False
            self._recovery.looked()

    def _opened(self, paths: Sequence[Path]) -> WritableFolders:
        """What code may write to now, and what it could when it ran and nobody looked since."""
        ran_in = self._remembered.roots.items() if self._ran else ()
        there = (root for root, known in ran_in if is_there(root, known))
        return WritableFolders(tuple(dict.fromkeys((*paths, *there))))

    def _look_again(self, folders: WritableFolders, *, ran: bool = True) -> str:
        look = _Look(self._remembered, folders, modes=True)
        cleared = self._set_ids.clear(folders, look.seen)
        look.judge(ran=ran)
        self._ran = False
        return f"{look.note} {cleared}".strip()

    def _recover(self) -> str:
        if self._recovered:
            return ""
        try:
            found = self._recovery.load()
            note = "" if found is None else self._look_as_after(*found)
            self._recovery.remove()
        except (OSError, ValueError) as error:
            words = error.strerror if isinstance(error, OSError) else None
            raise CannotRecover(words or str(error)) from error
        finally:
            self._recovery.release()
        self._recovered = True
        return note

    def _look_as_after(self, knowledge: Knowledge, ran: bool) -> str:
        """What `after`, or `finish`, of the ended server would have done."""
        with WritableFolders(tuple(knowledge.roots)) as folders:
            knowledge = knowledge.on(devices_now(knowledge, folders))
            look = _Look(knowledge, folders, modes=True)
            cleared = SetIds(knowledge.set_ids).clear(folders, look.seen)
            look.judge(ran=ran)
            return f"{look.note} {cleared}".strip()


class _Look:
    """One look at all folders."""

    def __init__(self, before: Knowledge, folders: WritableFolders, *, modes: bool) -> None:
        self._before = before
        self._folders = folders
        self._new = {
            number for number, path in enumerate(folders.paths) if path not in before.roots
        }
        self.seen = seen = self._walk(modes=modes)
        self._repositories = Repositories(folders, seen.repositories, seen.pointers)
        self._startup = startup_files(folders) | other_systems(seen)
        self._judgement = Judgement(folders, self._repositories, self._startup)

    @property
    def note(self) -> str:
        return self._judgement.note

    def _walk(self, *, modes: bool) -> Walk:
        paths = self._folders.paths
        known = {
            (number, inode)
            for number, path in enumerate(paths)
            for inode in self._before.inodes.get(path, ())
        }
        return walk(self._folders, known, modes=modes)

    # --- whose it is ---

    def _is_new(self, place: Place) -> bool:
        """Whether it lies where nothing was looked at before."""
        if place.root not in self._new:
            return False
        shown = self._folders.shown(place)
        return not any(shown.is_relative_to(root) for root in self._before.roots)

    def _is_codes(self, place: Place) -> bool:
        """Whether it came since, and is nothing that the person has or could have."""
        return self._folders.shown(place) not in self._before.watched and not self._is_new(place)

    def _is_own(self, git: Place) -> bool:
        """Whether a repository is the person's."""
        if self._is_new(git):
            return True
        status = self._folders.status(git)
        known = self._before.repositories.get(self._folders.shown(git))
        return status is not None and known == _stamp(status)

    # --- judging ---

    def judge(self, *, ran: bool) -> None:
        """Close what is code's. `ran`: whether code may have changed what is the person's own."""
        judge = self._judgement
        for place in self.seen.unfinished:
            judge.unfinished(place, own=self._is_new(place) or not ran)
        judge.failed(self.seen.failed)
        for path, kind in self._before.watched.items():
            watched = self._folders.place(str(path))
            if watched is not None and (ran or path not in self._before.stamps):
                with judge.closing(watched):
                    self._compare(watched, kind)
        for pointer in filter(self._is_codes, self.seen.pointers):
            with judge.closing(pointer):
                judge.pointer(pointer)
        for git in self._repositories.all:
            if not self._is_own(git):
                judge.repository(git)
        for place in filter(self._is_codes, self._startup):
            with judge.closing(place):
                judge.runs(place)
        judge.finish()

    def _compare(self, place: Place, kind: Kind) -> None:
        """Judge what is the person's own, and is another than it was."""
        judge = self._judgement
        status = self._folders.status(place)
        before = self._before.stamps.get(self._folders.shown(place))
        if status is None:
            return
        if kind == "runs" and stat.S_ISDIR(status.st_mode) and before in (None, _stamp(status)):
            inside = _files(self._folders, place)
            judge.changed(place, [each for each in inside if self._is_other(each)])
        elif before != _stamp(status):
            match kind:
                case "settings":
                    judge.settings(place, place.parent)
                case "steps":
                    judge.steps(place)
                case "pointer" if place.name.lower() == ".git":
                    judge.pointer(place)
                case _:
                    judge.runs(place)

    def _is_other(self, place: Place) -> bool:
        status = self._folders.status(place)
        known = self._before.stamps.get(self._folders.shown(place))
        return status is not None and known != _stamp(status)

    # --- remembering ---

    def remembered(self) -> Knowledge:
        """What is the person's own now."""
        now = Knowledge()
        for number, path in enumerate(self._folders.paths):
            with self._folders.folder(Place(number, "")) as descriptor:
                now.roots[path] = Identity.of(descriptor)
        for root, inode in self.seen.inodes:
            now.inodes.setdefault(self._folders.paths[root], set()).add(inode)
        for git in self._repositories.all:
            status = self._folders.status(git)
            if status is not None and self._is_own(git):
                now.repositories[self._folders.shown(git)] = _stamp(status)
                self._watch(now, self._repositories.parts(git))
        own = (place for place in self.seen.pointers if not self._is_codes(place))
        self._watch(now, dict.fromkeys(own, "pointer"))
        self._watch(now, self._startup)
        newest = self._stamp_all(now)
        if 0 <= (fresh := time.time_ns() - newest) < _TICK_NS:
            # What changes again in the same tick of the clock would look the same.
            time.sleep((_TICK_NS - fresh) / 1e9)
            newest = self._stamp_all(now)
        now.changed_at = newest
        return now

    def _watch(self, now: Knowledge, parts: Mapping[Place, Kind]) -> None:
        for place, kind in parts.items():
            now.watched.setdefault(self._folders.shown(place), kind)

    def _stamp_all(self, now: Knowledge) -> int:
        """Returns when the latest change was, as nanoseconds."""
        newest = 0
        now.stamps.clear()
        for path, kind in now.watched.items():
            top = self._folders.place(str(path))
            if top is None:
                continue
            inside = _files(self._folders, top) if kind == "runs" else ()
            for place in (top, *inside):
                if status := self._folders.status(place):
                    now.stamps[self._folders.shown(place)] = _stamp(status)
                    newest = max(newest, 0 if stat.S_ISDIR(status.st_mode) else status.st_ctime_ns)
            if len(now.stamps) > STAMPS_MOST:
                raise TooMuch(
                    f"there are more than {STAMPS_MOST} hooks and startup files where code may"
                    " write; let it write in a smaller folder"
                )
        return newest


def _files(folders: WritableFolders, place: Place) -> Iterator[Place]:
    """All that lies in a folder but folders; nothing if it is none. Repositories in it are judged
    by themselves."""
    status = folders.status(place)
    waiting = [place] if status is not None and stat.S_ISDIR(status.st_mode) else []
    while waiting:
        try:
            for found, is_folder in entries(folders, waiting.pop(), STAMPS_MOST):
                if not is_folder:
                    yield found
                elif found.name != ".git":
                    waiting.append(found)
        except OSError as error:
            if error.errno not in PASSED_OVER:
                raise


def _stamp(status: os.stat_result) -> Stamp:
    if stat.S_ISDIR(status.st_mode):
        return status.st_dev, status.st_ino
    return (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_uid,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
