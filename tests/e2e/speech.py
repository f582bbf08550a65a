"""Speaks and transcribes for tests as a person would: real piper and Whisper, used from outside."""

import asyncio
import re
import wave
from pathlib import Path

import numpy as np
import soxr
from num2words import num2words

from sayso.protocol.home import Home
from sayso.server.models import InstalledModels
from sayso.server.speech.engines.piper.synthesizer import PiperSynthesizer
from sayso.server.speech.engines.whisper.recognizer import WhisperRecognizer

RATE = 16_000

TAKES = 5

UNDERSTOOD = 0.75
"""The share of words that must be heard. Of another sentence's words, a third may be."""


class Voice:
    """Speaks into files, and understands what is in files."""

    def speak(self, text: str, path: Path, pause_after_s: float = 0.0) -> None:
        """Write a question as a microphone would record it, said clearly enough to be understood.

        No two takes of a voice are alike, and now and then one mumbles: it is said again.
        """
        for take in range(TAKES):
            self._say(text, path, pause_after_s, take)
            if self.understands(path, text):
                return
        raise AssertionError(f"{TAKES} takes of {text!r} were not understood")

    def _say(self, text: str, path: Path, pause_after_s: float, take: int) -> None:
        voice = InstalledModels(Home.find()).ready("voice", "en_US-joe-medium").path

        async def synthesize() -> np.ndarray:
            piper = PiperSynthesizer(voice, seed=take)
            await piper.start()
            try:
                sound = await piper.synthesize(text)
            finally:
                await piper.close()
            samples = np.frombuffer(sound.pcm, np.int16)
            resampled: np.ndarray = soxr.resample(samples, sound.rate, RATE)
            return resampled

        samples = asyncio.run(synthesize())
        _write(path, np.concatenate([samples, np.zeros(round(pause_after_s * RATE))]))

    def keep_quiet(self, seconds: float, path: Path) -> None:
        """Write what a microphone records when nobody speaks: a faint hiss."""
        hiss = np.random.default_rng(7).normal(0, 20, round(seconds * RATE))
        _write(path, hiss)

    def listen(self, path: Path) -> str:
        """What was said in a file."""
        with wave.open(str(path)) as file:
            rate = file.getframerate()
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        pcm = soxr.resample(samples, rate, RATE).astype(np.int16).tobytes()
        ears = InstalledModels(Home.find()).ready("ears", "tiny.en").path

        async def transcribe() -> str:
            whisper = WhisperRecognizer(ears)
            await whisper.start()
            try:
                return (await whisper.transcribe(pcm)).text
            finally:
                await whisper.close()

        return asyncio.run(transcribe())

    def words(self, path: Path) -> list[str]:
        """What was said in a file, word by word, numbers spelled out."""
        return words_of(self.listen(path))

    def understands(self, path: Path, text: str) -> bool:
        """Whether this is what is said in a file, but for a word misheard here and there."""
        said = self.words(path)
        expected = words_of(text)
        return sum(word in said for word in expected) >= UNDERSTOOD * len(expected)


def words_of(text: str) -> list[str]:
    """Words as they sound: numbers may be written either way."""
    spelled = re.sub(r"\d[\d,]*", lambda number: num2words(number[0].replace(",", "")), text)
    return re.findall(r"[a-z']+", spelled.lower())


def _write(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype(np.int16).tobytes())
