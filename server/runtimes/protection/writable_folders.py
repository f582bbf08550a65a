"""The folders that code may write to, held open, and a walk through all that is in them.

Code may swap a folder for a link at any moment, so a place here is an open folder and a path below
it, and each name on the way is opened from the one above, links refused.
"""

import contextlib
import errno
import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.folder_identity import open_folder

FOLDERS_MOST: Final = 100_000
"""As many are looked into: two seconds, which an interpreter's start and a run can bear once."""

DEPTH_MOST: Final = 100
"""Folders within each other: more than any project has, and each costs as many steps."""

CLOSED: Final = ".disarmed"
"""So end the names of what was put out of action."""

_LINKS_MOST: Final = 40
"""As many the kernel follows."""

_PATH_MOST: Final = 4_096
"""PATH_MAX: longer paths the kernel refuses as well."""

_ROOM: Final = 512
"""For what a repository has below the folder that it is in."""

PASSED_OVER: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM)
"""It is gone, is no folder any more, or is another user's, whose code cannot be in there."""

_TELLING: Final = frozenset({".git", "head", "objects", "refs", "commondir"})
"""Names by which git knows a repository, in lower case: some file systems know no other."""


class TooMuch(OSError):
    """What lies in the folders cannot be looked through; the text says what to do."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EPERM, text)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A path in one of the folders."""

    root: int
    """Which folder, by its number."""
    path: str
    """Below it; empty for the folder itself."""

    @property
    def name(self) -> str:
        return paths_beneath.name_of(self.path)

    @property
    def parent(self) -> "Place":
        return Place(self.root, self.path.rpartition("/")[0])

    @property
    def above(self) -> "Iterator[Place]":
        """The places that it lies in, the inner ones first, without the folder itself."""
        place = self.parent
        while place.path:
            yield place
            place = place.parent

    @property
    def depth(self) -> int:
        return self.path.count("/") + 1 if self.path else 0

    def below(self, name: str) -> "Place":
        return Place(self.root, f"{self.path}/{name}" if self.path else name)


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a path leads."""

    place: Place | None
    """None if that is nowhere in the folders."""
    links: tuple[Place, ...]
    """The symbolic links in the folders that it leads through."""


class WritableFolders:
    """Some folders, open until `close`."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.paths = tuple(folder for folder in folders if folder.is_dir())
        self._roots: list[int] = []
        self._doors: list[paths_beneath.OpenedFolders] = []

    def __enter__(self) -> Self:
        try:
            for path in self.paths:
                self._roots.append(open_folder(path))
                self._doors.append(paths_beneath.OpenedFolders(self._roots[-1]))
        except OSError:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close them, and give all permissions back."""
        for doors in self._doors:
            with contextlib.suppress(OSError):
                doors.close()
        for root in self._roots:
            os.close(root)
        self._roots, self._doors = [], []

    def shown(self, place: Place) -> Path:
        """The place as others name it."""
        return self.paths[place.root] / place.path

    def identity(self, root: int) -> tuple[int, int]:
        """Device and inode of one of the folders."""
        status = os.fstat(self._roots[root])
        return status.st_dev, status.st_ino

    def folder(self, place: Place) -> contextlib.AbstractContextManager[int]:
        """A descriptor of the folder at a place."""
        return paths_beneath.folder(self._roots[place.root], place.path)

    def holder(self, place: Place) -> contextlib.AbstractContextManager[tuple[int, str]]:
        """A descriptor of the folder that holds a place, and the place's name in it."""
        return paths_beneath.folder_of(self._roots[place.root], place.path)

    def open_up(self, place: Place) -> bool:
        """Have a folder that is closed to its owner opened, for as long as these are open."""
        try:
            return self._doors[place.root].open(place.path, stat.S_IRUSR | stat.S_IXUSR)
        except OSError:
            return False

    def status(self, place: Place) -> os.stat_result | None:
        """What is there, a link itself included; None if nothing is, or cannot be seen."""
        if not place.path:
            return os.fstat(self._roots[place.root])
        try:
            with self.holder(place) as (holder, name):
                return paths_beneath.status(holder, name)
        except OSError:
            return None

    def text(self, place: Place, most: int) -> bytes | None:
        """What a plain file says; None if it is none, cannot be read, or says more than that."""
        try:
            with self.holder(place) as (holder, name):
                return paths_beneath.text(holder, name, most)
        except OSError:
            return None

    def resolve(self, start: Path, path: str) -> Resolved:
        """Find where a path leads that counts from a folder, as the kernel would."""
        links: list[Place] = []
        followed = 0
        at: list[str] = []
        if "\0" in path or len(os.fsencode(path)) > _PATH_MOST:
            return Resolved(None, ())
        todo = [*reversed(str(start / path).split("/"))]
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                del at[-1:]
                continue
            at.append(name)
            place = self.place("/" + "/".join(at))
            target = self._target(place, "/" + "/".join(at))
            if target is None:
                continue
            followed += 1
            if followed > _LINKS_MOST:
                return Resolved(None, tuple(links))
            if place is not None:
                links.append(place)
            at = [] if target.startswith("/") else at[:-1]
            todo += reversed(target.split("/"))
        return Resolved(self.place("/" + "/".join(at)), tuple(links))

    def place(self, path: str) -> Place | None:
        """Where in the folders a path without links lies."""
        for number, root in enumerate(map(str, self.paths)):
            if path == root:
                return Place(number, "")
            if path.startswith(root.rstrip("/") + "/"):
                return Place(number, path[len(root.rstrip("/")) + 1 :])
        return None

    def _target(self, place: Place | None, path: str) -> str | None:
        """What a link says; None if there is no link."""
        try:
            if place is None:
                return os.readlink(path)  # noqa: PTH115 - outside, where code writes nothing
            if not place.path:
                return None
            with self.holder(place) as (holder, name):
                return os.readlink(name, dir_fd=holder)
        except OSError:
            return None


