"""A root that undo watches: a folder with all that is in it, or a single file."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sayso.server.runtimes.protection.folder_identity import Identity, look_at, open_folder


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, or one file in it."""

    folder: Path
    only: str = ""
    """The name of the one file; empty for the whole folder."""
    inode: int = 0
    """Which folder it is: by another one in its place nothing is kept or taken back. Zero if it is
    not known, as in archives of before."""

    @classmethod
    def at(cls, path: Path) -> Self:
        """The root that a path is now, which no link may lead to. Raises OSError."""
        status, identity = look_at(path)
        if stat.S_ISDIR(status.st_mode):
            return cls(path, "", identity.inode)
        return cls(path.parent, path.name, identity.inode)

    @classmethod
    def read(cls, key: bytes) -> Self:
        """The root of an archive's key."""
        folder, only, inode = (*key.split(b"\0"), b"", b"")[:3]
        return cls(Path(os.fsdecode(folder)), os.fsdecode(only), int(inode or 0))

    @property
    def key(self) -> bytes:
        """What the archive knows it by."""
        parts = (os.fsencode(self.folder), os.fsencode(self.only), str(self.inode).encode())
        return b"\0".join(parts) if self.inode else self.key_of_before

    @property
    def key_of_before(self) -> bytes:
        """What archives knew it by that did not know which folder it was."""
        name = b"\0" + os.fsencode(self.only) if self.only else b""
        return os.fsencode(self.folder) + name

    def holds(self, other: "Root") -> bool:
        """Whether another one lies in it."""
        return self != other and not self.only and other.folder.is_relative_to(self.folder)

    def is_there(self) -> bool:
        """Whether its folder is still where it was."""
        try:
            with self.opened():
                return True
        except OSError:
            return False

    def shown(self, workspace: Path) -> str:
        """What stands before a path in it when it is shown."""
        return "" if self.folder == workspace else f"{self.folder}/"

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor of the folder. Raises OSError where another one, or a link, is there."""
        descriptor = open_folder(self.folder)
        try:
            if self.inode and Identity.of(descriptor).inode != self.inode:
                raise OSError(errno.ESTALE, "another folder is in its place", str(self.folder))
            yield descriptor
        finally:
            os.close(descriptor)
