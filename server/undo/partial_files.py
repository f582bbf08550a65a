"""Recognises Sayso's own unfinished files in the person's folders; undo ignores them."""

import fcntl
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from sayso.server.runtimes.protection import paths_beneath

DRAFT: Final = ".sayso-draft-"
"""So its name begins until it is whole."""


def remove(root: int, paths: Iterable[str]) -> None:
    """Remove those that a crash left behind, below a folder."""
    for path in paths:
        with suppress(OSError), paths_beneath.folder_of(root, path) as (holder, name):
            found = paths_beneath.status(holder, name)
            if found and stat.S_ISDIR(found.st_mode):
                os.rmdir(name, dir_fd=holder)
            elif not (found and stat.S_ISREG(found.st_mode) and _is_written(holder, name)):
                os.unlink(name, dir_fd=holder)


def _is_written(holder: int, name: str) -> bool:
    """Whether somebody holds the file's lock, as an upload does that is not all here yet."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC  # it may be a pipe by now
    descriptor = os.open(name, flags, dir_fd=holder)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
