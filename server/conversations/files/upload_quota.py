"""Limits how much of the server's disk each guest's uploads may take."""

import os
import stat
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection.writable_folders import DEPTH_MOST

ENTRIES_MOST: Final = 20_000
"""Files and folders of one person that are looked at before a file is taken: a tenth of a second.
Who has more has as much as they may."""


class UploadRoom:
    """Of all guests; each is measured alone. Blocking."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.one_begins = threading.Lock()
        """Held from measuring until what begins can be measured itself."""

    def has(self, size: int, folders: Sequence[Path]) -> bool:
        """Whether so many bytes more fit beside what lies in all folders of a person; not, where
        that cannot be seen."""
        left, entries = self.most_bytes - size, 0
        seen: set[tuple[int, int]] = set()
        hidden: list[OSError] = []
        for folder in folders:
            for path, below, files, descriptor in os.fwalk(folder, onerror=hidden.append):
                if path.count("/") - str(folder).count("/") > DEPTH_MOST:
                    return False
                entries += len(below) + len(files)
                for name in files:
                    try:
                        found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                    except OSError:
                        continue
                    if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) not in seen:
                        seen.add((found.st_dev, found.st_ino))
                        left -= found.st_size
                if left < 0 or entries > ENTRIES_MOST:
                    return False
        return left >= 0 and all(isinstance(each, FileNotFoundError) for each in hidden)


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How much people may send."""

    file_bytes: int
    """Of one file."""
    guests: UploadRoom
