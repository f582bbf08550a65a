"""Limits what all conversations store together: the least recently used are dropped first."""

import fcntl
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Final

from sayso.server.undo.hooks.recovery import ENDINGS

_LOCK: Final = ".lock"


class UndoQuota:
    """Of one conversation's archive among the others, which lie in the same folder."""

    def __init__(self, own: Path, total_bytes: int) -> None:
        self._own = own
        self._total = total_bytes

    def left(self, own_bytes: int) -> int:
        """How many bytes may be added; `own_bytes` is what is kept of this conversation."""
        others = (size for files in self._others().values() for size in map(_size, files))
        return self._total - own_bytes - sum(others)

    def make(self, missing: int) -> None:
        """Let go of what is kept of others that nobody has open, until so many bytes are free."""
        others = self._others().values()
        for files in sorted(others, key=lambda files: max(map(_used_at, files))):
            if missing <= 0:
                return
            missing -= _let_go(files)

    def _others(self) -> dict[str, list[Path]]:
        """The files of each other archive, without what a look is owed by."""
        found: dict[str, list[Path]] = defaultdict(list)
        for path in self._own.parent.iterdir():
            name = path.name.partition(".")[0]
            if path.suffix not in (_LOCK, *ENDINGS) and name != self._own.stem:
                found[name].append(path)
        return found


def _let_go(files: list[Path]) -> int:
    """Remove an archive, unless it is in use; returns the bytes that were freed."""
    name = files[0].name.partition(".")[0]
    with files[0].with_name(name + _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        freed = sum(map(_size, files))
        for path in files:
            path.unlink(missing_ok=True)
        return freed


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _used_at(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
