"""Several processes of one voice: one to begin with, more when many answers are spoken at once.

Each speaks to some seven people on one core. A chunk goes to the process that has the fewest.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Final

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.voice_pool import PooledVoice
from sayso.server.speech.workers.supervisor import Ready

log = logging.getLogger(__name__)

MANY: Final = 4
"""Chunks in the least busy process, from which one more is started: before anybody has to wait."""

AGAIN_AFTER_S: Final = 60.0
"""Before another process is tried after one could not be started."""


class VoiceProcesses:
    """A `PooledVoice` of up to so many others."""

    def __init__(self, voice: Path, *, make: Callable[[Path], PooledVoice], most: int) -> None:
        self._voice = voice
        self._make = make
        self._most = most
        self._processes: list[PooledVoice] = []
        self._chunks: Counter[int] = Counter()
        """Being spoken, by the place of the process in the list."""
        self._growing: asyncio.Task[None] | None = None
        self._not_before = 0.0
        """When another process may be tried, by the loop's clock."""

    @property
    def trouble(self) -> str:
        """What keeps it from being asked; empty as long as one process can be."""
        troubles = [process.trouble for process in self._processes]
        return "" if not all(troubles) else next(iter(troubles), "")

    @property
    def restarts(self) -> int:
        """Of all processes together."""
        return sum(process.restarts for process in self._processes)

    async def start(self) -> Ready:
        """Start the first process; raises SpeechError if that can't be."""
        first = self._make(self._voice)
        self._processes.append(first)
        return await first.start()

    async def close(self) -> None:
        """End all processes."""
        if self._growing:
            self._growing.cancel()
            await asyncio.wait([self._growing])
        await asyncio.gather(*(process.close() for process in self._processes))
        self._processes.clear()

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """Speak one chunk; see the seam."""
        at = self._take()
        try:
            return await self._processes[at].synthesize(text, speed=speed)
        finally:
            self._chunks[at] -= 1

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        """The same piece by piece; see the seam."""
        at = self._take()
        try:
            async with aclosing(self._processes[at].stream(text, speed=speed)) as sounds:
                async for sound in sounds:
                    yield sound
        finally:
            self._chunks[at] -= 1

    def _take(self) -> int:
        """The least busy process that can be asked, for one more chunk."""
        at = min(
            range(len(self._processes)),
            key=lambda at: (bool(self._processes[at].trouble), self._chunks[at]),
        )
        self._chunks[at] += 1
        now = asyncio.get_running_loop().time()
        more = len(self._processes) < self._most and now >= self._not_before
        if more and self._chunks[at] >= MANY and not self._growing:
            self._growing = asyncio.create_task(self._grow(), name="one more voice process")
        return at

    async def _grow(self) -> None:
        process = self._make(self._voice)
        try:
            await process.start()
        except (SpeechError, OSError) as problem:
            log.warning("one more process of a voice cannot be started: %s", problem)
            self._not_before = asyncio.get_running_loop().time() + AGAIN_AFTER_S
            await process.close()
        except asyncio.CancelledError:
            await process.close()
            raise
        else:
            self._processes.append(process)
            log.info("%d processes of %s share the work now", len(self._processes), self._voice)
        finally:
            self._growing = None
