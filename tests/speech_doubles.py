"""Doubles that stand in for models where time and words must be exact.

They obey the seams: one request at a time, cancelling gives a request up, and they can be made
to die under a request. Their time is the event loop's, so that virtual time governs them.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import dataclass

from sayso.protocol.messages import Word
from sayso.server.speech.recognition.recognizer import HEARING_RATE, RecognizerLost, Transcript
from sayso.server.speech.synthesis.synthesizer import Sound, SynthesizerLost

TONE_RATE = 22_050
"""Samples a second, as piper's medium voices have."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that a scripted recognizer got."""

    at: float
    """When, on the event loop's clock."""
    seconds: float
    """How much audio."""
    draft: bool
    prompt: str
    language: str = ""


class ScriptedRecognizer:
    """Says what it is told to have heard, after the time it is told to take.

    `script` maps the seconds of audio it is given to a text, or is a row of texts for one pass each
    (the last one is repeated).
    """

    def __init__(
        self,
        script: Callable[[float], str] | Iterable[str],
        *,
        final_takes: float = 0.1,
        draft_takes: float = 0.05,
    ) -> None:
        self._script = script if callable(script) else _row(list(script))
        self._final_takes = final_takes
        self._draft_takes = draft_takes
        self._lock = asyncio.Lock()
        self.deaths = 0
        """So many of the next requests die half-way."""
        self.asked: list[Asked] = []
        self.given_up = 0
        self.in_flight = 0
        self.most_in_flight = 0

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        """See the seam."""
        seconds = len(pcm) / 2 / HEARING_RATE
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            async with self._lock:
                now = asyncio.get_running_loop().time()
                self.asked.append(Asked(now, seconds, draft, prompt, language))
                takes = self._draft_takes if draft else self._final_takes
                if self.deaths > 0:
                    self.deaths -= 1
                    await asyncio.sleep(takes / 2)
                    raise RecognizerLost
                await asyncio.sleep(takes)
                return Transcript(self._script(seconds))
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        finally:
            self.in_flight -= 1


def _row(texts: list[str]) -> Callable[[float], str]:
    left = iter(texts)

    def next_text(_: float) -> str:
        return next(left, texts[-1] if texts else "")

    return next_text


class ToneSynthesizer:
    """Sounds a tone as long as each word should take: 60 ms a character, exactly."""

    def __init__(
        self, *, rate: int = TONE_RATE, character: float = 0.06, takes: float = 0.05
    ) -> None:
        self._rate = rate
        self._character = character
        self._takes = takes
        self._lock = asyncio.Lock()
        self.deaths = 0
        """So many of the next requests die half-way."""
        self.asked: list[str] = []

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """See the seam."""
        async with self._lock:
            self.asked.append(text)
            if self.deaths > 0:
                self.deaths -= 1
                await asyncio.sleep(self._takes / 2)
                raise SynthesizerLost
            await asyncio.sleep(self._takes)
        words: list[Word] = []
        at = 0
        for word in text.split():
            length = round((len(word) + 1) * self._character * self._rate / speed)
            words.append(Word(word, at, at + length))
            at += length
        return Sound(self._tone(at), self._rate, tuple(words))

    def _tone(self, samples: int) -> bytes:
        period = [
            round(8000 * math.sin(2 * math.pi * step / 50)).to_bytes(2, "little", signed=True)
            for step in range(50)
        ]
        return b"".join(period) * (samples // 50) + b"".join(period[: samples % 50])


class StreamingTone(ToneSynthesizer):
    """The same in pieces of a tenth of a second, each after the time that one takes; the first has
    all words."""

    def __init__(
        self, *, rate: int = TONE_RATE, character: float = 0.06, takes: float = 0.05
    ) -> None:
        super().__init__(rate=rate, character=character, takes=0.0)
        self._piece_takes = takes
        self.pieces = 0
        """Made so far."""
        self.dies_after: list[int] = []
        """After how many pieces the next requests die."""

    async def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        """See the seam."""
        sound = await self.synthesize(text, speed=speed)
        lives = self.dies_after.pop(0) if self.dies_after else math.inf
        size = 2 * (sound.rate // 10)
        for number, at in enumerate(range(0, len(sound.pcm), size)):
            if number >= lives:
                raise SynthesizerLost
            await asyncio.sleep(self._piece_takes)
            self.pieces += 1
            yield Sound(sound.pcm[at : at + size], sound.rate, () if at else sound.words)
