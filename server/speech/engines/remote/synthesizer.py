"""The synthesiser: `POST /audio/speech` of another server, played as it comes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, Literal

from sayso.audio.errors import BadSound
from sayso.server.speech.engines.remote.server import ShapeRefused, SpeechServer, patient
from sayso.server.speech.engines.remote.sound_stream import SoundStream
from sayso.server.speech.errors import ServerFailed
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.word_times import shared_out

TRIES: Final = 2
"""How often a chunk is asked for whose sound does not begin."""

SLOWEST, FASTEST = 0.5, 2.0
"""As the settings have it; the wire goes further."""

SILENCE_S: Final = 15.0
"""Without a byte for so long, nothing more comes: somebody waits in silence."""

LIMIT_S: Final = 20.0
LIMIT_PER_LETTER: Final = 0.5
"""Seconds until all of a chunk must have come, however slowly: it is late by then for long."""

SECONDS_AT_LEAST: Final = 10.0
SECONDS_PER_LETTER: Final = 0.5
"""A sound that is longer than that was not made of this text: the slowest voice takes a fifth."""

Shape = Literal["wav", "pcm"]


class RemoteSynthesizer:
    """A `StreamingSynthesizer` in another server. Leaving its stream closes the connection."""

    def __init__(self, server: SpeechServer, model: str, voice: str) -> None:
        self._server = server
        self._model = model
        self._voice = voice
        self._shape: Shape = "wav"
        """WAV tells its rate; servers that don't make it are asked for raw sound."""

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """Speak one chunk of speakable text; see the seam."""
        pcm, rate = bytearray(), 0
        async with aclosing(self.stream(text, speed=speed)) as pieces:
            async for piece in pieces:
                pcm += piece.pcm
                rate = piece.rate
        return Sound(bytes(pcm), rate, shared_out(text.split(), len(pcm) // 2))

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        """The same piece by piece, each as it comes; raises ServerFailed, also in the middle."""
        for tries_left in reversed(range(TRIES)):
            begun = False
            try:
                async with aclosing(self._shaped(text, speed)) as pieces:
                    async for piece in pieces:
                        begun = True
                        yield piece
            except ServerFailed as problem:
                if begun:
                    raise
                await patient(problem, tries_left)
            else:
                return

    async def _shaped(self, text: str, speed: float) -> AsyncGenerator[Sound, None]:
        """In a shape that the server takes."""
        for shape in ("wav", "pcm") if self._shape == "wav" else ("pcm",):
            try:
                async with aclosing(self._asked(text, speed, shape)) as pieces:
                    async for piece in pieces:
                        self._shape = shape
                        yield piece
            except ShapeRefused:
                if shape == "pcm":
                    raise
            else:
                return

    async def _asked(self, text: str, speed: float, shape: Shape) -> AsyncGenerator[Sound, None]:
        wanted: dict[str, str | float] = {
            "model": self._model,
            "voice": self._voice,
            "input": text,
            "response_format": shape,
        }
        if speed != 1.0:
            wanted["speed"] = min(max(speed, SLOWEST), FASTEST)
        clock = asyncio.get_running_loop().time
        late_at = clock() + LIMIT_S + LIMIT_PER_LETTER * len(text)
        most_s = (SECONDS_AT_LEAST + SECONDS_PER_LETTER * len(text)) / SLOWEST
        heard_s = 0.0
        async with self._server.ask(
            "POST", "/audio/speech", silence_s=SILENCE_S, json=wanted
        ) as answer:
            kind = answer.headers.get("content-type", "")
            sound = SoundStream(kind, raw_wanted=shape == "pcm")
            try:
                async for block in answer.aiter_raw():
                    if pcm := sound.feed(block):
                        heard_s += len(pcm) / 2 / sound.rate
                        yield Sound(pcm, sound.rate)
                    if heard_s > most_s or clock() > late_at:
                        raise ServerFailed(
                            f"The speech server at {self._server.name} does not come to an end; "
                            "the rest is on your screen."
                        )
                sound.finish()
            except BadSound:
                raise self._server.nonsense() from None
