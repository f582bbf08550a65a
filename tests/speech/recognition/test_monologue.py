"""A minute without a pause for breath from the key: whole, in order, nothing lost at the seams.

The voice's noise is drawn from a seed and time is virtual, so the seams lie where they always lie;
`scripts/bench ears` has others.
"""

import asyncio
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from sayso.server.speech.engines.piper.engine import PiperEngine
from sayso.server.speech.engines.whisper.engine import WhisperEngine
from sayso.server.speech.recognition.agreement import Partial
from sayso.server.speech.recognition.hallucinations import plain
from sayso.server.speech.recognition.loudness import from_pcm
from sayso.server.speech.recognition.recognizer import HEARING_RATE, Transcript
from sayso.server.speech.recognition.session import MAX_UTTERANCE, SpeechRecognition
from tests.speech import sounds
from tests.speech.spoken_recordings import spoken

pytestmark = [pytest.mark.thorough, pytest.mark.virtual_time, pytest.mark.timeout(300)]

THINGS = [
    "window",
    "garden",
    "mother",
    "summer",
    "village",
    "morning",
    "doctor",
    "market",
    "river",
    "kitchen",
    "winter",
    "school",
    "island",
    "castle",
    "teacher",
    "mountain",
    "bicycle",
    "elephant",
]

PASS_TAKES = 0.3
"""Seconds, of virtual time."""
SEED = 3


class Whisper:
    """The real model in this process. It makes no drafts: they are only to be shown."""

    def __init__(self, engine: WhisperEngine) -> None:
        self._engine = engine

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        await asyncio.sleep(PASS_TAKES)
        return Transcript("") if draft else self._engine.transcribe(from_pcm(pcm), prompt=prompt)


async def test_a_minute_is_heard_whole_and_in_order_and_nothing_twice(
    whisper: WhisperEngine, voice_file: Path
) -> None:
    onnxruntime.set_seed(SEED)
    piper = PiperEngine(voice_file, threads=2, seed=0)
    breath = np.zeros(HEARING_RATE // 3, dtype=np.float32)
    parts = []
    for number, thing in enumerate(THINGS):
        sentence = f"And then, on that day, we talked for a long time about the {thing}"
        parts += [spoken(piper, f"{sentence}, number {number}."), breath]
    audio = sounds.pcm(np.concatenate(parts))[: int(MAX_UTTERANCE * HEARING_RATE) * 2]
    assert len(audio) > 55 * HEARING_RATE * 2
    shown: list[Partial] = []
    hearing = SpeechRecognition(Whisper(whisper)).listen(shown.append)
    for at in range(0, len(audio), sounds.FRAME):
        hearing.feed(audio[at : at + sounds.FRAME])
        await asyncio.sleep(0.02)
    heard = plain((await hearing.finish()).text).split()
    found = [word for word in heard if word in THINGS]
    said = round(len(audio) / sum(map(len, [sounds.pcm(part) for part in parts])) * len(THINGS))
    assert found == [thing for thing in THINGS if thing in found], "order, and nothing twice"
    # Now and then a word of a synthetic voice is heard as another one.
    assert len(found) >= said - 2, f"{said - len(found)} of {said} sentences are lost: {heard}"
    assert heard.count("talked") <= said + 1
    assert shown[-1].stable.startswith("And then"), "what was settled stays where it was"
