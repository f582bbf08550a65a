"""The synthesizer: piper in a process of its own."""

import asyncio
from pathlib import Path

from sayso.protocol.messages import Word
from sayso.server.speech.synthesis.synthesizer import Sound, SynthesizerLost
from sayso.server.speech.workers.supervisor import Ready, Supervisor, WorkerLost
from sayso.server.speech.workers.wire import Note, Value, WireBroken

BASE_LIMIT = 10.0
"""Seconds that a chunk may take before the worker counts as hung, on a slow and busy machine …"""

LIMIT_PER_CHARACTER = 0.1
"""… and as much more for each character."""

SLOWEST, FASTEST = 0.5, 2.0
"""Piper cannot speak faster, and nobody wants it slower."""


class PiperSynthesizer:
    """A `Synthesizer` on piper, supervised.

    Piper says nothing twice in the same way. From the same `seed` it goes through the same ways
    again, so that what was said badly once can be heard again.
    """

    def __init__(self, voice: Path, *, threads: int = 2, seed: int = 0) -> None:
        self._lock = asyncio.Lock()
        self._worker = Supervisor(
            "sayso.server.speech.engines.piper.worker",
            Note("load", {"voice": str(voice), "threads": threads, "seed": seed}),
            name="speech synthesiser",
            threads=threads,
        )

    @property
    def trouble(self) -> str:
        """What keeps it from being asked, for a person; empty if nothing does."""
        return self._worker.trouble

    @property
    def restarts(self) -> int:
        """How often it had to be started again."""
        return self._worker.restarts

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._worker.pid

    async def start(self) -> Ready:
        """Load the voice and warm it up; raises SpeechError if that can't be."""
        return await self._worker.start()

    async def ready(self) -> Ready:
        """Wait until it can be asked, also after a restart."""
        return await self._worker.ready()

    async def close(self) -> None:
        """End the worker."""
        await self._worker.close()

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """Speak one chunk; see the seam."""
        speed = min(max(speed, SLOWEST), FASTEST)
        async with self._lock:
            try:
                answer = await self._worker.ask(
                    "speak",
                    Note("speak", {"text": text, "speed": speed}),
                    limit=BASE_LIMIT + LIMIT_PER_CHARACTER * len(text),
                )
            except WorkerLost:
                raise SynthesizerLost from None
        words = tuple(_word(row) for row in answer.rows("words"))
        return Sound(answer.load, answer.whole("rate"), words)


def _word(row: list[Value]) -> Word:
    match row:
        case [str(text), int(start), int(end)]:
            return Word(text, start, end)
    raise WireBroken("a word without its times")
