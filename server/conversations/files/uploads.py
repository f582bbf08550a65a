"""Uploads files into a workspace, and downloads them from it.

Code writes to the same folder and is not trusted: a link is never followed, what is there is never
overwritten, and nothing outside is reached, whatever a client calls a file.
"""

import base64
import binascii
import contextlib
import fcntl
import os
import secrets
import stat
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from sayso.protocol.messages import FileGot, FilePut
from sayso.server.conversations.files.upload_quota import UploadRoom
from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.folder_identity import Identity, open_folder
from sayso.server.undo.partial_files import DRAFT

NAME_BYTES: Final = 200
"""File systems allow 255; some room is left for a number."""

AT_ONCE: Final = 8
"""Uploads of one conversation that are begun and not ended."""

IDLE_S: Final = 60.0
"""An upload that does not go on for so long is given up."""

_TRIES: Final = 1_000
"""Names with a number that are tried where a name is taken."""

_BROKEN: Final = "The pieces of that file do not follow each other; send it again."


class _Refused(Exception):
    """The text says why."""


@dataclass(slots=True)
class _Upload:
    name: str
    size: int
    descriptor: int
    folder: int
    draft: str
    received: int = 0
    at: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Beside:
    """What a guest's file must fit in with."""

    room: UploadRoom
    folders: Sequence[Path]
    """The workspaces of all the guest's conversations."""


class WorkspaceFiles:
    """Of one conversation. Blocking, and to be called by one thread at a time."""

    def __init__(self, folder: Path, most_bytes: int, known: Identity | None = None) -> None:
        """`most_bytes`: of one file that is sent. `known`: which folder it must be."""
        self._folder = folder
        self._known = known
        self._most = most_bytes
        self._uploads: dict[tuple[str, str], _Upload] = {}

    def take(self, device: str, piece: FilePut, beside: Beside | None = None) -> FileGot:
        """Take the next piece of a file; tells how much is here, or why it is not taken.

        `beside`: what a file of a guest must fit in with."""
        key = device, piece.id
        try:
            upload = self._uploads.get(key) or self._begin(key, piece, beside)
            self._add(upload, piece)
            if upload.received < upload.size:
                return FileGot(piece.id, upload.received)
            name = self._finish(upload)
        except _Refused as refusal:
            self._drop(key)
            return FileGot(piece.id, problem=str(refusal))
        except OSError as error:
            self._drop(key)
            said = error.strerror or str(error)
            return FileGot(piece.id, problem=f"The workspace did not take the file: {said}.")
        received = upload.received
        self._drop(key)
        return FileGot(piece.id, received, name)

    def open(self, path: str) -> BinaryIO | None:
        """Opens a file for reading; the caller closes it. None if there is none."""
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            return None
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            root = open_folder(self._folder, self._known)
            try:
                with paths_beneath.folder_of(root, path) as (holder, name):
                    descriptor = os.open(name, flags, dir_fd=holder)
            finally:
                os.close(root)
        except (OSError, ValueError):
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return os.fdopen(descriptor, "rb")
        os.close(descriptor)
        return None

    def close(self) -> None:
        """Give up what has not come whole."""
        for key in list(self._uploads):
            self._drop(key)

    def _begin(self, key: tuple[str, str], piece: FilePut, beside: Beside | None) -> _Upload:
        if piece.offset:
            raise _Refused(_BROKEN)
        if piece.size > self._most:
            raise _Refused(
                f"Files of more than {self._most // 1_000_000} MB are not taken;"
                " `code.upload_mb` in the settings allows more."
            )
        for other, upload in list(self._uploads.items()):
            if time.monotonic() - upload.at > IDLE_S:
                self._drop(other)
        if len(self._uploads) >= AT_ONCE:
            raise _Refused("Too many files are being sent at once; wait for one to end.")
        if beside is None:
            return self._draft(key, piece)
        with beside.room.one_begins:
            if not beside.room.has(piece.size, beside.folders):
                raise _Refused(
                    f"That is more than the {beside.room.most_bytes // 1_000_000} MB that a guest"
                    " may have here; have files deleted, or /forget a conversation, and send it"
                    " again."
                )
            return self._draft(key, piece)

    def _draft(self, key: tuple[str, str], piece: FilePut) -> _Upload:
        folder = open_folder(self._folder, self._known)
        draft = f"{DRAFT}{secrets.token_hex(16)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(draft, flags, 0o644, dir_fd=folder)
        except OSError:
            os.close(folder)
            raise
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # so that it is not taken for a crash's leavings
        upload = _Upload(plain_name(piece.name), piece.size, descriptor, folder, draft)
        self._uploads[key] = upload
        os.ftruncate(descriptor, piece.size)  # so that it counts as a whole from now on
        if os.geteuid() == 0:
            owner = os.fstat(folder)
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        return upload

    def _add(self, upload: _Upload, piece: FilePut) -> None:
        try:
            data = base64.b64decode(piece.data, validate=True)
        except (binascii.Error, ValueError):
            raise _Refused("A piece of that file is not base64; send it again.") from None
        fits = piece.size == upload.size and upload.received + len(data) <= upload.size
        if piece.offset != upload.received or not fits or (upload.size and not data):
            raise _Refused(_BROKEN)
        upload.at = time.monotonic()
        upload.received += len(data)
        while data:
            data = data[os.write(upload.descriptor, data) :]

    def _finish(self, upload: _Upload) -> str:
        """Give it its name, or the next one that is free."""
        os.fsync(upload.descriptor)
        stem, ending = os.path.splitext(upload.name)  # noqa: PTH122 (a name, no path)
        for number in range(1, _TRIES):
            name = upload.name if number == 1 else f"{stem} {number}{ending}"
            # Unlike a rename, a link never replaces what is there.
            with contextlib.suppress(FileExistsError):
                os.link(
                    upload.draft,
                    name,
                    src_dir_fd=upload.folder,
                    dst_dir_fd=upload.folder,
                    follow_symlinks=False,
                )
                return name
        raise _Refused(f"There are too many files called {upload.name}.")

    def _drop(self, key: tuple[str, str]) -> None:
        upload = self._uploads.pop(key, None)
        if upload is not None:
            os.close(upload.descriptor)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(upload.draft, dir_fd=upload.folder)
            os.close(upload.folder)


def plain_name(given: str) -> str:
    """A name for a file in the workspace itself: bounded, no folder, not hidden, nothing unseen.

    Nor does it begin as a program's options do, so that `rm *` there means files.
    """
    name = unicodedata.normalize("NFC", given.replace("\\", "/").rpartition("/")[2])
    name = "".join(sign for sign in name if sign.isprintable()).lstrip(".- ").rstrip()
    stem, ending = os.path.splitext(name.encode("utf-8", "replace").decode())  # noqa: PTH122
    room = NAME_BYTES - len(ending.encode())
    if room <= 0:
        stem, ending, room = name, "", NAME_BYTES
    stem = stem.encode()[:room].decode("utf-8", "ignore")
    return f"{stem}{ending}" if stem else "file"
