"""Defines the one sample format inside Sayso, and measures how loud sound is.

Inside Sayso, speech going up is PCM16 little-endian, mono, 16 kHz, in frames of 20 ms. This module
needs no numpy, so that a small client stays small.
"""

import math
import sys
from array import array
from dataclasses import dataclass

RATE = 16_000
"""Samples a second of speech going up: what every recogniser is trained on."""
FRAME_MS = 20
"""Milliseconds in a frame: short enough not to be felt, long enough that headers do not matter."""
FRAME_SAMPLES = RATE * FRAME_MS // 1000
SAMPLE_BYTES = 2
FRAME_BYTES = FRAME_SAMPLES * SAMPLE_BYTES

FULL_SCALE = 32_768
SILENCE_DB = -96.0
"""The level of 16-bit silence: the quietest step of a 16-bit sample lies 90 dB below full scale."""

METER_FLOOR_DB = -60.0
"""What a level meter shows as empty: the noise of a quiet room lies there."""
METER_CEILING_DB = -6.0
"""What it shows as full: loud, close speech. Above it a microphone begins to clip."""
METER_FALL_DB_PER_SECOND = 40.0
"""How fast the meter falls back. It rises at once; the eye wants to see a peak and then calm."""


@dataclass(frozen=True, slots=True)
class Level:
    """How loud a piece of sound is, in decibels below full scale (0 is the loudest)."""

    rms: float
    peak: float


def samples_in(pcm: bytes) -> int:
    """Counts whole samples."""
    return len(pcm) // SAMPLE_BYTES


def seconds_of(pcm: bytes, rate: int = RATE) -> float:
    return samples_in(pcm) / rate


def silence(samples: int) -> bytes:
    return bytes(samples * SAMPLE_BYTES)


def to_samples(pcm: bytes) -> "array[int]":
    """Gives the samples as machine integers, an odd last byte dropped."""
    samples = array("h")
    samples.frombytes(pcm[: len(pcm) - len(pcm) % SAMPLE_BYTES])
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def from_samples(samples: "array[int]") -> bytes:
    """Gives PCM16 little-endian, whatever this machine's byte order is."""
    if sys.byteorder == "big":
        samples = samples[:]
        samples.byteswap()
    return samples.tobytes()


def quieter(pcm: bytes, factor: float) -> bytes:
    """The same sound at a fraction of its loudness."""
    samples = to_samples(pcm)
    return from_samples(array("h", (int(sample * factor) for sample in samples)))


def level(pcm: bytes) -> Level:
    """Measures a piece of sound; the empty piece is silent."""
    samples = to_samples(pcm)
    if not samples:
        return Level(SILENCE_DB, SILENCE_DB)
    rms = math.sqrt(sum(sample * sample for sample in samples) / len(samples))
    loudest, lowest = max(samples), min(samples)
    return Level(decibels(rms), decibels(max(loudest, -lowest)))


def decibels(amplitude: float) -> float:
    """Turns an amplitude in sample steps into decibels below full scale."""
    if amplitude <= 0:
        return SILENCE_DB
    return max(SILENCE_DB, 20 * math.log10(amplitude / FULL_SCALE))


class Meter:
    """A level meter's needle: rises at once, falls calmly. Time is counted in samples."""

    def __init__(self, rate: int = RATE) -> None:
        self._rate = rate
        self._db = SILENCE_DB

    def feed(self, pcm: bytes) -> float:
        """Takes the next piece of sound; gives the needle from 0 (empty) to 1 (full)."""
        fallen = self._db - METER_FALL_DB_PER_SECOND * seconds_of(pcm, self._rate)
        self._db = max(level(pcm).rms, fallen, SILENCE_DB)
        return self.needle

    @property
    def needle(self) -> float:
        span = METER_CEILING_DB - METER_FLOOR_DB
        return min(1.0, max(0.0, (self._db - METER_FLOOR_DB) / span))
