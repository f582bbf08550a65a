"""Reads what a repository says of itself: its settings, and where its branches are.

It lies where code may write, and code may still run. So nothing is opened by a path: from the
folders that code may write to, each name is opened from the one above, and no link is followed.
What is no plain file, such as a named pipe that nobody writes to, or is too large, says nothing.
"""

import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection.writable_folders import Place, WritableFolders

SETTINGS_MOST_BYTES: Final = 64 * 1024
_LINE_MOST_BYTES: Final = 4_096
_PACKED_MOST_BYTES: Final = 8 * 1024**2
"""Some hundred thousand branches and tags."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_HEAD: Final = re.compile(r"ref: refs/heads/(\S+)\n?")


class RepositoryFiles:
    """Of the repository that holds a folder."""

    def __init__(self, where: Path, writable: Sequence[Path], folder: str) -> None:
        """`folder`: as it is named from `where`; `writable`: the folders that code may write to.
        Raises FileNotFoundError where it is in none of them, is reached by a link there, or lies in
        no repository; and other OSErrors."""
        with WritableFolders(writable) as folders:
            resolved = folders.resolve(where, folder)
            if resolved.place is None or resolved.links:
                raise FileNotFoundError(folder)
            place, *above = resolved.place, *resolved.place.above
            for each in dict.fromkeys((place, *above, Place(place.root, ""))):
                git = each.below(".git")
                found = folders.status(git)
                if found and stat.S_ISDIR(found.st_mode):
                    break
            else:
                raise FileNotFoundError(folder)
            self.path = folders.shown(each)
            self.settings = folders.text(git.below("config"), SETTINGS_MOST_BYTES)
            """None where they cannot be read."""
            head = _HEAD.fullmatch(_said(folders.text(git.below("HEAD"), _LINE_MOST_BYTES)))
            self.branch = head[1] if head else ""
            """The one that is checked out."""
            self._packed = _said(folders.text(git.below("packed-refs"), _PACKED_MOST_BYTES))
            self._git = git
            self._where, self._writable = where, tuple(writable)

    def commit(self, branch: str) -> str:
        """Where a branch is; empty if there is none with a commit."""
        with WritableFolders(self._writable) as folders:
            loose = folders.text(self._git.below(f"refs/heads/{branch}"), _LINE_MOST_BYTES)
        if _COMMIT.fullmatch(_said(loose).strip()):
            return _said(loose).strip()
        for line in self._packed.splitlines():
            commit, _, name = line.partition(" ")
            if name == f"refs/heads/{branch}" and _COMMIT.fullmatch(commit):
                return commit
        return ""


def _said(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace")
