"""Keeps on the disk what was the person's own before a run, so that what code leaves is looked
through by the next server where this one is killed.

The file is called `.running` while code runs, or may have run since all was looked through, and
`.looked` between two runs; there is none once the conversation was left. Blocking: a thread's.
"""

import contextlib
import errno
import fcntl
import os
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection.folder_identity import Identity, open_folder
from sayso.server.runtimes.protection.writable_folders import Place, TooMuch, WritableFolders
from sayso.server.undo.hooks import knowledge as forms
from sayso.server.undo.hooks.knowledge import Knowledge

ENDINGS: Final = (".running", ".looked", ".draft", ".inspection")
"""Of all files here; the last is locked while code runs."""


class CannotRecover(OSError):
    """What the last server's code left cannot be looked through; the text says what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            errno.EPERM,
            "Sayso was ended before it had looked through what code here left for git or a login to"
            f" run, and now that cannot be done: {reason}. No code runs in this conversation until"
            " it can; /reset takes all that is there for yours",
        )


class RecoveryFile:
    """Of one conversation; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        """`path`: a name in Sayso's own folder; the files have it with other endings."""
        self._running, self._looked, self._draft, self._lock_path = (
            path.with_suffix(ending) for ending in ENDINGS
        )
        self._lock: int | None = None
        """Held while code runs."""
        self._kept: Knowledge | None = None
        """What the file says, if this server wrote it."""
        self._at: Path | None = None
        """What it is called."""

    @property
    def is_there(self) -> bool:
        """Whether a server was ended before it had looked through what its code left."""
        return self._running.exists() or self._looked.exists()

    def load(self) -> tuple[Knowledge, bool] | None:
        """What an ended server knew, and whether code ran since it looked; None if it owes no look.
        Raises OSError, and ValueError for what it cannot have written."""
        if not self.is_there:
            return None
        self._acquire()
        for path in (self._running, self._looked):
            with contextlib.suppress(FileNotFoundError):
                return forms.read(path.read_bytes()), path == self._running
        return None

    def begin(self, knowledge: Knowledge) -> None:
        """Code is about to run; returns when all of this is on the disk. Raises OSError."""
        self._acquire()
        if self._at == self._running and knowledge == self._kept:
            return
        at, self._at = self._at, None
        if at != self._looked or knowledge != self._kept or not self._renamed():
            self._write(forms.write(knowledge))
            self._looked.unlink(missing_ok=True)
            self._kept = knowledge
        _sync(self._running.parent)
        self._at = self._running

    def looked(self) -> None:
        """All that code left was looked through."""
        if self._at == self._running:
            # Where the name stays, it is only looked through once more.
            with contextlib.suppress(OSError):
                self._at = self._running.rename(self._looked)
        self.release()

    def remove(self) -> None:
        """No look is owed any more. Raises OSError."""
        if self.is_there:
            self._acquire()
        self._running.unlink(missing_ok=True)
        self._looked.unlink(missing_ok=True)
        self._at = self._kept = None

    def release(self) -> None:
        """Another server may run the conversation's code."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _acquire(self) -> None:
        if self._lock is not None:
            return
        self._lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            if isinstance(error, BlockingIOError):
                words = "another Sayso server keeps the same conversation"
                raise OSError(errno.EBUSY, words) from None
            raise
        self._lock = lock

    def _renamed(self) -> bool:
        try:
            self._looked.rename(self._running)
        except FileNotFoundError:  # another server removed it
            return False
        return True

    def _write(self, text: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with open(os.open(self._draft, flags, 0o600), "wb") as file:  # noqa: PTH123
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._draft.replace(self._running)


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def is_there(root: Path, known: Identity) -> bool:
    """Whether a folder is there still, to which no link leads, and no other in its place."""
    try:
        os.close(open_folder(root, known))
    except OSError:
        return False
    return True


def devices_now(knowledge: Knowledge, folders: WritableFolders) -> dict[int, int]:
    """The numbers that devices have now, which may be others since the machine was started. Raises
    TooMuch where a folder is not there, or not the one that it was."""
    numbers = {path: number for number, path in enumerate(folders.paths)}
    devices: dict[int, int] = {}
    for path, known in knowledge.roots.items():
        if path not in numbers:
            raise TooMuch(f"{path} is not there")
        with folders.folder(Place(numbers[path], "")) as descriptor:
            found = Identity.of(descriptor)
        if not known.is_same(found) or devices.setdefault(known.device, found.device) != (
            found.device
        ):
            raise TooMuch(f"{path} is another folder than it was")
    return devices
