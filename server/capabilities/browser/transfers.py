"""Carries files between the browser's own folder and a workspace, which code may write to.

The browser sees its own folder alone, and what it puts there may be anything: a page may have
taken it over. So all is reached by handles, name by name and never through a link, on either side.
Names are made harmless, and nothing is overwritten or read on the way.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from sayso.protocol.visible import HIDDEN
from sayso.server.capabilities.browser.errors import RefusedError
from sayso.server.runtimes.protection.folder_identity import Identity, open_folder

FILE_MOST_BYTES: Final = 512 * 1024**2
FILES: Final = "files"
"""In a browser's folder: what comes out of it or goes in."""

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


def own_folder(holder: int, name: str) -> int:
    """A handle of a folder of the browser's own, which is made if it is missing or none: what the
    browser put in its place is taken out. Raises OSError."""
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=holder)
    try:
        folder = os.open(name, _FOLDER, dir_fd=holder)
    except OSError:
        os.unlink(name, dir_fd=holder)
        os.mkdir(name, 0o700, dir_fd=holder)
        folder = os.open(name, _FOLDER, dir_fd=holder)
    _give(folder, os.fstat(holder))
    return folder


def into_workspace(
    browser: Path, guid: str, workspace: Path, name: str, known: Identity | None = None
) -> str:
    """Move a file that was downloaded into the workspace; its path there. It is in the browser's
    folder no more, whatever comes of it. `known`: which folder the workspace must be. Raises
    RefusedError."""
    try:
        with _files(browser) as files, _taken(files, guid) as source:
            status = os.fstat(source)
            if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_MOST_BYTES:
                raise RefusedError("What was downloaded is no file, or larger than is taken.")
            top = open_folder(workspace, known)
            try:
                owner = os.fstat(top)
                folder = _folder(top, owner)
                try:
                    taken, handle = _made(folder, harmless(name))
                    with (
                        open(source, "rb", closefd=False) as read,
                        os.fdopen(handle, "wb") as target,
                    ):
                        _give(handle, owner)
                        shutil.copyfileobj(read, target)
                finally:
                    os.close(folder)
            finally:
                os.close(top)
    except OSError as error:
        raise RefusedError(
            f"The download can't be kept in the workspace: {error.strerror}."
        ) from None
    return f"{DOWNLOADS}/{taken}"


@contextmanager
def _files(browser: Path) -> Iterator[int]:
    """A handle of the folder for files in a browser's own."""
    holder = os.open(browser, _FOLDER)
    try:
        files = os.open(FILES, _FOLDER, dir_fd=holder)
    finally:
        os.close(holder)
    try:
        yield files
    finally:
        os.close(files)


@contextmanager
def _taken(files: int, name: str) -> Iterator[int]:
    """A handle of a file among these, which is removed afterwards."""
    source = os.open(name, _READ, dir_fd=files)
    try:
        yield source
    finally:
        os.close(source)
        with suppress(OSError):
            os.unlink(name, dir_fd=files)


def out_of_workspace(
    workspace: Path, path: str, browser: Path, known: Identity | None = None
) -> Path:
    """Copy a file of the workspace to where the browser sees it; its path there. `known`: which
    folder the workspace must be. Raises RefusedError."""
    named = Path(path)
    if named.is_relative_to(workspace):
        named = named.relative_to(workspace)
    parts = named.parts
    if not parts or ".." in parts or named.is_absolute():
        raise RefusedError("Name a file in the workspace.")
    try:
        handle = open_folder(workspace, known)
        for part in parts[:-1]:
            try:
                inner = os.open(part, _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
            handle = inner
        try:
            source_handle = os.open(parts[-1], _READ, dir_fd=handle)
        finally:
            os.close(handle)
        with os.fdopen(source_handle, "rb") as source, _files(browser) as files:
            status = os.fstat(source_handle)
            if not stat.S_ISREG(status.st_mode) or status.st_size > FILE_MOST_BYTES:
                raise RefusedError(f"{path} is no file, or larger than is given away at once.")
            name, handle = _made(files, harmless(parts[-1]))
            with os.fdopen(handle, "wb") as target:
                _give(handle, os.fstat(files))
                shutil.copyfileobj(source, target)
    except OSError as error:
        raise RefusedError(f"{path} can't be had: {error.strerror}.") from None
    return browser / FILES / name


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
