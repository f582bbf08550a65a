"""Saves an unfinished reply while it grows, so that a crash loses at most a second of it."""

import asyncio
from typing import Final

from sayso.server.agent.record.journal import Journal
from sayso.server.store.records import Uttered

EVERY_S: Final = 1.0
"""Between two pieces: as much as a person would not miss, and one write to the disk a second."""


class Draft:
    """Of one request. Short replies leave nothing behind: their whole follows soon enough."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._text = ""
        self._since: float | None = None

    async def grew(self, text: str) -> None:
        """This was said. Raises StoreError."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        self._text += text
        if now - self._since >= EVERY_S:
            piece, self._text, self._since = self._text, "", now
            await self._journal.note("model", Uttered(piece))

    def ended(self) -> None:
        """The whole of it is kept."""
        self._text, self._since = "", None
