"""Renders chunks of one reply: chooses language, voice and speed for each.

A short chunk that was said before is not made again: an acknowledgement costs nothing.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

import numpy as np
import soxr

from sayso.protocol.messages import Word
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.phrases import ON_SCREEN, is_own, phrase
from sayso.server.speech.synthesis.stream_pieces import Piece, PieceCutter
from sayso.server.speech.synthesis.synthesizer import (
    Sound,
    StreamingSynthesizer,
    SynthesizerLost,
)
from sayso.server.speech.synthesis.voices import Voices
from sayso.server.speech.text.language_id import in_english, language_of
from sayso.server.speech.text.speakable import Spoken, spoken_pieces

TRIES = 2
"""How often a chunk is synthesized whose synthesizer dies under it."""

STARTED_AGAIN = (
    "The speech synthesiser stopped and is started again; the answer goes on in a moment."
)

LONGEST_KEPT = 48
"""Characters of a chunk whose sound is kept: "Okay.", "One moment.", "May I run this?"."""

STREAMED_FROM = 28
"""Characters of a chunk that is played while its sound still comes, where a voice can do that: it
has words to be cut between, and is none of the few that are kept, which are said at once."""

MOST_KEPT = 64
"""Sounds that are kept, the latest used: ten megabytes at most."""


@dataclass(frozen=True, slots=True)
class SpeakingStyle:
    """How somebody likes to be spoken to. What is left out is as the settings say."""

    voice: str = ""
    """A voice's name, or a part of it: `joe`. It speaks what is in its language."""
    speed: float | None = None
    """2.0 is twice as fast."""
    language: str = ""
    """The language that is expected (BCP 47), unless the words are clearly in another one."""
    rates: tuple[int, ...] = ()
    """Samples a second that their loudspeaker takes; empty: any."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the reply, ready to be played."""

    text: str
    """As written, without markup."""
    sound: Sound
    """Its words are those of `text`, each with its time."""
    begun_at: float = 0.0
    """When its words were complete, on the event loop's clock."""


class Kept:
    """Sounds of short chunks, by voice, speed and words."""

    def __init__(self) -> None:
        self._sounds: OrderedDict[tuple[str, float, str], Sound] = OrderedDict()

    def get(self, voice: str, speed: float, words: str) -> Sound | None:
        key = (voice, speed, words)
        if key in self._sounds:
            self._sounds.move_to_end(key)
        return self._sounds.get(key)

    def put(self, voice: str, speed: float, words: str, sound: Sound) -> None:
        if len(words) <= LONGEST_KEPT:
            self._sounds[voice, speed, words] = sound
            if len(self._sounds) > MOST_KEPT:
                self._sounds.popitem(last=False)


class PhraseCache:
    """What lasts from reply to reply."""

    def __init__(self) -> None:
        self.kept = Kept()
        self._remarked: set[str] = set()

    def is_news(self, remark: str) -> bool:
        """Was this never remarked before?"""
        news = remark not in self._remarked
        self._remarked.add(remark)
        return news


