"""Writes what a plan says, all of it or nothing: a change that can't be made takes back the others.

Each file is written beside its place and then put there in one step, so nobody ever sees half of
one. Before that it must still be what the plan was made from.
"""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

from .folders import Folders, Place, PlaceError
from .patch_plan import Change, hash_of
from .text_file import MOST_BYTES

_NEW_FILE = 0o666
"""Its bits before the mask of whoever writes it, as for every other program."""


class WriteError(Exception):
    """Nothing was changed; the message is a sentence that says why."""


@dataclass(slots=True)
class _Step:
    """One file on its way."""

    change: Change
    written: str = ""
    """The name under which its new contents wait beside it."""
    kept: str = ""
    """The name under which its old self waits beside it."""
    done: bool = False


@dataclass(slots=True)
class _Work:
    steps: list[_Step] = field(default_factory=list)
    made: list[Place] = field(default_factory=list)
    """Folders that were not there."""


def write(changes: Sequence[Change], folders: Folders) -> None:
    """Make these changes, all or none. Raises WriteError."""
    work = _Work()
    try:
        for change in changes:
            step = _Step(change)
            work.steps.append(step)
            _prepare(step, folders, work.made)
        for step in work.steps:
            _put(step, folders)
    except (OSError, PlaceError) as problem:
        _take_back(work, folders)
        raise WriteError(_sentence(problem, work)) from None
    except BaseException:
        _take_back(work, folders)
        raise
    _clear(work, folders)


def _sentence(problem: OSError | PlaceError, work: _Work) -> str:
    if isinstance(problem, PlaceError):
        return f"{problem} Nothing was changed."
    named = work.steps[-1].change.place.shown
    for step in work.steps:
        if not step.done:
            named = step.change.place.shown
            break
    if problem.errno == errno.EROFS:
        return (
            f"{named} can't be changed from here, it is open for reading only. Nothing was changed."
        )
    return f"{named} can't be written ({problem.strerror or problem}), so nothing was changed."


def _prepare(step: _Step, folders: Folders, made: list[Place]) -> None:
    """Write its new contents beside it, and see that it is what it was."""
    change = step.change
    place = change.place
    parent = Place(place.root, place.parent, place.shown)
    with folders.folder(parent, make=made) as folder:
        _check(change, folders, folder)
        if change.after is not None:
            step.written = _beside(place.name)
            _write_beside(step.written, change, folder)


def _check(change: Change, folders: Folders, folder: int) -> None:
    """It must still be what the plan was made from. Raises PlaceError and OSError."""
    place = change.place
    if change.before is None:
        with contextlib.suppress(FileNotFoundError):
            os.stat(place.name, dir_fd=folder, follow_symlinks=False)
            raise PlaceError(f"{place.shown} is there by now.")
        return
    now, _ = folders.read(place, MOST_BYTES)
    if hash_of(now) != hash_of(change.before):
        raise PlaceError(f"{place.shown} changed in the meantime.")


def _write_beside(name: str, change: Change, folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, _NEW_FILE, dir_fd=folder)
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(change.after or b"")
        if change.mode:
            os.fchmod(descriptor, change.mode)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put(step: _Step, folders: Folders) -> None:
    change, place = step.change, step.change.place
    with folders.folder(Place(place.root, place.parent, place.shown)) as folder:
        if change.before is None:
            # A link fails where anything is, and a renaming would put itself in its place.
            os.link(step.written, place.name, src_dir_fd=folder, dst_dir_fd=folder)
            step.done = True
            os.unlink(step.written, dir_fd=folder)
            step.written = ""
            return
        _check(change, folders, folder)
        if not stat.S_ISREG(os.stat(place.name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise PlaceError(f"{place.shown} is no plain file any more.")
        step.kept = _beside(place.name)
        os.link(place.name, step.kept, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        if change.after is None:
            os.unlink(place.name, dir_fd=folder)
        else:
            os.rename(step.written, place.name, src_dir_fd=folder, dst_dir_fd=folder)
            step.written = ""
        step.done = True


def _take_back(work: _Work, folders: Folders) -> None:
    for step in reversed(work.steps):
        place = step.change.place
        with (
            contextlib.suppress(OSError),
            folders.folder(Place(place.root, place.parent, place.shown)) as folder,
        ):
            if step.done and step.kept:
                os.rename(step.kept, place.name, src_dir_fd=folder, dst_dir_fd=folder)
                step.kept = ""
            elif step.done:
                os.unlink(place.name, dir_fd=folder)
            _remove_beside(step, folder)
    for made in reversed(work.made):
        with (
            contextlib.suppress(OSError),
            folders.folder(Place(made.root, made.parent, made.shown)) as folder,
        ):
            os.rmdir(made.name, dir_fd=folder)


def _clear(work: _Work, folders: Folders) -> None:
    for step in work.steps:
        place = step.change.place
        with (
            contextlib.suppress(OSError),
            folders.folder(Place(place.root, place.parent, place.shown)) as folder,
        ):
            _remove_beside(step, folder)


def _remove_beside(step: _Step, folder: int) -> None:
    for name in filter(None, (step.written, step.kept)):
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _beside(name: str) -> str:
    return f".{name[:100]}.{secrets.token_hex(6)}.sayso"
