"""Tracks which folders may hold untrusted content, across all conversations of this server.

One conversation downloads a text into a folder, another one reads it there: the second has then
read untrusted content, though nothing came to it from the network. So what marks a conversation
marks the folders that its code may write to, for every other one that works there, in a folder of
them or around them. They are told apart by device and inode, and by path: a folder that was renamed
is the same, and so is another one that was put in its place.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

SOURCES_TOLD: Final = 100
"""Of what another conversation read."""

Key = tuple[int, int] | str
"""A folder, by its numbers or by its path."""


@dataclass(slots=True)
class _Marked:
    sources: dict[str, None] = field(default_factory=dict)
    folders: set[Key] = field(default_factory=set)
    around: set[Key] = field(default_factory=set)
    """The folders that lead to these."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What the log tells of one conversation."""

    conversation: str
    folders: tuple[Path, ...]
    """Those that its code may write to, now or before."""
    sources: Callable[[], Awaitable[Iterable[str]]]
    """From where it has read untrusted content; asked if the folders matter."""


class UntrustedFolders:
    """For one server. What happened before this start is looked up once for each conversation."""

    def __init__(self) -> None:
        self._marked: dict[str, _Marked] = {}
        self._known: set[str] = set()
        """Conversations whose log was read in vain or to its end."""

    async def left(
        self, conversation: str, folders: Sequence[Path], sources: Iterable[str]
    ) -> None:
        """A conversation's code may have written these sources' words into these folders."""
        sources = list(sources)
        if not sources:
            return
        at, around = await asyncio.to_thread(_keys, folders)
        marked = self._marked.setdefault(conversation, _Marked())
        marked.folders |= at
        marked.around |= around
        for source in sources[:SOURCES_TOLD]:
            marked.sources[source] = None

    async def found(
        self, conversation: str, folders: Sequence[Path], earlier: Iterable[Earlier]
    ) -> tuple[str, ...]:
        """What others' code may have left in these folders, or in folders in or around them."""
        at, around = await asyncio.to_thread(_keys, folders)
        for each in earlier:
            if each.conversation in self._known or each.conversation == conversation:
                continue
            theirs, above = await asyncio.to_thread(_keys, each.folders)
            if theirs & (at | around) or above & at:
                await self.left(each.conversation, each.folders, await each.sources())
                self._known.add(each.conversation)
        found: dict[str, None] = {}
        for name, marked in self._marked.items():
            if name == conversation:
                continue
            if marked.folders & (at | around) or marked.around & at:
                found.update(marked.sources)
        return tuple(found)

    def wipe(self, conversation: str) -> None:
        """A conversation began anew, and its mark with it."""
        self._marked.pop(conversation, None)
        self._known.add(conversation)


def _keys(folders: Iterable[Path]) -> tuple[set[Key], set[Key]]:
    """Of the folders, and of those that lead to them."""
    at: set[Key] = set()
    around: set[Key] = set()
    for folder in folders:
        real = Path(os.path.realpath(folder))
        at |= _key(real)
        for parent in real.parents:
            around |= _key(parent)
    return at, around


def _key(folder: Path) -> set[Key]:
    try:
        status = folder.stat()
    except OSError:
        return {str(folder)}
    return {str(folder), (status.st_dev, status.st_ino)}
