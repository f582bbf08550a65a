"""The mouth: text comes in as it is written, speech goes out chunk by chunk.

say ──► prose ──► clauses ──► speakable ──► synthesizer ──► on_chunk
       markdown   chunks of   "25 km" is    one chunk       in order,
       is shown   the text    "twenty-five  ahead           then None
                              kilometres"
"""

import asyncio
import inspect
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from sayso.protocol.messages import Word
from sayso.server.speech.clauses import ClauseSplitter
from sayso.server.speech.errors import SpeechError
from sayso.server.speech.prose import Prose
from sayso.server.speech.speakable import Spoken, spoken, spoken_pieces
from sayso.server.speech.synthesizer import Sound, Synthesizer, SynthesizerLost

log = logging.getLogger(__name__)

LOOK_AHEAD = 1
"""Chunks that are synthesized before they are wanted: enough that there is never a gap, and little
enough that an interruption wastes little."""

MAX_WAITING = 100_000
"""Characters of a reply that are kept waiting to be spoken: an hour and a half of speech. What goes
beyond is shown and not spoken."""

HURRY_BEFORE = 0.5
"""Seconds before the voice would run dry in which an unfinished sentence gives up its clauses: a
chunk is synthesized in half of that, the rest is for the way to the loudspeaker."""

TRIES = 2
"""How often a chunk is synthesized whose synthesizer dies under it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the reply, ready to be played."""

    text: str
    """As written, without markup."""
    sound: Sound
    """Its words are those of `text`, each with its time."""


@dataclass(frozen=True, slots=True)
class MouthFailed:
    """Nothing more of this reply will be spoken."""

    message: str
    """One sentence that says what to do."""


OnChunk = Callable[[Chunk | MouthFailed | None], Awaitable[None] | None]
"""Takes the chunks in order, then None at the end or MouthFailed. If it gives an awaitable, the
next chunk is handed over only when that is done; meanwhile one more is made."""


class Mouth:
    """Speaks replies with one synthesizer."""

    def __init__(
        self, synthesizer: Synthesizer, *, speed: float = 1.0, language: str = "en"
    ) -> None:
        self._synthesizer = synthesizer
        self._language = language
        self.speed = speed
        """2.0 is twice as fast; counts for replies that begin from now on."""
        spoken("0", language)  # brings the words for numbers in now rather than in the first answer

    def speak(self, on_chunk: OnChunk) -> "Saying":
        """Begin a reply."""
        return Saying(self._synthesizer, self.speed, self._language, on_chunk)


class Saying:
    """One reply, from its first words to the last."""

    def __init__(
        self, synthesizer: Synthesizer, speed: float, language: str, on_chunk: OnChunk
    ) -> None:
        self._synthesizer = synthesizer
        self._speed = speed
        self._language = language
        self._on_chunk = on_chunk
        self._prose = Prose()
        self._splitter = ClauseSplitter()
        self._texts: asyncio.Queue[str | None] = asyncio.Queue()
        self._waiting = 0
        """Characters in `_texts`."""
        self._ready: asyncio.Queue[Chunk | MouthFailed | None] = asyncio.Queue(LOOK_AHEAD)
        self._open = True
        self._dry_at = math.inf
        """When all that was handed over will have been played, if it is played at once."""
        self._hurry: asyncio.TimerHandle | None = None
        self._tasks = [
            asyncio.create_task(self._make(), name="mouth makes"),
            asyncio.create_task(self._hand_over(), name="mouth hands over"),
        ]

    def say(self, delta: str) -> None:
        """The next piece of the reply, of any size."""
        if self._open:
            self._queue(self._splitter.feed(self._prose.feed(delta)))
            self._hurry_if_dry()

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
        for task in self._tasks:
            task.cancel()

    def _hurry_if_dry(self) -> None:
        """Nothing is left to be said and the voice will soon be silent: don't wait for the stop."""
        soon = self._dry_at - asyncio.get_running_loop().time() <= HURRY_BEFORE
        if self._open and soon and not self._waiting and self._ready.empty():
            self._queue(self._splitter.hurry())

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
                pieces = spoken_pieces(text, self._language)
                if any(piece.spoken for piece in pieces):
                    await self._ready.put(await self._chunk(text, pieces))
            await self._ready.put(None)
        except SpeechError as problem:
            await self._ready.put(MouthFailed(str(problem)))

    async def _chunk(self, text: str, pieces: list[Spoken]) -> Chunk:
        words = " ".join(piece.spoken for piece in pieces if piece.spoken)
        for _ in range(TRIES):
            try:
                sound = await self._synthesizer.synthesize(words, speed=self._speed)
            except SynthesizerLost:
                continue
            return Chunk(text, replace(sound, words=written_words(pieces, sound.words)))
        raise SpeechError(
            "The speech synthesiser stopped over this answer; read it on the screen. "
            "If that happens again, run `sayso doctor`."
        )

    async def _hand_over(self) -> None:
        while True:
            chunk = await self._ready.get()
            if isinstance(chunk, Chunk):
                self._plays(chunk.sound)
            taken = self._on_chunk(chunk)
            if inspect.isawaitable(taken):
                await taken
            if not isinstance(chunk, Chunk):
                return

    def _plays(self, sound: Sound) -> None:
        loop = asyncio.get_running_loop()
        begins = loop.time() if math.isinf(self._dry_at) else max(self._dry_at, loop.time())
        self._dry_at = begins + len(sound.pcm) / 2 / sound.rate
        if self._hurry is not None:
            self._hurry.cancel()
        self._hurry = loop.call_at(self._dry_at - HURRY_BEFORE, self._hurry_if_dry)


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
