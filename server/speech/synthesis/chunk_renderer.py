"""Renders chunks of one reply: chooses language, voice and speed for each.

A short chunk that was said before is not made again: an acknowledgement costs nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.chunk import Chunk, MoreSound, at_rate, written_words
from sayso.server.speech.synthesis.chunk_stream import ChunkStream, ReplyRate
from sayso.server.speech.synthesis.phrase_cache import PhraseCache
from sayso.server.speech.synthesis.phrases import ON_SCREEN, is_own, phrase
from sayso.server.speech.synthesis.voices import Voices
from sayso.server.speech.text.language_id import in_english, language_of
from sayso.server.speech.text.speakable import spoken_pieces


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
    volume: int = 0
    """Percent; 0: as loud as the voice made it."""


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
        self._rate = ReplyRate(style.rates)

    async def tell(self, text: str) -> AsyncGenerator[Chunk | MoreSound, None]:
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

    async def _told(self, text: str, voice: str) -> AsyncGenerator[Chunk | MoreSound, None]:
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
        """Find out what language is expected, and whether the wished voice is there. A chunk that
        is dropped meanwhile leaves that to the next one."""
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
        self._begun = True

    async def _stand_in(self, text: str) -> AsyncGenerator[Chunk | MoreSound, None]:
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

    async def _say(
        self, text: str, voice: str, language: str
    ) -> AsyncGenerator[Chunk | MoreSound, None]:
        pieces = spoken_pieces(text, language)
        stream = ChunkStream(text, pieces, self._speed, self._rate)
        if not stream.words:
            return
        key = (voice, self._speed, stream.words)
        if (kept := self._memory.kept.get(*key)) is not None:
            begun_at = asyncio.get_running_loop().time()
            sound = at_rate(kept, self._rate.of(kept.rate))
            yield Chunk(text, replace(sound, words=written_words(pieces, sound.words)), begun_at)
            return
        keep = partial(self._memory.kept.put, *key)
        async with aclosing(stream.speak(self._voices, voice, self._on_remark, keep)) as parts:
            async for part in parts:
                yield part
