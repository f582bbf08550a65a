"""Restores paths to an earlier state. Each path changes atomically, or not at all.

A file is written beside its place under a name of Sayso's own and then put there; a link is never
followed; what was changed after it was looked at is left alone. Doing the same again after a crash
does no harm.
"""

import contextlib
import errno
import logging
import os
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.undo.file_contents import Name, Piece
from sayso.server.undo.partial_files import DRAFT
from sayso.server.undo.plan import Left, Reason, Step
from sayso.server.undo.scan import kind_of
from sayso.server.undo.tree import Entry, Tree, alike, parent

log = logging.getLogger(__name__)

_OWNER: Final = 0o300
"""Without these, nothing can be put into a folder."""

_FLUSHED: Final = 64
"""So many files are forced to the disk one by one; for more it is quicker to flush everything."""

Contents = Callable[[bytes], Iterator[Piece]]


class _Damaged(Exception):
    """What is kept of a content is not what was kept."""


class Restorer:
    """Works on one folder, whose descriptor is given."""

    def __init__(
        self,
        root: int,
        contents: Contents,
        now: Tree,
        way: Literal["anew", "in place"] = "anew",
    ) -> None:
        """`now`: the state of the folder as it was just looked at. `way`: whether a file that has
        another content is made anew, which is safe at any moment, or stays the same file."""
        self._way = way
        self._root = root
        self._contents = contents
        self._now = now
        self._made: dict[tuple[int, int], tuple[str, Entry]] = {}
        """Where a file that had several names is again, by the inode that it had."""
        self._adjusted: dict[str, Entry] = {}
        """What stays the same file and gets other permissions or dates, as it will be."""
        self._written = 0
        self._opened_folders = paths_beneath.OpenedFolders(root)

    def restore(self, steps: Sequence[Step]) -> list[Left]:
        """Do all that can be done; returns what could not."""
        self._adjusted = {s.path: s.want for s in steps if s.kind == "adjust" and s.want}
        left = []
        for step in steps:
            reason: Reason | None
            try:
                reason = self._do(step)
            except _Damaged:
                reason = "damaged"
            except (FileNotFoundError, NotADirectoryError):
                reason = "no_folder"
            except OSError as error:
                log.info("a path could not be put back: %s", error.strerror)
                reason = "not_empty" if error.errno == errno.ENOTEMPTY else "system"
            if reason:
                left.append(Left(step.path, reason))
        return [*left, *self._finish(steps)]

    def _do(self, step: Step) -> Reason | None:
        self._let_in(parent(step.path))
        with paths_beneath.folder_of(self._root, step.path) as (holder, name):
            if not self._is_there(holder, name, step.have):
                return "changed"
            match step.kind:
                case "remove" if step.have and step.have.kind == "folder":
                    os.rmdir(name, dir_fd=holder)
                case "remove":
                    os.unlink(name, dir_fd=holder)
                case "make" if step.want:
                    self._make(holder, name, step.path, step.have, step.want)
                case "adjust" if step.want:
                    file = step.have if step.have and step.have.kind == "file" else None
                    known = (file.device, file.inode) if file else None
                    _dress(holder, name, step.want, known)
                case _:
                    pass
        return None

    def _is_there(self, holder: int, name: str, have: Entry | None) -> bool:
        """Whether the path is as it was when the folder was looked at."""
        found = paths_beneath.status(holder, name)
        if found is None or have is None:
            return found is None and have is None
        if kind_of(found) != have.kind:
            return False
        if have.kind == "folder":
            return True
        return (found.st_ino, found.st_size, found.st_mtime_ns) == (
            have.inode,
            have.size,
            have.mtime_ns,
        )

    def _make(self, holder: int, name: str, path: str, have: Entry | None, want: Entry) -> None:
        if want.kind == "folder":
            _make_folder(holder, name, want)
            return
        if self._way == "in place" and have and have.kind == want.kind == "file":
            _dress(holder, name, want, self._rewrite(holder, name, want))
            return
        draft = f"{DRAFT}{secrets.token_hex(16)}"
        try:
            self._draft(holder, draft, path, want)
            if have is None:
                # Unlike a rename, a link never replaces what somebody else put there meanwhile.
                os.link(draft, name, src_dir_fd=holder, dst_dir_fd=holder, follow_symlinks=False)
            else:
                os.rename(draft, name, src_dir_fd=holder, dst_dir_fd=holder)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=holder)

    def _draft(self, holder: int, draft: str, path: str, want: Entry) -> None:
        known = None
        if want.kind == "link":
            os.symlink(want.content, draft, dir_fd=holder)
        elif want.kind == "pipe":
            os.mkfifo(draft, 0o600, dir_fd=holder)
        elif self._link_to_twin(holder, draft, want):
            return  # it is the same file, which has or gets all that by its other name
        else:
            known = self._write(holder, draft, want)
            self._made[want.device, want.inode] = path, want
        _dress(holder, draft, want, known)

    def _link_to_twin(self, holder: int, draft: str, want: Entry) -> bool:
        """If the file had another name, and is still or again there, it gets this name, too."""
        if want.links < 2:  # noqa: PLR2004 (one name is its own)
            return False
        twin = self._twin(want)
        if twin is None:
            return False
        try:
            with paths_beneath.folder_of(self._root, twin) as (other, name):
                os.link(name, draft, src_dir_fd=other, dst_dir_fd=holder, follow_symlinks=False)
                found = paths_beneath.status(holder, draft)
        except OSError:
            return False
        return found is not None and kind_of(found) == "file"

    def _twin(self, want: Entry) -> str | None:
        path, made = self._made.get((want.device, want.inode), ("", None))
        if made is not None and alike(made, want):
            return path
        for path, entry in self._now.items():
            same = (entry.device, entry.inode) == (want.device, want.inode)
            if same and alike(self._adjusted.get(path, entry), want):
                return path
        return None

    def _write(self, holder: int, draft: str, want: Entry) -> tuple[int, int]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return self._fill(os.open(draft, flags, 0o600, dir_fd=holder), want)

    def _rewrite(self, holder: int, name: str, want: Entry) -> tuple[int, int]:
        checked = Name(want.size)
        for piece in self._contents(want.content):
            checked.take(piece)
        if checked.name != want.content:
            raise _Damaged
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_TRUNC | os.O_CLOEXEC
        return self._fill(os.open(name, flags, dir_fd=holder), want)

    def _fill(self, descriptor: int, want: Entry) -> tuple[int, int]:
        """Returns device and inode of the file."""
        try:
            name = Name(want.size)
            for piece in self._contents(want.content):
                name.take(piece)
                place, data = piece
                while data:
                    written = os.pwrite(descriptor, data, place)
                    place, data = place + written, data[written:]
            if name.name != want.content:
                raise _Damaged
            os.ftruncate(descriptor, want.size)
            self._written += 1
            if self._written <= _FLUSHED:
                os.fsync(descriptor)
            found = os.fstat(descriptor)
            return found.st_dev, found.st_ino
        finally:
            os.close(descriptor)

    def _let_in(self, path: str) -> None:
        """Folders on the way that are closed to their owner are opened for as long as it takes."""
        names = path.split("/") if path else []
        for depth in range(1, len(names) + 1):
            self._opened_folders.open("/".join(names[:depth]), _OWNER)

    def _finish(self, steps: Sequence[Step]) -> Iterator[Left]:
        """Folders get their permissions and dates last, the deepest first."""
        wanted = {s.path: s.want for s in steps if s.want and s.want.kind == "folder"}
        for path in wanted:
            self._opened_folders.opened.pop(path, None)
        for path in sorted(wanted, reverse=True):
            try:
                with paths_beneath.folder_of(self._root, path) as (holder, name):
                    _dress(holder, name, wanted[path])
            except FileNotFoundError:
                pass  # it could not be made, which is told already
            except OSError as error:
                log.info("a folder could not be made as it was: %s", error.strerror)
                yield Left(path, "system")
        self._opened_folders.close()
        if self._written > _FLUSHED:
            os.sync()


