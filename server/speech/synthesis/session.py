"""Speaks one answer: text comes in as it is written, speech goes out chunk by chunk.

say ──► prose ──► clauses ──► telling ──► synthesizer ──► on_chunk
       markdown   chunks of   language,    one chunk       in order,
       is shown   the text    voice, and   ahead           then None
                              "25 km" as
                              it is said
"""

import asyncio
import inspect
import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from sayso.server.speech.errors import SpeechError
from sayso.server.speech.synthesis.chunk import Chunk, MoreSound
from sayso.server.speech.synthesis.chunk_renderer import ChunkRenderer, SpeakingStyle
from sayso.server.speech.synthesis.clauses import ClauseSplitter
from sayso.server.speech.synthesis.phrase_cache import PhraseCache
from sayso.server.speech.synthesis.voices import Voices
from sayso.server.speech.text.prose import Prose
from sayso.server.speech.text.speakable import spoken

__all__ = [
    "Chunk",
    "MoreSound",
    "SpeakingStyle",
    "SpeechSynthesis",
    "SpokenReply",
    "SynthesisFailed",
]

log = logging.getLogger(__name__)

LOOK_AHEAD = 1
"""Chunks that are synthesized before they are wanted: enough that there is never a gap, and little
enough that an interruption wastes little."""

MAX_WAITING = 100_000
"""Characters of a reply that are kept waiting to be spoken: an hour and a half of speech. What goes
beyond is shown and not spoken."""

HURRY_BEFORE = 0.35
"""Seconds before the voice would run dry in which an unfinished sentence gives up its clauses: the
first sound of a chunk takes a tenth of a second at most, the rest is for the way to the
loudspeaker. A machine that takes longer for it begins to hurry so much earlier, …"""

HURRY_AT_MOST = 2.0
"""… up to so many seconds: beyond that sentences would fall into shreds."""

NOT_SPOKEN = "This answer cannot be spoken; read it on the screen."


@dataclass(frozen=True, slots=True)
class SynthesisFailed:
    """Nothing more of this reply will be spoken."""

    message: str
    """One sentence that says what to do."""


Handed = Chunk | MoreSound | SynthesisFailed | None

OnChunk = Callable[[Handed], Awaitable[None] | None]
"""Takes the chunks in order, each with more of its sound behind it, then None at the end or
SynthesisFailed. If it gives an awaitable, the next is handed over only when that is done; meanwhile
one more is made."""


class SpeechSynthesis:
    """Speaks replies with the voices that there are."""

    def __init__(self, voices: Voices, *, speed: float = 1.0) -> None:
        self._voices = voices
        self._memory = PhraseCache()
        self.speed = speed
        """2.0 is twice as fast; counts for replies that begin from now on."""
        spoken(
            "0", voices.language
        )  # fetches the words for numbers before the first answer needs them

    @property
    def language(self) -> str:
        """Of those who did not say what they speak: the usual voice's."""
        return self._voices.language

    async def can_speak(self, language: str) -> bool:
        """Is there a voice for it (BCP 47)?"""
        return await self._voices.pick("", language.partition("-")[0].lower()) is not None

    async def has_voice(self, name: str) -> bool:
        """Is there a voice of this name, or with it as a part of its name?"""
        return await self._voices.language_of(name) is not None

    async def another_voice(self, name: str, language: str) -> str | None:
        """The name of another voice than this one (empty: the usual one) for a language (BCP 47);
        asked for again and again, each has its turn. None if there is no other."""
        return await self._voices.next_to(name, language.partition("-")[0].lower())

    def speak(
        self,
        on_chunk: OnChunk,
        style: SpeakingStyle | None = None,
        on_remark: Callable[[str], None] = lambda _: None,
    ) -> "SpokenReply":
        """Begin a reply, in the manner that its listener likes.

        `on_remark` takes sentences about the speech that are for a screen.
        """
        return SpokenReply(self._telling(style, on_remark), on_chunk)

    async def prepare(self, phrases: Iterable[str], style: SpeakingStyle | None = None) -> None:
        """Make what will be said at short notice beforehand. Raises SpeechError."""
        for phrase in phrases:
            async with aclosing(self._telling(style, lambda _: None).tell(phrase)) as chunks:
                async for _ in chunks:
                    pass

    def _telling(
        self, style: SpeakingStyle | None, on_remark: Callable[[str], None]
    ) -> ChunkRenderer:
        return ChunkRenderer(
            self._voices, self._memory, style or SpeakingStyle(), self.speed, on_remark
        )


