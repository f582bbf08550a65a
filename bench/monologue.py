"""Checks that minutes of real speech with the key held down are transcribed whole."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.support.recordings import RATE, Recording, Samples
from bench.support.word_errors import words, wrong
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.session import SpeechRecognition

SECONDS = 59.0
MINUTES = 6
"""Of different recordings: a dozen seams and more."""
BREATH_S = 0.35
"""Between two recordings."""
STEP_S = 0.1
FASTER = 8.0
"""Than speech: recognition counts in samples, so the pace changes only the wait."""

Hear = Callable[[Samples, bool, str], str]
"""The short context's engine: samples, whether it is a draft, and what was said before."""


@dataclass(frozen=True, slots=True)
class Monologue:
    """Words that are wrong in them."""

    said: int
    rolled: int
    """Heard while it was spoken, piece by piece."""
    full: int
    """By plain Whisper, afterwards."""


class _Recognizer:
    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._one_at_a_time = asyncio.Lock()

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32_768)
        async with self._one_at_a_time:
            return Transcript(await asyncio.to_thread(self._hear, samples, draft, prompt))


def measure(
    recordings: Sequence[Recording], hear: Hear, full: Callable[[Samples], str]
) -> Monologue:
    """Join recordings to minutes, and hear them both ways."""
    told = [_tell(minute, hear, full) for minute in _minutes(recordings)]
    return Monologue(
        sum(one.said for one in told),
        sum(one.rolled for one in told),
        sum(one.full for one in told),
    )


def _minutes(recordings: Sequence[Recording]) -> list[list[Recording]]:
    minutes: list[list[Recording]] = [[]]
    seconds = 0.0
    for recording in recordings:
        if seconds + recording.seconds + BREATH_S > SECONDS:
            if len(minutes) == MINUTES:
                break
            minutes.append([])
            seconds = 0.0
        minutes[-1].append(recording)
        seconds += recording.seconds + BREATH_S
    return minutes


def _tell(minute: list[Recording], hear: Hear, full: Callable[[Samples], str]) -> Monologue:
    breath = np.zeros(int(BREATH_S * RATE), dtype=np.float32)
    audio = np.concatenate([part for one in minute for part in (one.samples, breath)])
    said = words(" ".join(one.text for one in minute))
    rolled = words(asyncio.run(_roll(audio, hear)))
    return Monologue(len(said), wrong(said, rolled), wrong(said, words(full(audio))))


async def _roll(audio: Samples, hear: Hear) -> str:
    hearing = SpeechRecognition(_Recognizer(hear)).listen(lambda _: None)
    pcm = (np.clip(audio, -1, 1) * 32_767).astype("<i2").tobytes()
    step = int(STEP_S * RATE) * 2
    for at in range(0, len(pcm), step):
        hearing.feed(pcm[at : at + step])
        await asyncio.sleep(STEP_S / FASTER)
    return (await hearing.finish()).text
