"""Opens files and lists folders in reach, by a way on which nobody can put a link that leads out.

A place is named as the person and the model name it: from the conversation's folder, or whole. It
is looked up step by step from a descriptor of a folder in reach, and no step follows a link; a link
that leads to somewhere in reach is walked anew from there. What is no plain file (a device, a named
pipe, a socket) is never opened: its beginning could wait for ever, and what it says has no end.
The sandbox bounds all this once more: what is not in reach does not exist in it.
"""

import contextlib
import errno
import os
import posixpath
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

LINKS_MOST: Final = 20

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


class PlaceError(Exception):
    """This place can't be used; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in reach, without links on the way to it."""

    root: int
    """Which of the folders in reach."""
    path: str
    """Within that; empty for itself."""
    shown: str
    """As it was named."""

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def parent(self) -> str:
        return posixpath.dirname(self.path)


class Folders:
    """The folders in reach: the conversation's own first, then what was granted."""

    def __init__(self, roots: Sequence[str], home: str = "") -> None:
        """`roots` are whole paths; one that is not there is in no reach. A granted file is one,
        too. `home`: what is meant by `~`."""
        self._home = home
        self.roots = [posixpath.normpath(root) for root in roots]
        self._opened: list[int | None] = []
        for root in roots:
            try:
                self._opened.append(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            except OSError:
                self._opened.append(None)

    def close(self) -> None:
        for descriptor in self._opened:
            if descriptor is not None:
                os.close(descriptor)

    def find(self, named: str, *, missing: bool = False) -> Place:
        """The place with this name. `missing`: it, and folders that it lies in, need not be there.
        Raises PlaceError."""
        shown, links = named, 0
        root, parts = self._begin(named)
        done: list[str] = []
        while parts:
            part = parts.pop(0)
            if part == "..":
                done = done[:-1]
                continue
            status = self._status(root, "/".join((*done, part)))
            if status is None:
                if missing:
                    return Place(root, "/".join((*done, part, *parts)), shown)
                raise PlaceError(f"{named} is not there.")
            if not stat.S_ISLNK(status.st_mode):
                done.append(part)
                continue
            links += 1
            if links > LINKS_MOST:
                raise PlaceError(f"{named} leads in circles.")
            target = self._readlink(root, "/".join((*done, part)))
            here = posixpath.join(self.roots[root], *done)
            whole = posixpath.normpath(posixpath.join(here, target))
            rest = parts
            try:
                root, parts = self._begin(whole)
            except PlaceError:
                raise PlaceError(
                    f"{named} is a link that leads out of the folders in reach."
                ) from None
            parts, done = parts + rest, []
        return Place(root, "/".join(done), shown)

    def _begin(self, named: str) -> tuple[int, list[str]]:
        if self._home and (named == "~" or named.startswith("~/")):
            named = self._home + named[1:]
        whole = posixpath.normpath(posixpath.join(self.roots[0], named))
        holding = [
            number
            for number, root in enumerate(self.roots)
            if whole == root or whole.startswith(root.rstrip("/") + "/")
        ]
        if not holding:
            raise PlaceError(f"{named} is in no folder that code may see here; ask for access.")
        number = max(holding, key=lambda each: len(self.roots[each]))
        rest = whole[len(self.roots[number].rstrip("/")) :].strip("/")
        return number, rest.split("/") if rest else []

    def _status(self, root: int, path: str) -> os.stat_result | None:
        try:
            with self._parent(root, path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except NotADirectoryError:
            return None
        except OSError as error:
            raise PlaceError(f"{path} can't be looked at: {error.strerror}.") from None

    def _readlink(self, root: int, path: str) -> str:
        try:
            with self._parent(root, path) as (folder, name):
                return os.readlink(name, dir_fd=folder)
        except OSError as error:
            raise PlaceError(f"{path} can't be looked at: {error.strerror}.") from None

    @contextlib.contextmanager
    def _parent(self, root: int, path: str) -> Iterator[tuple[int, str]]:
        with self.folder(Place(root, posixpath.dirname(path), path)) as folder:
            yield folder, posixpath.basename(path) or "."

    @contextlib.contextmanager
    def folder(self, place: Place, *, make: list[Place] | None = None) -> Iterator[int]:
        """A descriptor of a folder. Folders that are missing are made where `make` is given, which
        then names them. Raises OSError, for a link on the way as well."""
        descriptor = self._root(place.root)
        done: list[str] = []
        try:
            for part in filter(None, place.path.split("/")):
                done.append(part)
                try:
                    inner = os.open(part, _FOLDER, dir_fd=descriptor)
                except FileNotFoundError:
                    if make is None:
                        raise
                    os.mkdir(part, 0o777, dir_fd=descriptor)
                    make.append(Place(place.root, "/".join(done), place.shown))
                    inner = os.open(part, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _root(self, number: int) -> int:
        opened = self._opened[number]
        if opened is None:
            raise OSError(errno.ENOENT, "it is not there")
        return os.dup(opened)

    def read(self, place: Place, most: int) -> tuple[bytes, os.stat_result]:
        """The bytes of a plain file, and what it was when they were read. Raises PlaceError."""
        try:
            with self._file(place) as (descriptor, status):
                if status.st_size > most:
                    raise PlaceError(
                        f"{place.shown} has {status.st_size:,} bytes, and at most {most:,} are"
                        " read here."
                    )
                with os.fdopen(os.dup(descriptor), "rb") as file:
                    data = file.read(most + 1)
        except OSError as error:
            raise PlaceError(f"{place.shown} can't be read: {_why(error)}.") from None
        if len(data) > most:
            raise PlaceError(f"{place.shown} grew while it was read.")
        return data, status

    @contextlib.contextmanager
    def _file(self, place: Place) -> Iterator[tuple[int, os.stat_result]]:
        """A plain file, opened; a granted file is its own root."""
        if self._opened[place.root] is None and not place.path:
            named = self.roots[place.root]
            if not stat.S_ISREG(os.lstat(named).st_mode):
                raise PlaceError(f"{place.shown} is no plain file.")
            descriptor = os.open(named, _FILE)
        else:
            with self._parent(place.root, place.path) as (folder, name):
                before = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISREG(before.st_mode):
                    kind = "a folder" if stat.S_ISDIR(before.st_mode) else "no plain file"
                    raise PlaceError(f"{place.shown} is {kind}.")
                descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise PlaceError(f"{place.shown} is no plain file.")
            yield descriptor, status
        finally:
            os.close(descriptor)

    def is_folder(self, place: Place) -> bool:
        """Whether it is a folder, and no link to one."""
        try:
            with self.folder(place):
                return True
        except OSError:
            return False

    def name_of(self, place: Place) -> str:
        """How a place is told: from the conversation's folder, or else whole."""
        if place.root == 0:
            return place.path or "."
        return posixpath.join(self.roots[place.root], place.path).rstrip("/")


def _why(error: OSError) -> str:
    return error.strerror or "it is not what it was"
