"""Speaks text for clients that want its sound and no conversation, at a rate of theirs."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from sayso.audio.resample import Resampler, resampler
from sayso.server.speech.synthesis.session import (
    Chunk,
    MoreSound,
    SpeakingStyle,
    SpeechSynthesis,
    SynthesisFailed,
)

PIECES_WAITING: Final = 8
"""Pieces of sound that a client has not taken yet: no more is made before it does."""


class SpokenText:
    """Text that becomes sound while it may still be written."""

    def __init__(self, synthesis: SpeechSynthesis, style: SpeakingStyle, rate: int) -> None:
        """`rate`: samples a second of the sound that is wanted."""
        self._rate = rate
        self._resampler: Resampler | None = None
        self._from_rate = 0
        self._sounds: asyncio.Queue[bytes | None] = asyncio.Queue(PIECES_WAITING)
        self._reply = synthesis.speak(self._take, style)
        self.failed = ""
        """Why there is no more sound, in a sentence for the person."""

    def say(self, text: str) -> None:
        """More of the text."""
        self._reply.say(text)

    def finish(self) -> None:
        """That was all of it."""
        self._reply.finish()

    async def sound(self) -> AsyncGenerator[bytes, None]:
        """PCM16 mono, as it is made; to be read once."""
        try:
            while (sound := await self._sounds.get()) is not None:
                if sound:
                    yield sound
        finally:
            self._reply.stop()

    async def _take(self, handed: Chunk | MoreSound | SynthesisFailed | None) -> None:
        if isinstance(handed, Chunk):
            if self._from_rate != handed.sound.rate:
                self._from_rate = handed.sound.rate
                self._resampler = resampler(handed.sound.rate, self._rate)
            await self._feed(handed.sound.pcm)
        elif isinstance(handed, MoreSound):
            await self._feed(handed.pcm)
        else:
            if self._resampler:
                await self._sounds.put(self._resampler.finish())
            if isinstance(handed, SynthesisFailed):
                self.failed = handed.message
            await self._sounds.put(None)

    async def _feed(self, pcm: bytes) -> None:
        if self._resampler:
            await self._sounds.put(self._resampler.feed(pcm))
