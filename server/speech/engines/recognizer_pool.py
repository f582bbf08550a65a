"""Several processes of one recogniser: one to begin with, more when somebody has to wait.

    one person   ──► process 1
    two at once  ──► process 1, and 2 is started; from then on both are asked

A household has one process in memory, and a school has as many as `ears.workers` allows.
"""

import asyncio
import logging
from collections.abc import Callable

from sayso.server.speech.engines.engine import RecognizerPart
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.recognition.recognizer import RecognizerLost, Transcript

log = logging.getLogger(__name__)

AGAIN_AFTER_S = 60.0
"""Before another process is tried after one could not be started."""


class RecognizerPool:
    """A `RecognizerPart` of up to so many others; each takes one pass at a time."""

    def __init__(self, make: Callable[[], RecognizerPart], most: int) -> None:
        self._make = make
        self._most = most
        self._ready: list[RecognizerPart] = []
        self._idle: asyncio.Queue[RecognizerPart] = asyncio.Queue()
        self._growing: asyncio.Task[None] | None = None
        self._not_before = 0.0
        """When another process may be tried, by the loop's clock."""

    @property
    def places(self) -> int:
        """How many passes can be made at the same time now."""
        return max(1, len(self._ready))

    @property
    def trouble(self) -> str:
        """What keeps it from being asked; empty as long as one process can be."""
        troubles = [part.trouble for part in self._ready]
        return "" if not all(troubles) else next(iter(troubles), "")

    @property
    def restarts(self) -> int:
        """Of all processes together."""
        return sum(part.restarts for part in self._ready)

    async def start(self) -> object:
        """Start the first process; raises SpeechError if that can't be."""
        part = self._make()
        self._add(part)
        return await part.start()

    async def close(self) -> None:
        """End all processes."""
        if self._growing:
            self._growing.cancel()
            await asyncio.wait([self._growing])
        await asyncio.gather(*(part.close() for part in self._ready))
        self._ready.clear()

    def crowded(self) -> None:
        """Somebody has to wait for a pass: one more process is started, if there may be one."""
        now = asyncio.get_running_loop().time()
        if self._growing or len(self._ready) >= self._most or now < self._not_before:
            return
        self._growing = asyncio.create_task(self._grow(), name="one more recogniser")

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        """See the seam. While all processes are busy, the first to be free takes it."""
        part = await self._working()
        try:
            return await part.transcribe(pcm, draft=draft, prompt=prompt, language=language)
        finally:
            self._idle.put_nowait(part)

    async def _working(self) -> RecognizerPart:
        """A free process that can be asked; where none can, the one that is being restarted."""
        passed: list[RecognizerPart] = []
        try:
            while True:
                part = await self._idle.get()
                if not part.trouble or self._idle.empty():
                    return part
                passed.append(part)
        finally:
            for one in passed:
                self._idle.put_nowait(one)

    def _add(self, part: RecognizerPart) -> None:
        self._ready.append(part)
        self._idle.put_nowait(part)

    async def _grow(self) -> None:
        part = self._make()
        try:
            await part.start()
        except (SpeechError, RecognizerLost, OSError) as problem:
            log.warning("one more recogniser cannot be started: %s", problem)
            self._not_before = asyncio.get_running_loop().time() + AGAIN_AFTER_S
            await part.close()
        except asyncio.CancelledError:
            await part.close()
            raise
        else:
            self._add(part)
            log.info("%d recognisers share the work now", len(self._ready))
        finally:
            self._growing = None