class SpokenReply:
    """One reply, from its first words to the last."""

    def __init__(self, telling: ChunkRenderer, on_chunk: OnChunk) -> None:
        self._telling = telling
        self._on_chunk = on_chunk
        self._prose = Prose()
        self._splitter = ClauseSplitter()
        self._texts: asyncio.Queue[str | None] = asyncio.Queue()
        self._waiting = 0
        """Characters in `_texts`."""
        self._ready: asyncio.Queue[Handed] = asyncio.Queue(LOOK_AHEAD)
        self._open = True
        self._dry_at = math.inf
        """When all that was handed over will have been played, if it is played at once."""
        self._hurry: asyncio.TimerHandle | None = None
        self._is_making = False
        self._guess: _Guess | None = None
        """What is said next, if the letter that comes next shows that the sentence is over."""
        self._takes = 0.0
        """Seconds that the first sound of the latest chunk took to be made."""
        self._tasks = [
            asyncio.create_task(self._make(), name="synthesis"),
            asyncio.create_task(self._hand_over(), name="synthesis hands over"),
        ]

    def say(self, delta: str) -> None:
        """The next piece of the reply, of any size. Halves of characters, which a model sends that
        cuts an emoji in two, are not spoken: no voice's process takes them."""
        if self._open:
            delta = delta.encode(errors="ignore").decode()
            self._queue(self._splitter.feed(self._prose.feed(delta)))
            self._hurry_if_dry()
            self._make_ahead()

    def finish(self) -> None:
        """The reply is complete; what is left of it is spoken."""
        if self._open:
            self._open = False
            self._queue(self._splitter.feed(self._prose.finish()))
            self._queue(self._splitter.finish())
            self._texts.put_nowait(None)

    def stop(self) -> None:
        """Not another word: nothing more is made or handed over."""
        self._open = False
        if self._hurry is not None:
            self._hurry.cancel()
        self._drop_guess()
        for task in self._tasks:
            task.cancel()

    def _make_ahead(self) -> None:
        """Whether "3." ends a sentence shows with the letter after it, for which a model takes as
        long as a voice for the sound. Nothing of it is handed over before that."""
        likely = self._splitter.likely
        if self._guess is not None and self._guess.text != likely and not self._waiting:
            self._drop_guess()
        idle = not self._waiting and not self._is_making
        if likely and idle and self._guess is None:
            self._guess = _Guess(likely, self._telling.tell(likely))

    def _drop_guess(self) -> None:
        if self._guess is not None:
            self._guess.drop()
            self._guess = None

    def _hurry_if_dry(self) -> None:
        """Nothing is left to be said and the voice will soon be silent: don't wait for the stop."""
        soon = self._dry_at - asyncio.get_running_loop().time() <= self._hurry_before
        if self._open and soon and not self._waiting and self._ready.empty():
            self._queue(self._splitter.hurry())

    @property
    def _hurry_before(self) -> float:
        return min(HURRY_AT_MOST, max(HURRY_BEFORE, 2 * self._takes))

    def _queue(self, texts: list[str]) -> None:
        for text in texts:
            if self._waiting + len(text) > MAX_WAITING:
                log.warning("The reply is longer than can be spoken; the rest is only shown.")
                return
            self._waiting += len(text)
            self._texts.put_nowait(text)

    async def _make(self) -> None:
        """Text by text, a chunk each."""
        try:
            while (text := await self._texts.get()) is not None:
                self._waiting -= len(text)
                self._is_making = True
                await self._make_chunks(text)
                self._is_making = False
            await self._ready.put(None)
        except SpeechError as problem:
            await self._ready.put(SynthesisFailed(str(problem)))
        except Exception:  # else the answer would never be over
            log.exception("an answer could not be spoken")
            await self._ready.put(SynthesisFailed(NOT_SPOKEN))

    async def _make_chunks(self, text: str) -> None:
        clock = asyncio.get_running_loop().time
        asked_at = clock()
        guess, self._guess = self._guess, None
        if guess is not None and guess.text != text:
            guess.drop()
            guess = None
        async with aclosing(guess.chunks() if guess else self._telling.tell(text)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Chunk):
                    self._takes = clock() - asked_at
                await self._ready.put(chunk)
                asked_at = clock()

    async def _hand_over(self) -> None:
        while True:
            chunk = await self._ready.get()
            if isinstance(chunk, Chunk):
                self._plays(chunk.seconds)
            taken = self._on_chunk(chunk)
            if inspect.isawaitable(taken):
                await taken
            if not isinstance(chunk, Chunk | MoreSound):
                return

    def _plays(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        begins = loop.time() if math.isinf(self._dry_at) else max(self._dry_at, loop.time())
        self._dry_at = begins + seconds
        if self._hurry is not None:
            self._hurry.cancel()
        self._hurry = loop.call_at(self._dry_at - self._hurry_before, self._hurry_if_dry)


class _Guess:
    """A chunk that is made before it is known to be wanted."""

    def __init__(self, text: str, chunks: AsyncGenerator[Chunk | MoreSound, None]) -> None:
        self.text = text
        self._made: asyncio.Queue[Chunk | MoreSound | Exception | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._make(chunks), name="synthesis ahead")

    async def chunks(self) -> AsyncGenerator[Chunk | MoreSound, None]:
        """It is wanted: what was made of it, and what still is. Closing it ends the work."""
        try:
            while (made := await self._made.get()) is not None:
                if isinstance(made, Exception):
                    raise made
                yield made
        finally:
            self.drop()

    def drop(self) -> None:
        """It is not wanted, or no longer."""
        self._task.cancel()

    async def _make(self, chunks: AsyncGenerator[Chunk | MoreSound, None]) -> None:
        try:
            async with aclosing(chunks):
                async for chunk in chunks:
                    self._made.put_nowait(chunk)
            self._made.put_nowait(None)
        except Exception as problem:  # noqa: BLE001 (it is raised where the chunk is wanted)
            self._made.put_nowait(problem)
