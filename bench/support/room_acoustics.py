"""Simulates rooms: how a loudspeaker's sound comes back into the microphone beside it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Sound = NDArray[np.float64]
RATE = 16_000
HISS = 10 / 32_768
"""The microphone's own noise: -70 dB."""


@dataclass(frozen=True, slots=True)
class Room:
    """One device in one room."""

    level_db: float
    """How loud the device's own voice is at its microphone, against what it plays; a person at the
    same microphone is as loud as what it plays."""
    delay_s: float
    drift_ppm: float = 0.0
    """How much faster the loudspeaker's clock runs than the microphone's."""
    reverberation_s: float = 0.3
    """Until the room is 60 dB quieter."""

    @property
    def name(self) -> str:
        return f"{self.level_db:g} dB, {1000 * self.delay_s:g} ms, {self.drift_ppm:g} ppm"

    def echo(self, far: Sound) -> Sound:
        """What comes back of the far end."""
        numbers = np.random.default_rng(int(-self.level_db))
        length = int(0.25 * RATE)
        answer = numbers.normal(0, 1, length)
        answer *= 10 ** (-3 * np.arange(length) / (self.reverberation_s * RATE))
        answer[0] = 3.0  # The way straight from the loudspeaker to the microphone.
        size = len(far) + length
        back = np.fft.irfft(np.fft.rfft(far, size) * np.fft.rfft(answer, size), size)[: len(far)]
        back *= np.sqrt(np.mean(far**2) / np.mean(back**2)) * 10 ** (self.level_db / 20)
        moments = np.arange(len(far)) * (1 + 1e-6 * self.drift_ppm)
        back = np.interp(moments, np.arange(len(far)), back)
        late: Sound = np.concatenate([np.zeros(int(self.delay_s * RATE)), back])[: len(far)]
        return late

    def hiss(self, length: int) -> Sound:
        return np.random.default_rng(5).normal(0, HISS, length)


ROOMS = (
    Room(-6, 0.03, 0),
    Room(-6, 0.12, 20),
    Room(-10, 0.06, 50, reverberation_s=0.4),
    Room(-14, 0.20, 20),
    Room(-20, 0.05, 0, reverberation_s=0.5),
)
"""One device (no drift) or a microphone and a loudspeaker with clocks of their own; a small and a
larger room. Each is played two minutes: ten in all."""


def pcm(sound: Sound) -> bytes:
    steps = np.clip(np.rint(sound * 32_768), -32_768, 32_767)
    return bytes(steps.astype("<i2").tobytes())


def floats(sound: bytes) -> Sound:
    return np.frombuffer(sound, "<i2").astype(np.float64) / 32_768
