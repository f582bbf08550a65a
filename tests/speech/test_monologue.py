"""A minute without a pause for breath from the key: whole, in order, nothing lost at the seams."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from sayso.server.speech.agreement import Partial
from sayso.server.speech.doubts import plain
from sayso.server.speech.ears import MAX_UTTERANCE, Ears
from sayso.server.speech.piper_engine import PiperEngine
from sayso.server.speech.recognizer import HEARING_RATE
from sayso.server.speech.whisper import WhisperRecognizer
from tests.speech import sounds
from tests.speech.speaking import spoken

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(300)]

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

FASTER = 4.0
"""Than speech: the ears count in samples, so the pace of the audio changes only who waits."""


async def test_a_minute_is_heard_whole_and_in_order_and_nothing_twice(
    whisper_model: Path, piper: PiperEngine
) -> None:
    breath = np.zeros(HEARING_RATE // 3, dtype=np.float32)
    parts = []
    for number, thing in enumerate(THINGS):
        sentence = f"And then, on that day, we talked for a long time about the {thing}"
        parts += [spoken(piper, f"{sentence}, number {number}."), breath]
    audio = sounds.pcm(np.concatenate(parts))[: int(MAX_UTTERANCE * HEARING_RATE) * 2]
    assert len(audio) > 55 * HEARING_RATE * 2
    recognizer = WhisperRecognizer(whisper_model, threads=2)
    await recognizer.start()
    shown: list[Partial] = []
    try:
        hearing = Ears(recognizer).listen(shown.append)
        step = HEARING_RATE // 5 * 2
        for at in range(0, len(audio), step):
            hearing.feed(audio[at : at + step])
            await asyncio.sleep(0.2 / FASTER)
        heard = plain((await hearing.finish()).text).split()
    finally:
        await recognizer.close()
    found = [word for word in heard if word in THINGS]
    said = round(len(audio) / sum(map(len, [sounds.pcm(part) for part in parts])) * len(THINGS))
    assert found == [thing for thing in THINGS if thing in found], "order, and nothing twice"
    # What piper says differs a little each time: now and then a word is heard as another one.
    assert len(found) >= said - 2, f"{said - len(found)} of {said} sentences are lost: {heard}"
    assert heard.count("talked") <= said + 1
    assert shown[-1].stable.startswith("And then"), "what was settled stays where it was"
