"""Carries files between the browser's own folder and a workspace, which code may write to.

The browser sees its own folder alone. Names are made harmless, no link is followed on either side,
and nothing is overwritten or read on the way.
"""

import os
import re
import shutil
import stat
from pathlib import Path
from typing import Final

from sayso.protocol.visible import HIDDEN
from sayso.server.capabilities.browser.errors import RefusedError

FILE_MOST_BYTES: Final = 512 * 1024**2
DOWNLOADS: Final = "downloads"
"""In the workspace."""

NAME_CHARS: Final = 100
ENDING_CHARS: Final = 10
_TRIES: Final = 1_000

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def harmless(name: str) -> str:
    """A file name that is nothing but one."""
    last = HIDDEN.sub("", name).replace("\\", "/").rsplit("/", 1)[-1]
    kept = re.sub(r'[\x00-\x1f<>:"|?*]', "_", last).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if dot and len(ending) <= ENDING_CHARS:
        kept = f"{stem[: NAME_CHARS - len(ending) - 1]}.{ending}"
    return kept[:NAME_CHARS] or "download"


def into_workspace(file: Path, workspace: Path, name: str) -> str:
    """Move a file that was downloaded into the workspace; its path there. Raises RefusedError."""
    try:
        with os.fdopen(os.open(file, _READ), "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_MOST_BYTES:
                raise RefusedError("What was downloaded is no file, or larger than is taken.")
            top = os.open(workspace, _FOLDER)
            try:
                owner = os.fstat(top)
                folder = _folder(top, owner)
                try:
                    taken, handle = _made(folder, harmless(name))
                    with os.fdopen(handle, "wb") as target:
                        _give(handle, owner)
                        shutil.copyfileobj(source, target)
                finally:
                    os.close(folder)
            finally:
                os.close(top)
        file.unlink()
    except OSError as error:
        raise RefusedError(
            f"The download can't be kept in the workspace: {error.strerror}."
        ) from None
    return f"{DOWNLOADS}/{taken}"


def out_of_workspace(workspace: Path, path: str, folder: Path) -> Path:
    """Copy a file of the workspace to where the browser sees it; its path there. Raises
    RefusedError."""
    named = Path(path)
    if named.is_relative_to(workspace):
        named = named.relative_to(workspace)
    parts = named.parts
    if not parts or ".." in parts or named.is_absolute():
        raise RefusedError("Name a file in the workspace.")
    try:
        handle = os.open(workspace, _FOLDER)
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        try:
            source_handle = os.open(parts[-1], _READ, dir_fd=handle)
        finally:
            os.close(handle)
        with os.fdopen(source_handle, "rb") as source:
            status = os.fstat(source_handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_MOST_BYTES:
                raise RefusedError(f"{path} is no file, or larger than is given away at once.")
            place = os.open(folder, _FOLDER)
            try:
                name, handle = _made(place, harmless(parts[-1]))
                with os.fdopen(handle, "wb") as target:
                    _give(handle, os.fstat(place))
                    shutil.copyfileobj(source, target)
            finally:
                os.close(place)
    except OSError as error:
        raise RefusedError(f"{path} can't be had: {error.strerror}.") from None
    return folder / name


def _folder(top: int, owner: os.stat_result) -> int:
    try:
        os.mkdir(DOWNLOADS, 0o755, dir_fd=top)
    except FileExistsError:
        return os.open(DOWNLOADS, _FOLDER, dir_fd=top)
    made = os.open(DOWNLOADS, _FOLDER, dir_fd=top)
    _give(made, owner)
    return made


def _made(folder: int, name: str) -> tuple[str, int]:
    """A new file of this name, or of one like it."""
    stem, dot, ending = name.rpartition(".")
    for number in range(1, _TRIES):
        tried = (
            name
            if number == 1
            else f"{stem or ending}-{number}{dot if stem else ''}{ending if stem else ''}"
        )
        try:
            return tried, os.open(tried, _NEW, 0o644, dir_fd=folder)
        except FileExistsError:
            continue
    raise RefusedError(f"There are so many files called {name} already.")


def _give(handle: int, owner: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.fchown(handle, owner.st_uid, owner.st_gid)