@dataclass(slots=True)
class Walk:
    """What was seen of all folders within the folders."""

    repositories: list[Place] = field(default_factory=list)
    """Folders that git may take for a repository, outer ones first."""
    pointers: list[Place] = field(default_factory=list)
    """What is called `.git` and is no folder."""
    others: list[Place] = field(default_factory=list)
    """Folders in which Mercurial or Jujutsu keep what is theirs."""
    inodes: set[tuple[int, int]] = field(default_factory=set)
    """The root's number and the inode of each folder that was looked into."""
    unfinished: list[Place] = field(default_factory=list)
    """Folders that were not looked into, because there are too many or they lie too deep."""
    failed: list[OSError] = field(default_factory=list)
    """Why others were not."""
    set_ids: list[tuple[Place, tuple[int, int]]] = field(default_factory=list)
    """Set-user-id and set-group-id programs with device and inode, if they were looked for."""


def walk(
    folders: WritableFolders, known: Set[tuple[int, int]] = frozenset(), *, modes: bool = False
) -> Walk:
    """Look into all folders, but for the objects of a `.git`: first those that are known, then the
    others, each from the outside in; last, as far as there is room, what was shut before. `modes`:
    whether to look for set-id programs, among objects as well."""
    seen = Walk()
    first = deque((Place(number, ""), 0) for number in range(len(folders.paths)))
    later: deque[tuple[Place, int]] = deque()
    last: deque[tuple[Place, int]] = deque()
    looked = 0
    while first or later or last:
        shut = not first and not later
        place, inode = (first or later or last).popleft()
        if not shut and place.name.endswith(CLOSED) and _is_shut(folders, place):
            if not os.geteuid():  # nobody else gets in
                last.append((place, inode))
            continue
        if looked >= FOLDERS_MOST or place.depth > DEPTH_MOST or _is_long(folders, place):
            if not shut:
                seen.unfinished.append(place)
            continue
        looked += 1
        try:
            below = _look(folders, place, seen, modes=modes)
        except OSError as error:
            if error.errno not in PASSED_OVER:
                seen.failed.append(error)
            continue
        seen.inodes.add((place.root, inode))
        for name, number in below:
            queue = last if shut else first if (place.root, number) in known else later
            queue.append((place.below(name), number))
    if modes:
        _look_among_objects(folders, seen)
    return seen


def _look_among_objects(folders: WritableFolders, seen: Walk) -> None:
    waiting = [git.below("objects") for git in seen.repositories if git.name.lower() == ".git"]
    for looked, place in enumerate(waiting):
        if looked >= FOLDERS_MOST or place.depth > DEPTH_MOST:
            seen.failed.append(TooMuch("git's objects there are in too many folders"))
            return
        try:
            below = _look(folders, place, Walk(set_ids=seen.set_ids), modes=True)
        except OSError as error:
            if error.errno not in PASSED_OVER:
                seen.failed.append(error)
            continue
        waiting += (place.below(name) for name, _ in below)


def _look(
    folders: WritableFolders, place: Place, seen: Walk, *, modes: bool
) -> Sequence[tuple[str, int]]:
    """Look into one folder; return those in it, with their inodes."""
    try:
        with folders.folder(place) as descriptor:
            return _entries(descriptor, place, seen, modes=modes)
    except PermissionError:
        if not folders.open_up(place):
            raise
    with folders.folder(place) as descriptor:
        return _entries(descriptor, place, seen, modes=modes)


def _is_long(folders: WritableFolders, place: Place) -> bool:
    """Whether what lies in a folder has paths that cannot be mounted."""
    return len(os.fsencode(folders.shown(place))) > _PATH_MOST - _ROOM


def _is_shut(folders: WritableFolders, place: Place) -> bool:
    """Whether it is a folder that was closed because it could not be looked through."""
    status = folders.status(place)
    return status is not None and not stat.S_IMODE(status.st_mode)


def _entries(
    descriptor: int, place: Place, seen: Walk, *, modes: bool
) -> Sequence[tuple[str, int]]:
    below: list[tuple[str, int]] = []
    telling: set[str] = set()
    with os.scandir(descriptor) as entries:
        for entry in entries:
            name = entry.name.lower()
            folder = entry.is_dir(follow_symlinks=False)
            if name in _TELLING:
                telling.add(name)
                if name == ".git" and not folder:
                    seen.pointers.append(place.below(entry.name))
            if modes and not folder and (file := _set_id(entry)):
                seen.set_ids.append((place.below(entry.name), file))
            if folder:
                below.append((entry.name, entry.inode()))
                if name in (".hg", ".jj"):
                    seen.others.append(place.below(entry.name))
    is_git = place.name.lower() == ".git"
    whole = "commondir" in telling or {"objects", "refs"} <= telling
    if is_git or ("head" in telling and whole):
        seen.repositories.append(place)
    return [each for each in below if each[0] != "objects"] if is_git else below


def _set_id(entry: os.DirEntry[str]) -> tuple[int, int] | None:
    try:
        found = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if found.st_mode & (stat.S_ISUID | stat.S_ISGID) and stat.S_ISREG(found.st_mode):
        return found.st_dev, found.st_ino
    return None


def entries(folders: WritableFolders, place: Place, most: int) -> Iterator[tuple[Place, bool]]:
    """The names in a folder, and whether each is a folder; at most so many."""
    with folders.folder(place) as descriptor, os.scandir(descriptor) as found:
        for number, entry in enumerate(found):
            if number >= most:
                return
            yield place.below(entry.name), entry.is_dir(follow_symlinks=False)
