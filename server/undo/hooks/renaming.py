"""Disables a file or folder by renaming it to a name that no program looks for.

Works on descriptors only, because code may be swapping what is in the folder at the same time.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from typing import Final

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.git_settings import harmless_part
from sayso.server.runtimes.protection.repositories import SETTINGS_MOST_BYTES
from sayso.server.runtimes.protection.writable_folders import CLOSED, Place, WritableFolders

_TRIES: Final = 5
"""Code that swaps things while they are renamed wins a few times at most, or is told of."""


def disarm(folders: WritableFolders, place: Place) -> bool:
    """Rename what is there; returns whether anything was."""
    for left in reversed(range(_TRIES)):
        try:
            with folders.holder(place) as (holder, name), _writable(holder):
                return _rename(holder, name)
        except FileNotFoundError:
            return False
        except OSError:
            if not left:
                raise
    return False


def close_folder(folders: WritableFolders, place: Place) -> bool:
    """Make a folder one that nobody gets into, before it is renamed."""
    with contextlib.suppress(OSError), folders.holder(place) as (holder, name):
        paths_beneath.set_mode(holder, name, 0)
    return disarm(folders, place)


def close_repository(folders: WritableFolders, git: Place) -> bool:
    """Make a folder none that git takes for a repository."""
    closed = disarm(folders, git.below("HEAD"))
    return disarm(folders, git) if git.name.lower() == ".git" else closed


def put_right(folders: WritableFolders, place: Place, worktree: Callable[[str], bool]) -> bool:
    """Let git's settings keep what does no harm of what they say now; returns whether that is less
    than they said."""
    with folders.holder(place) as (holder, name), _writable(holder):
        found, text = _read(holder, name)
        if found is None:
            return False
        harmless = b"" if text is None else harmless_part(text, worktree)
        if harmless == text:
            return False
    if not disarm(folders, place) or not harmless:
        return True
    with folders.holder(place) as (holder, name), _writable(holder):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(name, flags, 0o600, dir_fd=holder), "wb") as file:  # noqa: PTH123
            file.write(harmless)
            if found.st_uid != os.geteuid():
                os.fchown(file.fileno(), found.st_uid, found.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(found.st_mode) & 0o666)
    return True


def _read(holder: int, name: str) -> tuple[os.stat_result | None, bytes | None]:
    """What is there, and what it says; None if it is no plain file or says too much."""
    found = paths_beneath.status(holder, name)
    if found is None or not stat.S_ISREG(found.st_mode):
        return found, None
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
        handle = os.open(name, flags, dir_fd=holder)
    except OSError:
        return found, None
    try:
        return os.fstat(handle), paths_beneath.text_of(handle, SETTINGS_MOST_BYTES)
    finally:
        os.close(handle)


def _rename(holder: int, name: str) -> bool:
    if paths_beneath.status(holder, name) is None:
        return False
    try:
        os.rename(name, name + CLOSED, src_dir_fd=holder, dst_dir_fd=holder)
    except FileNotFoundError:
        return False
    except OSError:  # the name is too long, or taken by what cannot be replaced
        free = secrets.token_hex(8) + CLOSED
        os.rename(name, free, src_dir_fd=holder, dst_dir_fd=holder)
    return True


@contextlib.contextmanager
def _writable(holder: int) -> Iterator[None]:
    """Names can be changed in a folder of ours that is closed to us, for as long as it takes."""
    found = os.fstat(holder)
    mode = stat.S_IMODE(found.st_mode)
    if mode & stat.S_IRWXU == stat.S_IRWXU or found.st_uid != os.geteuid():
        yield
        return
    os.fchmod(holder, mode | stat.S_IRWXU)
    try:
        yield
    finally:
        os.fchmod(holder, mode)
