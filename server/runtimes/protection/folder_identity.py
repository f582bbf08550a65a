"""Recognises a folder by its device and inode, because a path is looked up anew each time.

Code that may write around a granted folder can put another folder, or a link to somewhere else, in
its place. So nothing here follows a link, and what was opened is compared with what was known.
"""

import ctypes
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ON_LINUX: Final = sys.platform == "linux"
_HANDLE: Final = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINK_ON_THE_WAY: Final = 0x2000_0000
"""macOS's O_NOFOLLOW_ANY: no name of the path may be a link."""


_STATFS_BYTES: Final = 256
"""struct statfs has 120; what kind of file system it is comes first."""

_FAT: Final = (0x4D44, 0x2011_BAB0)
"""Of vfat and exfat, as statfs(2) has it: on memory cards and sticks. They know no links, and give
a folder a new number each time it is looked up after a while, so there its path must do."""


def _gives_new_numbers(handle: int) -> bool:
    if not _ON_LINUX:
        return False
    told = ctypes.create_string_buffer(_STATFS_BYTES)
    failed = ctypes.CDLL(None).fstatfs(ctypes.c_int(handle), told)
    return not failed and ctypes.c_long.from_buffer(told).value in _FAT


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return secrets.token_hex(8)


BOOT: Final = _boot()
"""Names the time since this machine started; where it has no name, since this process did."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Which folder it is."""

    device: int
    inode: int
    boot: str = BOOT
    """When it was looked at: disks get other numbers at the next start."""

    @classmethod
    def of(cls, handle: int) -> "Identity":
        """The one of an open folder."""
        status = os.fstat(handle)
        return cls(status.st_dev, 1 if _gives_new_numbers(handle) else status.st_ino)

    def is_same(self, other: "Identity") -> bool:
        """Whether both are the same folder."""
        known = self.boot == other.boot
        return self.inode == other.inode and (self.device == other.device or not known)


NOWHERE: Final = Identity(0, 0)
"""No folder is this one."""


@contextmanager
def handle_of(path: Path) -> Iterator[int]:
    """A descriptor of a place that no link leads to; it can be looked at, and opened from.

    Raises OSError, with ELOOP or ENOTDIR where a link is on the way.
    """
    handle = _opened(path)
    try:
        if stat.S_ISLNK(os.fstat(handle).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        yield handle
    finally:
        os.close(handle)


def _opened(path: Path) -> int:
    if not path.is_absolute() or ".." in path.parts:
        raise OSError(errno.EINVAL, "no whole path", str(path))
    if not _ON_LINUX:
        return os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | _NO_LINK_ON_THE_WAY)
    handle = os.open(path.anchor, _HANDLE | os.O_DIRECTORY)
    for number, name in enumerate(path.parts[1:], 2):
        on_the_way = os.O_DIRECTORY if number < len(path.parts) else 0
        try:
            below = os.open(name, _HANDLE | on_the_way, dir_fd=handle)
        finally:
            os.close(handle)
        handle = below
    return handle


def look_at(path: Path) -> tuple[os.stat_result, Identity]:
    """What is there now, and by what it is recognised: a folder by itself; a file by the folder
    that holds it, because programs save a file by putting a new one in its place.

    Raises OSError where a link leads there, and for a file that has other names: code that may
    write there may have given that name to a file from elsewhere.
    """
    with handle_of(path) as handle:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            return status, Identity.of(handle)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        raise OSError(errno.EMLINK, "it is a file with several names", str(path))
    with handle_of(path.parent) as holder:
        return status, Identity.of(holder)


def open_folder(path: Path, known: Identity | None = None) -> int:
    """A descriptor of a folder to which no link leads, and which is the one that is known.

    Raises OSError.
    """
    with handle_of(path) as handle:
        folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=handle)
    if known is not None and not known.is_same(Identity.of(folder)):
        os.close(folder)
        raise OSError(errno.ESTALE, "another folder is in its place", str(path))
    return folder
