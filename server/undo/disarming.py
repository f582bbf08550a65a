"""What code set up for git or a login to run unasked is put out of action when its run is over.

A sandbox closes the snares that exist when its interpreter starts (runtimes/sandbox/snares.py).
What code makes during a run, a whole repository for example, it may make; but hooks in it are
renamed, and its settings keep what only describes it. The same happens to what should have been
closed where a machine's Landlock cannot. Code's own version stays beside, with another name.
"""

import asyncio
import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sayso.server.agent.checkpointing import Checkpointer
from sayso.server.runtimes.sandbox import snares
from sayso.server.store.records import Changes
from sayso.server.undo import beneath
from sayso.server.undo.git_settings import harmless_part

DISARMED: Final = ".disarmed"
"""At the end of a name, it keeps git and shells from taking it for theirs."""

_HARMLESS_ENDINGS: Final = (".sample", DISARMED)
_HARMLESS_NAMES: Final = (".git", "commondir")
"""They lead to repositories, which are looked at themselves."""

_FILES_MOST: Final = 2_000
"""Hooks and startup files, of all repositories in reach: many times what there is."""

_NAMED_MOST: Final = 5
"""Names that the note gives; the log of changes has them all."""


@dataclass(frozen=True, slots=True)
class _File:
    stamp: tuple[int, ...]
    """What is different when it was changed."""
    settings: str | None
    """The text, if these are git's settings."""


class Disarming:
    """A checkpointer that looks after snares as well."""

    def __init__(self, checkpointer: Checkpointer, writable: Callable[[], Sequence[Path]]) -> None:
        """`writable`: the folders and files that code may write to now."""
        self._checkpointer = checkpointer
        self._writable = writable
        self._known: Mapping[Path, _File] = {}

    async def before(self, run: str) -> str:
        self._known = await asyncio.to_thread(_seen, self._writable())
        return await self._checkpointer.before(run)

    async def after(self, run: str) -> Changes:
        disarmed = await asyncio.to_thread(disarm, self._writable(), self._known)
        changes = await self._checkpointer.after(run)
        return replace(changes, note=_note(disarmed)) if disarmed else changes


def disarm(folders: Sequence[Path], known: Mapping[Path, _File]) -> list[Path]:
    """Put out of action what is new or changed; return what that was."""
    done: list[Path] = []
    # Settings name folders of hooks, and links lead to them: once they are gone, what lies there is
    # a file like any other.
    for leads_on in (True, False):
        for path, now in _seen(folders).items():
            before = known.get(path)
            if now == before or (now.settings is not None or path.is_symlink()) != leads_on:
                continue
            with contextlib.suppress(OSError):
                if now.settings is None:
                    _rename(folders, path)
                elif not _put_right(folders, path, now.settings, before):
                    continue
                done.append(path)
    return done


def _seen(folders: Sequence[Path]) -> dict[Path, _File]:
    found: dict[Path, _File] = {}
    for snare in snares.find(folders):
        if snare.kind == "kept" or snare.path.name in _HARMLESS_NAMES:
            continue
        for path in _files(snare.path):
            if len(found) < _FILES_MOST and not path.name.endswith(_HARMLESS_ENDINGS):
                with contextlib.suppress(OSError):
                    found[path] = _file(path, settings=snare.kind == "settings")
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for folder, folders, files in os.walk(path):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        yield from (Path(folder, name) for name in (*files, *links))


def _file(path: Path, *, settings: bool) -> _File:
    found = path.lstat()
    stamp = (found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if not settings or not stat.S_ISREG(found.st_mode):
        return _File(stamp, None)
    return _File(stamp, snares.text_of(path).decode(errors="replace"))


def _put_right(folders: Sequence[Path], path: Path, now: str, before: _File | None) -> bool:
    """Write settings anew, if there is need to: as they were, or what is harmless of new ones."""
    harmless = harmless_part(now)
    if harmless == now or (before and before.settings == now):
        return False
    wanted = before.settings if before and before.settings is not None else harmless
    found = path.lstat()
    _rename(folders, path)
    with _holder(folders, path) as (holder, name):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        made = os.open(name, flags, stat.S_IMODE(found.st_mode) & 0o666, dir_fd=holder)
        with os.fdopen(made, "w") as file:
            if found.st_uid != os.geteuid():
                os.fchown(made, found.st_uid, found.st_gid)
            file.write(wanted)
    return True


def _rename(folders: Sequence[Path], path: Path) -> None:
    with _holder(folders, path) as (holder, name):
        os.rename(name, name + DISARMED, src_dir_fd=holder, dst_dir_fd=holder)


@contextlib.contextmanager
def _holder(folders: Sequence[Path], path: Path) -> Iterator[tuple[int, str]]:
    """A descriptor of the folder that a path lies in: code may still be swapping folders."""
    root = next(folder for folder in folders if path.is_relative_to(folder))
    opened = os.open(root, beneath.FOLDER)
    try:
        with beneath.folder_of(opened, str(path.relative_to(root))) as holder:
            yield holder
    finally:
        os.close(opened)


def _note(disarmed: Sequence[Path]) -> str:
    names = ", ".join(str(path) for path in disarmed[:_NAMED_MOST])
    more = f" and {len(disarmed) - _NAMED_MOST} more" if len(disarmed) > _NAMED_MOST else ""
    return (
        f"Git or a login would have run this unasked, so it was disarmed: {names}{more};"
        f" what the code wrote lies beside, with {DISARMED} at its end."
    )
