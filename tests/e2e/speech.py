"""A person's mouth and ears for tests: the same real piper and Whisper, used from outside."""

import asyncio
import re
import wave
from pathlib import Path

import numpy as np
import soxr

from sayso.protocol.home import Home
from sayso.server.models import Shelf
from sayso.server.speech.piper import PiperSynthesizer
from sayso.server.speech.whisper import WhisperRecognizer

RATE = 16_000


class Voice:
    """Speaks into files, and understands what is in files."""

    def speak(self, text: str, path: Path, pause_after_s: float = 0.0) -> None:
        """Write a question as a microphone would record it."""
        voice = Shelf(Home.find()).ready("voice", "en_US-joe-medium").path

        async def synthesize() -> np.ndarray:
            piper = PiperSynthesizer(voice)
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
        ears = Shelf(Home.find()).ready("ears", "tiny.en").path

        async def transcribe() -> str:
            whisper = WhisperRecognizer(ears)
            await whisper.start()
            try:
                return (await whisper.transcribe(pcm)).text
            finally:
                await whisper.close()

        return asyncio.run(transcribe())

    def digits(self, path: Path) -> str:
        """The digits that were said, however they were written down."""
        said = self.listen(path).lower()
        return re.sub(r"\D", "", said)


def _write(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype(np.int16).tobytes())
