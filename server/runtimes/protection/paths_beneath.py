"""Opens paths in a folder that untrusted code writes to, without following a link out of it.

Code that runs in a workspace may swap a folder for a link at any moment. So nothing here opens a
path of several names at once: each folder is opened from the one above it, and links are refused.
"""

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_HANDLE = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


def name_of(path: str) -> str:
    """The last name of a path."""
    return path.rpartition("/")[2]


@contextmanager
def folder(root: int, path: str) -> Iterator[int]:
    """A descriptor of a folder beneath the root; the root itself for an empty path."""
    opened = os.dup(root)
    try:
        for name in path.split("/") if path else ():
            below = os.open(name, FOLDER, dir_fd=opened)
            os.close(opened)
            opened = below
        yield opened
    finally:
        os.close(opened)


@contextmanager
def folder_of(root: int, path: str) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that holds a path, and the path's name in it."""
    with folder(root, path.rpartition("/")[0]) as holder:
        yield holder, name_of(path)


def status(holder: int, name: str) -> os.stat_result | None:
    """What is there, links themselves included; None if nothing is."""
    try:
        return os.stat(name, dir_fd=holder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def text(holder: int, name: str, most: int) -> bytes | None:
    """What a plain file says; None if it is none, or says more than so many bytes."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
    handle = os.open(name, flags, dir_fd=holder)
    try:
        return text_of(handle, most)
    finally:
        os.close(handle)


def text_of(handle: int, most: int) -> bytes | None:
    """The same of an open file."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        return None
    said = b""
    while len(said) <= most and (more := os.read(handle, most + 1 - len(said))):
        said += more
    return said if len(said) <= most else None


@contextmanager
def handle(holder: int, name: str) -> Iterator[tuple[str, os.stat_result]]:
    """A path that stays what a name stands for now, a link itself included, and what that is. Linux
    has such."""
    opened = os.open(name, _HANDLE, dir_fd=holder)
    try:
        yield f"/proc/self/fd/{opened}", os.fstat(opened)
    finally:
        os.close(opened)


def set_mode(holder: int, name: str, mode: int) -> None:
    """Change permissions of a file or folder, even one that may not be read; never a link's."""
    if sys.platform != "linux":
        os.chmod(name, mode, dir_fd=holder, follow_symlinks=False)
        return
    handle = os.open(name, _HANDLE, dir_fd=holder)
    try:
        if not stat.S_ISLNK(os.fstat(handle).st_mode):
            os.chmod(f"/proc/self/fd/{handle}", mode)  # noqa: PTH101 (a descriptor, no path)
    finally:
        os.close(handle)


def clear_mode(holder: int, name: str, bits: int, file: tuple[int, int]) -> bool:
    """Take bits from the mode of a plain file of ours; returns whether it had any. Raises
    FileNotFoundError if it is not this one any more, by device and inode."""
    flags = _HANDLE if sys.platform == "linux" else os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(name, flags | os.O_CLOEXEC, dir_fd=holder)
    try:
        found = os.fstat(handle)
        if (found.st_dev, found.st_ino) != file:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if not ours or not found.st_mode & bits:
            return False
        mode = stat.S_IMODE(found.st_mode) & ~bits
        if sys.platform == "linux":
            os.chmod(f"/proc/self/fd/{handle}", mode)  # noqa: PTH101 (a descriptor, no path)
        else:
            os.fchmod(handle, mode)
        return True
    finally:
        os.close(handle)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, however deep, closed or full that is, and nothing
    that links lead to.

    Folders in it are moved to its top, one by one, and emptied there: no path gets long, and few
    folders are open at a time. Raises OSError, with the path as its file name, if anything is left.
    """
    holder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    trouble: list[OSError] = []
    try:
        with _opened_up(holder, path.name) as top:
            waiting = _emptied(top, top, trouble)
            while waiting:
                name = waiting.pop()
                try:
                    with _opened_up(top, name) as inner:
                        waiting += _emptied(inner, top, trouble)
                    os.rmdir(name, dir_fd=top)
                except OSError as error:
                    trouble.append(error)
        os.rmdir(path.name, dir_fd=holder)
    except FileNotFoundError:
        raise
    except OSError as error:
        trouble.append(error)
    finally:
        os.close(holder)
    if trouble:
        raise OSError(trouble[0].errno, trouble[0].strerror, str(path)) from trouble[0]


@contextmanager
def _opened_up(holder: int, name: str) -> Iterator[int]:
    """A descriptor of a folder that is open to its owner from now on."""
    with suppress(PermissionError):
        set_mode(holder, name, stat.S_IRWXU)
    opened = os.open(name, FOLDER, dir_fd=holder)
    try:
        yield opened
    finally:
        os.close(opened)


def _emptied(opened: int, top: int, trouble: list[OSError]) -> list[str]:
    """Remove what is in a folder; return the names that folders in it have at the top now."""
    moved = []
    with os.scandir(opened) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        try:
            if not is_folder:
                os.unlink(name, dir_fd=opened)
                continue
            with suppress(PermissionError):  # whoever moves a folder must be able to write to it
                set_mode(opened, name, stat.S_IRWXU)
            free = secrets.token_hex(16)
            os.rename(name, free, src_dir_fd=opened, dst_dir_fd=top)
            moved.append(free)
        except OSError as error:
            trouble.append(error)
    return moved


def _set_mode_of_folder(holder: int, name: str, mode: int) -> None:
    """The same of a folder, and of nothing that is put in its place."""
    if sys.platform != "linux":
        set_mode(holder, name, mode)
        return
    with handle(holder, name) as (place, found):
        if stat.S_ISDIR(found.st_mode):
            os.chmod(place, mode)  # noqa: PTH101 (a descriptor, no path)


class OpenedFolders:
    """Opens folders that are closed to their owner, for as long as it takes."""

    def __init__(self, root: int) -> None:
        self._root = root
        self.opened: dict[str, int] = {}
        """The permissions that they had."""

    def open(self, path: str, rights: int) -> bool:
        """Have a folder opened that lacks some of these rights; False if it cannot be or need not.

        The folders above it must be open.
        """
        with folder_of(self._root, path) as (holder, name):
            found = status(holder, name)
            if found is None or not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                return False
            mode = stat.S_IMODE(found.st_mode)
            if mode & rights == rights:
                return False
            self.opened.setdefault(path, mode)
            _set_mode_of_folder(holder, name, mode | stat.S_IRWXU)
            return True

    def close(self) -> None:
        """Give them all their permissions back, the deepest first."""
        for path, mode in sorted(self.opened.items(), reverse=True):
            with suppress(OSError), folder_of(self._root, path) as (holder, name):
                _set_mode_of_folder(holder, name, mode)
        self.opened.clear()