def _make_folder(holder: int, name: str, want: Entry) -> None:
    """It appears with its permissions, but open to its owner until it is filled."""
    draft = f"{DRAFT}{secrets.token_hex(16)}"
    os.mkdir(draft, stat.S_IRWXU, dir_fd=holder)
    try:
        _dress(holder, draft, replace(want, mode=want.mode | stat.S_IRWXU))
        os.rename(draft, name, src_dir_fd=holder, dst_dir_fd=holder)
    except BaseException:
        with contextlib.suppress(OSError):
            os.rmdir(draft, dir_fd=holder)
        raise


def _dress(holder: int, name: str, want: Entry, known: tuple[int, int] | None = None) -> None:
    """Owner, permissions and dates, of what is there by that name and nothing that is put there
    meanwhile. `known`: device and inode, which a file must have: it may have names elsewhere, too.
    """
    if sys.platform != "linux":  # where code runs as nobody else, and there are no handles
        if want.kind != "link":
            paths_beneath.set_mode(holder, name, want.mode)
        os.utime(name, ns=(want.mtime_ns, want.mtime_ns), dir_fd=holder, follow_symlinks=False)
        return
    with paths_beneath.handle(holder, name) as (place, found):
        if kind_of(found) != want.kind or (known and known != (found.st_dev, found.st_ino)):
            raise OSError(errno.ESTALE, "something else was put there")
        if os.geteuid() == 0:
            os.chown(place, want.owner, want.group)
        if want.kind != "link":
            os.chmod(place, want.mode)  # noqa: PTH101 (a descriptor, no path)
        os.utime(place, ns=(want.mtime_ns, want.mtime_ns))
