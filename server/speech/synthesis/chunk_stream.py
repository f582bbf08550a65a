"""Speaks one chunk with one voice, and hands on its sound as it comes.

    voice with word times     Chunk ── MoreSound ── MoreSound        announced whole, at once
    voice without them        Chunk ─────── Chunk ────── Chunk       its words laid along the sound

A voice whose process dies goes on with the word in which it was cut off.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Final

from sayso.audio.convert import Soxr
from sayso.protocol.messages import Word
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.chunk import (
    Chunk,
    MoreSound,
    best_rate,
    samples_at,
    scaled,
    written_words,
)
from sayso.server.speech.synthesis.stream_pieces import PieceCutter
from sayso.server.speech.synthesis.synthesizer import (
    Sound,
    StreamingSynthesizer,
    Synthesizer,
    SynthesizerLost,
)
from sayso.server.speech.synthesis.voices import Voices
from sayso.server.speech.synthesis.word_times import shared_out
from sayso.server.speech.text.speakable import Spoken

TRIES: Final = 2
"""How often a chunk is synthesized whose synthesizer dies under it."""

STARTED_AGAIN: Final = (
    "The speech synthesiser stopped and is started again; the answer goes on in a moment."
)

STOPPED_AGAIN: Final = (
    "The speech synthesiser stopped over this answer; read it on the screen. "
    "If that happens again, run `sayso doctor`."
)


class ReplyRate:
    """The rate of all chunks of a reply, since they are one stream: that which loses least of the
    first one."""

    def __init__(self, taken: tuple[int, ...]) -> None:
        self._taken = taken
        self._rate = 0

    def of(self, made: int) -> int:
        """What sound of this rate is brought to."""
        self._rate = self._rate or best_rate(made, self._taken)
        return self._rate


class ChunkStream:
    """One chunk: the words as they are spoken, and what they stand for."""

    def __init__(self, text: str, pieces: Sequence[Spoken], speed: float, rate: ReplyRate) -> None:
        self.words = " ".join(piece.spoken for piece in pieces if piece.spoken)
        """What is said; empty if nothing is."""
        self._text = text
        self._pieces = list(pieces)
        self._speed = speed
        self._rate = rate
        self._begun_at = asyncio.get_running_loop().time()

    async def speak(
        self,
        voices: Voices,
        voice: str,
        on_remark: Callable[[str], None],
        on_whole: Callable[[Sound], None],
    ) -> AsyncGenerator[Chunk | MoreSound, None]:
        """By this voice. `on_whole` takes all of the sound when it is complete. Raises SpeechError,
        also in the middle."""
        sounds = self._sounds(voices, voice, on_remark)
        made = bytearray()
        async with aclosing(sounds):
            first = await anext(sounds, None)
            if first is None:
                return
            words = first.words
            going_on = self._announced(first, sounds) if words else self._in_pieces(first, sounds)
            made += first.pcm
            async with aclosing(going_on) as parts:
                async for sound, part in parts:
                    made += sound
                    if part is not None:
                        yield part
        samples = len(made) // 2
        if not words or words[-1].end == samples:
            timed = words or shared_out(self.words.split(), samples)
            on_whole(Sound(bytes(made), first.rate, timed))

    async def _announced(
        self, first: Sound, sounds: AsyncGenerator[Sound, None]
    ) -> AsyncGenerator[tuple[bytes, Chunk | MoreSound | None], None]:
        """One chunk whose words are told with its first sound."""
        rate = self._rate.of(first.rate)
        resampler = Soxr(first.rate, rate) if rate != first.rate else None
        expected = first.words[-1].end
        samples = samples_at(expected, first.rate, rate)
        given, sent = 0, 0

        def converted(pcm: bytes) -> bytes:
            nonlocal given, sent, resampler
            given += len(pcm) // 2
            if resampler:
                pcm = resampler.feed(pcm)
                if given == expected:  # the end: to the sample, as it was announced
                    left = 2 * (samples - sent)
                    pcm = (pcm + resampler.finish())[:left].ljust(left, b"\0")
                    resampler = Soxr(first.rate, rate)
            sent += len(pcm) // 2
            return pcm

        words = scaled(written_words(self._pieces, first.words), first.rate, rate)
        sound = Sound(converted(first.pcm), rate, words)
        more = given != expected
        yield b"", Chunk(self._text, sound, self._begun_at, samples, more)
        async for later in sounds:
            pcm = converted(later.pcm)
            more = given != expected
            yield later.pcm, MoreSound(pcm, more)
        if more:
            yield b"", MoreSound(resampler.finish() if resampler else b"", more=False)

    async def _in_pieces(
        self, first: Sound, sounds: AsyncGenerator[Sound, None]
    ) -> AsyncGenerator[tuple[bytes, Chunk | MoreSound | None], None]:
        """Several chunks, each with the words that were surely said by then."""
        rate = self._rate.of(first.rate)
        cutter = PieceCutter(self._pieces, first.rate, rate, self._speed)
        if piece := cutter.feed(first.pcm):
            yield b"", Chunk(piece.text, piece.sound, self._begun_at)
        async for sound in sounds:
            cut = cutter.feed(sound.pcm)
            yield sound.pcm, Chunk(cut.text, cut.sound, self._begun_at) if cut else None
        if last := cutter.finish():
            yield b"", Chunk(last.text, last.sound, self._begun_at)

    async def _sounds(
        self, voices: Voices, voice: str, on_remark: Callable[[str], None]
    ) -> AsyncGenerator[Sound, None]:
        """As the voice makes it, by its next process too if one dies."""
        given = 0
        words: tuple[Word, ...] = ()
        left = self.words
        for _ in range(TRIES):
            speaker = await voices.of(voice)
            try:
                async with aclosing(_stream(speaker, left, self._speed)) as sounds:
                    async for sound in sounds:
                        words = words if given else sound.words
                        yield Sound(sound.pcm, sound.rate) if given else sound
                        given += len(sound.pcm) // 2
            except SynthesizerLost:
                if given and not words:  # nobody knows where it was
                    break
                on_remark(STARTED_AGAIN)
                if given:
                    left = " ".join(word.text for word in words if word.end > given)
            else:
                return
        raise SpeechError(STOPPED_AGAIN)


async def _stream(speaker: Synthesizer, text: str, speed: float) -> AsyncGenerator[Sound, None]:
    """What any voice makes: in pieces if it can, else in one."""
    if not isinstance(speaker, StreamingSynthesizer):
        yield await speaker.synthesize(text, speed=speed)
        return
    async with aclosing(speaker.stream(text, speed=speed)) as sounds:
        async for sound in sounds:
            yield sound
