"""What is looked after: a folder with all that is in it, or a single file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sayso.server.undo import beneath


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, or one file in it."""

    folder: Path
    only: str = ""
    """The name of the one file; empty for the whole folder."""

    @classmethod
    def at(cls, path: Path) -> Self:
        """The root that a path is now."""
        return cls(path.parent, path.name) if path.is_file() else cls(path)

    @classmethod
    def read(cls, key: bytes) -> Self:
        """The root of an archive's key."""
        folder, _, only = key.partition(b"\0")
        return cls(Path(os.fsdecode(folder)), os.fsdecode(only))

    @property
    def key(self) -> bytes:
        """What the archive knows it by."""
        name = b"\0" + os.fsencode(self.only) if self.only else b""
        return os.fsencode(self.folder) + name

    def holds(self, other: "Root") -> bool:
        """Whether another one lies in it."""
        return self != other and not self.only and other.folder.is_relative_to(self.folder)

    def shown(self, workspace: Path) -> str:
        """What stands before a path in it when it is shown."""
        return "" if self.folder == workspace else f"{self.folder}/"

    @contextmanager
    def opened(self) -> Iterator[int]:
        """A descriptor of the folder."""
        descriptor = os.open(self.folder, beneath.FOLDER)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
