"""Scans a folder: which paths exist, and which of them must be read again. Writes nothing."""

import os
import stat
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import Final, Literal

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.writable_folders import DEPTH_MOST
from sayso.server.undo.partial_files import DRAFT
from sayso.server.undo.tree import Entry, Kind, Tree, Unkept

TICK_NS: Final = 20_000_000
"""File systems date changes by the kernel's clock, which ticks every 1 to 10 ms."""

COARSE_NS: Final = 2_000_000_000
"""Some file systems date to the second, FAT to two."""

_KINDS: Final = (
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISFIFO, "pipe"),
)


class TooManyFiles(Exception):
    """There are more paths than are looked after."""


_CHARS: Final = 256
"""A path that is longer counts for several: it takes as much memory."""


@dataclass(slots=True)
class Scan:
    """What was seen."""

    entries: dict[str, Entry] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    """Files that are new, or may have changed since they were read. Their content is unknown."""
    only: str = ""
    room: int = 0
    """How many more paths there may be; long ones count for several."""
    drafts: list[str] = field(default_factory=list)
    """What Sayso itself left behind when it was ended in the middle of writing."""

    def make_room(self, path: str) -> None:
        """Raises TooManyFiles."""
        self.room -= 1 + len(path) // _CHARS
        if self.room < 0:
            raise TooManyFiles


_READ: Final = stat.S_IRUSR | stat.S_IXUSR


def look(
    root: int,
    known: Tree,
    most: int,
    opened_folders: paths_beneath.OpenedFolders,
    skip: Set[tuple[int, int]] = frozenset(),
    only: str = "",
) -> Scan:
    """See what is in an open folder, but for what lies deeper than code may leave anything.

    What looks as it is known is taken over as it is known. `most`: paths; TooManyFiles is raised
    beyond. `opened_folders`: opens what is closed, until everything is read. `skip`: devices and
    inodes of folders to leave out. `only`: look at nothing but this name in the folder.
    """
    view = Scan(only=only, room=most)
    waiting = [""]
    while waiting:
        path = waiting.pop()
        if path.count("/") >= DEPTH_MOST:
            continue
        try:
            with paths_beneath.folder(root, path) as opened:
                waiting += _look_into(opened, path and path + "/", known, view, skip)
        except PermissionError:
            if not path:
                raise
            if opened_folders.open(path, _READ):
                waiting.append(path)
                continue
            # What cannot be seen is taken to be as it was: it is not gone.
            inside = path + "/"
            view.entries.update({p: entry for p, entry in known.items() if p.startswith(inside)})
        except OSError:
            if not path:
                raise
            view.entries.pop(path, None)  # gone since, or something else by now
    return view


def _look_into(
    descriptor: int, prefix: str, known: Tree, view: Scan, skip: Set[tuple[int, int]]
) -> list[str]:
    """See the names in one folder; return the folders among them."""
    below = []
    entries, unread = view.entries, view.unread
    with os.scandir(descriptor) as names:
        for found in names:
            if view.only and found.name != view.only:
                continue
            path = prefix + found.name
            view.make_room(path)
            try:
                status = found.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            before = known.get(path)
            if before is not None and _is_as_known(before, status):
                entries[path] = before
                if before.kind == "folder":
                    below.append(path)
                continue
            kind = kind_of(status)
            if found.name.startswith(DRAFT):
                view.drafts.append(path)
                continue
            if kind == "folder":
                if (status.st_dev, status.st_ino) in skip:
                    continue
                below.append(path)
            content = _target(descriptor, found.name) if kind == "link" else b""
            entries[path] = entry_of(kind, status, content)
            if kind == "file":
                unread.append(path)
    return below


def _is_as_known(known: Entry, status: os.stat_result) -> bool:
    return (
        known.ctime_ns == status.st_ctime_ns
        and known.mtime_ns == status.st_mtime_ns
        and known.size == status.st_size
        and known.inode == status.st_ino
        and known.device == status.st_dev
    )


def _target(descriptor: int, name: str) -> bytes:
    try:
        return os.fsencode(os.readlink(name, dir_fd=descriptor))
    except OSError:
        return b""


def kind_of(status: os.stat_result) -> Kind:
    for matches, kind in _KINDS:
        if matches(status.st_mode):
            return kind  # type: ignore[return-value]
    return "other"


def entry_of(
    kind: Kind,
    status: os.stat_result,
    content: bytes = b"",
    unkept: Unkept | Literal[""] = "",
    seen_ns: int = 0,
) -> Entry:
    """`seen_ns`: when it was looked at; zero for now. A date that is too fresh is not trusted."""
    return Entry(
        kind=kind,
        mode=stat.S_IMODE(status.st_mode),
        owner=status.st_uid,
        group=status.st_gid,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        content=content,
        unkept=unkept,
        ctime_ns=_trusted(status.st_ctime_ns, seen_ns or time.time_ns()),
        inode=status.st_ino,
        device=status.st_dev,
        links=status.st_nlink,
    )


def _trusted(ctime_ns: int, seen_ns: int) -> int:
    margin = TICK_NS if ctime_ns % 1_000_000_000 else COARSE_NS
    return ctime_ns if seen_ns - ctime_ns > margin else 0


Keep = Callable[[int, os.stat_result], tuple[bytes, Unkept | Literal[""]]]
"""Keeps the content of an open file; returns its name, or why it is not kept."""

_TRIES: Final = 3
"""Reading a file that is being written: more tries seldom help."""


def read(root: int, path: str, keep: Keep) -> Entry | None:
    """Read one file and have it kept; None if there is no file any more."""
    try:
        with paths_beneath.folder_of(root, path) as (holder, name):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                descriptor = os.open(name, flags, dir_fd=holder)
            except PermissionError:
                found = paths_beneath.status(holder, name)
                return entry_of("file", found, unkept="unreadable") if found else None
            try:
                return _read_open(descriptor, keep)
            finally:
                os.close(descriptor)
    except OSError:
        return None


def _read_open(descriptor: int, keep: Keep) -> Entry | None:
    for _ in range(_TRIES):
        seen_ns, status = time.time_ns(), os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        content, unkept = keep(descriptor, status)
        after = os.fstat(descriptor)
        if (after.st_size, after.st_mtime_ns, after.st_ctime_ns) == (
            status.st_size,
            status.st_mtime_ns,
            status.st_ctime_ns,
        ):
            return entry_of("file", status, content, unkept, seen_ns)
    return entry_of("file", status, content, unkept, status.st_ctime_ns)
