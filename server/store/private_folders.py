"""Creates folders that only their owner can read.

A conversation's folder has the conversation's name, so listing the folders tells the topics.
"""

import os
import stat
from pathlib import Path
from typing import Final

OWNERS_ALONE: Final = 0o700


def make_private(*folders: Path) -> None:
    """Each is there, and only its owner can look into it. One of another user's is left as it is.
    Raises OSError."""
    for folder in folders:
        for missing in reversed([folder, *folder.parents]):
            if not missing.exists():
                missing.mkdir(mode=OWNERS_ALONE, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            found = os.fstat(descriptor)
            if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & 0o077:
                os.fchmod(descriptor, OWNERS_ALONE)
        finally:
            os.close(descriptor)
