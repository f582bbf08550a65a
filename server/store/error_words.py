"""The database's and the system's errors, in words for the person."""

import errno
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from sayso.server.store.errors import StoreError, StoreFull

_UNWRITABLE: Final = (
    "SQLITE_READONLY",
    "SQLITE_CANTOPEN",
    "SQLITE_PERM",
    "EACCES",
    "EPERM",
    "EROFS",
)
_FULL: Final = ("SQLITE_FULL", "ENOSPC", "EDQUOT")
_DAMAGED: Final = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
_LOCKED: Final = ("SQLITE_BUSY", "SQLITE_LOCKED")

Answer = TypeVar("Answer")


def explained(path: Path, work: Callable[[], Answer]) -> Callable[[], Answer]:
    """The same work, with the database's and the system's errors in words for the person."""

    def work_and_explain() -> Answer:
        try:
            return work()
        except (sqlite3.Error, OSError) as problem:
            raise _explain(path, problem) from problem

    return work_and_explain


def _explain(path: Path, problem: sqlite3.Error | OSError) -> StoreError:
    if isinstance(problem, OSError):
        name = errno.errorcode.get(problem.errno or 0, "")
    else:
        name = getattr(problem, "sqlite_errorname", "")
    if name.startswith(_FULL):
        return StoreFull(f"The disk with {path.parent} is full; free some space and ask again.")
    if name.startswith(_UNWRITABLE):
        return StoreError(f"Sayso may not write {path}; make it writable or choose another home.")
    if name.startswith(_DAMAGED):
        return StoreError(f"{path} is damaged or no Sayso log; move it away and start again.")
    if name.startswith(_LOCKED):
        return StoreError(f"Another program keeps {path} locked; close it and ask again.")
    return StoreError(f"The log {path} could not be used ({problem}); check the disk, ask again.")