class ChunkRenderer:
    """Says the chunks of one reply, one after the other."""

    def __init__(
        self,
        voices: Voices,
        memory: PhraseCache,
        style: SpeakingStyle,
        speed: float,
        on_remark: Callable[[str], None],
    ) -> None:
        self._voices = voices
        self._memory = memory
        self._speed = style.speed or speed
        self._language = style.language.partition("-")[0].lower()
        """Of the last words."""
        self._wish = style.voice
        self._on_remark = on_remark
        self._begun = False
        self._unsaid: set[str] = set()
        """Languages of this reply that no voice speaks, where the person was told so."""
        self._rates = style.rates
        self._rate = 0
        """Of the first sound, and so of all."""

    async def tell(self, text: str) -> AsyncGenerator[Chunk, None]:
        """The text in sound: a chunk, several if its sound comes by and by, none if there is
        nothing to be said."""
        if not self._begun:
            await self._begin()
        if is_own(text):
            text = phrase(text, self._language)
        else:
            self._language = language_of(text, self._language)
        voice = await self._voices.pick(self._wish, self._language)
        said = self._told(text, voice) if voice is not None else self._stand_in(text)
        async with aclosing(said) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _told(self, text: str, voice: str) -> AsyncGenerator[Chunk, None]:
        """By this voice, or by the usual one if that can't."""
        begun = False
        try:
            async with aclosing(self._say(text, voice, self._language)) as chunks:
                async for chunk in chunks:
                    begun = True
                    yield chunk
        except SpeechError as problem:
            if begun or voice == self._voices.usual:
                raise
            self._remark_once(f"{problem} Until then, {self._voices.usual} speaks.")
            self._wish = ""
        else:
            return
        usual = self._language == self._voices.language
        said = (
            self._say(text, self._voices.usual, self._language) if usual else self._stand_in(text)
        )
        async with aclosing(said) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _begin(self) -> None:
        """Find out what language is expected, and whether the wished voice is there."""
        self._begun = True
        theirs = await self._voices.language_of(self._wish) if self._wish else None
        if self._language and await self._voices.pick(self._wish, self._language) is None:
            self._language = ""  # nobody speaks it: only what is clearly in it is not spoken
        self._language = self._language or theirs or self._voices.language
        if self._wish and theirs is None:
            self._remark_once(
                f"There is no voice named {self._wish} here; `sayso models` lists those that are. "
                "The usual one speaks instead."
            )
            self._wish = ""

    async def _stand_in(self, text: str) -> AsyncGenerator[Chunk, None]:
        """Nobody speaks this language: say that, once, rather than what nobody understands."""
        if self._language in self._unsaid or not any(map(str.isalpha, text)):
            return
        self._unsaid.add(self._language)
        self._remark_once(
            f"This answer is in {in_english(self._language)}, and no voice here speaks it, so it "
            "is only shown. `sayso models get` fetches a voice."
        )
        usual = self._voices.language
        said = self._say(phrase(ON_SCREEN, usual), self._voices.usual, usual)
        async with aclosing(said) as chunks:
            async for chunk in chunks:
                yield chunk

    def _remark_once(self, remark: str) -> None:
        if self._memory.is_news(remark):
            self._on_remark(remark)

    async def _say(self, text: str, voice: str, language: str) -> AsyncGenerator[Chunk, None]:
        begun_at = asyncio.get_running_loop().time()
        pieces = spoken_pieces(text, language)
        words = " ".join(piece.spoken for piece in pieces if piece.spoken)
        if not words:
            return
        kept = self._memory.kept.get(voice, self._speed, words)
        if kept is None and len(words) >= STREAMED_FROM:
            speaker = await self._voices.of(voice)
            if isinstance(speaker, StreamingSynthesizer):
                async with aclosing(self._stream(speaker, words, pieces)) as parts:
                    async for part in parts:
                        yield Chunk(part.text, part.sound, begun_at)
                return
        sound = kept or await self._sound(words, voice)
        self._rate = self._rate or best_rate(sound.rate, self._rates)
        sound = at_rate(replace(sound, words=written_words(pieces, sound.words)), self._rate)
        yield Chunk(text, sound, begun_at)

    async def _stream(
        self, speaker: StreamingSynthesizer, words: str, pieces: list[Spoken]
    ) -> AsyncGenerator[Piece, None]:
        """The words as their sound comes."""
        cutter: PieceCutter | None = None
        async with aclosing(speaker.stream(words, speed=self._speed)) as sounds:
            async for sound in sounds:
                if cutter is None:
                    self._rate = self._rate or best_rate(sound.rate, self._rates)
                    cutter = PieceCutter(pieces, sound.rate, self._rate, self._speed)
                if piece := cutter.feed(sound.pcm):
                    yield piece
        if cutter is not None and (last := cutter.finish()):
            yield last

    async def _sound(self, words: str, voice: str) -> Sound:
        for _ in range(TRIES):
            speaker = await self._voices.of(voice)
            try:
                sound = await speaker.synthesize(words, speed=self._speed)
            except SynthesizerLost:
                self._on_remark(STARTED_AGAIN)
                continue
            self._memory.kept.put(voice, self._speed, words, sound)
            return sound
        raise SpeechError(
            "The speech synthesiser stopped over this answer; read it on the screen. "
            "If that happens again, run `sayso doctor`."
        )


def best_rate(made: int, taken: tuple[int, ...]) -> int:
    """The rate that loses least among those that a loudspeaker takes."""
    if not taken or made in taken:
        return made
    return min((rate for rate in taken if rate > made), default=max(taken))


def at_rate(sound: Sound, rate: int) -> Sound:
    """The sound at another rate: all of a reply is one stream, whichever voice speaks."""
    if sound.rate == rate:
        return sound
    samples = soxr.resample(np.frombuffer(sound.pcm, "<i2"), sound.rate, rate)
    length = len(samples)
    scale = rate / sound.rate
    words = tuple(
        Word(word.text, round(word.start * scale), min(length, round(word.end * scale)))
        for word in sound.words
    )
    if words:
        words = (*words[:-1], replace(words[-1], end=length))
    return Sound(samples.astype("<i2").tobytes(), rate, words)


def written_words(pieces: list[Spoken], heard: tuple[Word, ...]) -> tuple[Word, ...]:
    """Times of the written words from those of the spoken: "25" lasts as long as "twenty-five"."""
    if len(heard) != sum(len(piece.spoken.split()) for piece in pieces):
        return ()
    words: list[Word] = []
    at = 0
    for piece in pieces:
        own = heard[at : at + len(piece.spoken.split())]
        at += len(own)
        if own:
            words.append(Word(piece.written, own[0].start, own[-1].end))
        elif words:
            last = words.pop()
            words.append(Word(f"{last.text} {piece.written}", last.start, last.end))
    return tuple(words)
