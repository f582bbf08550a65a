"""The synthesizer: piper in a process of its own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from sayso.protocol.messages import Word
from sayso.server.speech.errors import TooManySpeak
from sayso.server.speech.synthesis.synthesizer import Sound, SynthesizerLost
from sayso.server.speech.workers.supervised_engine import SupervisedEngine
from sayso.server.speech.workers.supervisor import Supervisor, WorkerLost
from sayso.server.speech.workers.wire import Note, Value, WireBroken

BASE_LIMIT = 10.0
"""Seconds that a piece of sound may take before the worker counts as hung, on a slow and busy
machine …"""

LIMIT_PER_CHARACTER = 0.1
"""… and as much more for each character of its chunk: some voices speak only whole chunks."""

SLOWEST, FASTEST = 0.5, 2.0
"""Piper cannot speak faster, and nobody wants it slower."""


PLACE_WITHIN_S = 5.0
"""An answer that waits longer for others' chunks is shown and not spoken."""

TOO_BUSY = "Too many answers are being spoken at once for this machine; this one is only shown."

MOST_AT_ONCE = 8
"""Chunks that it is asked for together: as many as one core computes faster than they are heard.
Whose next sound is needed first goes on, so that nobody waits for another's whole chunk."""


class PiperSynthesizer(SupervisedEngine):
    """A `StreamingSynthesizer` on piper, supervised. In the folder `parts` it keeps what it made of
    the voice to speak sooner, if there is one.

    Piper says nothing twice in the same way. From the same `seed` it goes through the same ways
    again, so that what was said badly once can be heard again.
    """

    def __init__(
        self, voice: Path, *, threads: int = 2, seed: int = 0, parts: Path | None = None
    ) -> None:
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
        kept = str(parts) if parts else ""
        order: dict[str, Value] = {"voice": str(voice), "threads": threads, "seed": seed}
        worker = Supervisor(
            "sayso.server.speech.engines.piper.worker",
            Note("load", {**order, "parts": kept}),
            name="speech synthesiser",
            threads=threads,
        )
        super().__init__(worker)

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """Speak one chunk; see the seam."""
        async with aclosing(self.stream(text, speed=speed)) as stream:
            sounds = [sound async for sound in stream]
        return Sound(b"".join(each.pcm for each in sounds), sounds[0].rate, sounds[0].words)

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        """The same piece by piece; see the seam. How slowly it is taken holds up nobody else."""
        came: asyncio.Queue[Sound | Exception | None] = asyncio.Queue()
        making = asyncio.create_task(self._make(text, speed, came), name="piper speaks")
        try:
            while (sound := await came.get()) is not None:
                if isinstance(sound, Exception):
                    raise sound
                yield sound
        finally:
            making.cancel()
            await asyncio.wait([making])

    async def _make(
        self, text: str, speed: float, came: asyncio.Queue[Sound | Exception | None]
    ) -> None:
        """Have it spoken. Its last word is None, or what went wrong."""
        wanted = Note("speak", {"text": text, "speed": min(max(speed, SLOWEST), FASTEST)})
        limit = BASE_LIMIT + LIMIT_PER_CHARACTER * len(text)
        try:
            async with (
                self._place(),
                aclosing(self._worker.ask_in_parts("speak", wanted, limit=limit)) as parts,
            ):
                async for part in parts:
                    if part.kind == "sound":
                        words = tuple(_word(row) for row in part.rows("words"))
                        came.put_nowait(Sound(part.load, part.whole("rate"), words))
            came.put_nowait(None)
        except WorkerLost:
            came.put_nowait(SynthesizerLost())
        except Exception as problem:  # noqa: BLE001 (it is raised where the sound is waited for)
            came.put_nowait(problem)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None, None]:
        """Among those that are spoken together. Raises TooManySpeak where there is none soon."""
        try:
            await asyncio.wait_for(self._places.acquire(), PLACE_WITHIN_S)
        except TimeoutError:
            raise TooManySpeak(TOO_BUSY) from None
        try:
            yield
        finally:
            self._places.release()


def _word(row: list[Value]) -> Word:
    match row:
        case [str(text), int(start), int(end)]:
            return Word(text, start, end)
    raise WireBroken("a word without its times")
