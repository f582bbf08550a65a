"""Provides the questions of benchmarks: everyday ones, spoken by piper."""

import asyncio
import wave
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr

from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer

QUESTIONS = (
    "Please print two hundred and thirty nine times forty three.",
    "How many days are left until the end of the year?",
    "Please sort the pictures in my holiday folder by date.",
    "What is the capital of France?",
    "Tell Anna to water the plants tomorrow morning.",
    "Convert this letter to a page for the printer.",
    "Which of my files is the largest?",
    "Make a plot of the temperature in this table.",
    "How much is in the second column of this table?",
    "Read me the first line of my shopping list.",
    "Count the words in the letter that I wrote yesterday.",
    "What did I write about Tokyo last week?",
)
"""Asked of the language model."""

EVERYDAY = (
    "What time is it?",
    "What day is it today?",
    "What is fifteen percent of eighty?",
    "How many days are there until Christmas?",
    "What time is it in Tokyo?",
    "Set a timer for ten minutes.",
    "How much time is left on the timer?",
    "Cancel the timer.",
    "Add milk and eggs to the shopping list.",
    "What is on my shopping list?",
)
"""Answered without a language model."""

EAR_RATE = 16_000


SILENT = 150
"""Of 32767: a sample below it (-47 dB) is no speech."""

PAUSE_S = 0.6
"""After a question that is followed by a moment of silence before the key comes up."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question, as two people ask it."""

    sudden: Path
    """The key comes up with the last sound."""
    calm: Path
    """The key comes up a moment after it."""


def speak_all(
    home: Home, folder: Path, count: int, texts: Sequence[str] = QUESTIONS
) -> list[Question]:
    """WAV files, 16 kHz mono, of `count` questions, in a folder of their own."""
    folder.mkdir(exist_ok=True)
    voice = InstalledModels(home).ready("voice", "en_US-joe-medium").path
    return asyncio.run(_speak_all(voice, folder, count, texts))


async def _speak_all(voice: Path, folder: Path, count: int, texts: Sequence[str]) -> list[Question]:
    mouth = PiperSynthesizer(voice)
    await mouth.start()
    try:
        questions = []
        for number in range(count):
            sound = await mouth.synthesize(texts[number % len(texts)])
            samples = np.frombuffer(sound.pcm, np.int16)
            heard = soxr.resample(samples, sound.rate, EAR_RATE)
            last = np.flatnonzero(np.abs(heard.astype(np.int32)) > SILENT)[-1] + 1
            question = Question(folder / f"sudden-{number}.wav", folder / f"calm-{number}.wav")
            _write(question.sudden, heard[:last])
            _write(question.calm, np.concatenate([heard[:last], np.zeros(int(PAUSE_S * EAR_RATE))]))
            questions.append(question)
        return questions
    finally:
        await mouth.close()


def samples_of(path: Path) -> np.ndarray:
    """A question as Whisper takes it: float32 at 16 kHz."""
    with wave.open(str(path)) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    return pcm.astype(np.float32) / 32_768


def _write(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(EAR_RATE)
        file.writeframes(samples.astype(np.int16).tobytes())
