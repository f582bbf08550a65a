"""Sounds for tests: something that counts as a voice, silence, and noises."""

import numpy as np
from numpy.typing import NDArray

from sayso.server.speech.recognition.recognizer import HEARING_RATE

FRAME = 640
"""Bytes of 20 ms, as a client sends them."""


def pcm(samples: NDArray[np.float64] | NDArray[np.float32]) -> bytes:
    """Numbers from -1 to 1 as 16-bit samples."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def voice(seconds: float) -> bytes:
    """A buzz with the overtones of a voice: not words, but speech to any detector."""
    time = np.arange(round(seconds * HEARING_RATE)) / HEARING_RATE
    buzz = sum(
        np.sin(2 * np.pi * 130 * overtone * time)
        / overtone
        * (1.5 if overtone in (4, 5, 12) else 1)
        for overtone in range(1, 30)
    )
    return pcm(buzz / 8 * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * time)))


def silence(seconds: float) -> bytes:
    return bytes(2 * round(seconds * HEARING_RATE))


def white_noise(seconds: float, level: float, seed: int = 1) -> bytes:
    drawn = np.random.default_rng(seed).standard_normal(round(seconds * HEARING_RATE))
    return pcm(drawn * level)


def fan(seconds: float, level: float = 0.05) -> bytes:
    """Brown noise with a hum, as a fan or a refrigerator makes."""
    drawn = np.random.default_rng(2).standard_normal(round(seconds * HEARING_RATE))
    rumble = np.cumsum(drawn)
    rumble -= np.convolve(rumble, np.ones(801) / 801, mode="same")
    time = np.arange(rumble.size) / HEARING_RATE
    return pcm(level * (rumble / np.abs(rumble).max() + 0.3 * np.sin(2 * np.pi * 100 * time)))


def keyboard(seconds: float) -> bytes:
    """Clicks of keys, three to six a second."""
    generator = np.random.default_rng(3)
    samples = generator.standard_normal(round(seconds * HEARING_RATE)) * 0.0005
    at = 0
    while (at := at + int(generator.uniform(0.15, 0.35) * HEARING_RATE)) < samples.size - 800:
        click = generator.standard_normal(480) * np.exp(-np.arange(480) / 60)
        samples[at : at + 480] += click * generator.uniform(0.05, 0.25)
    return pcm(samples)


def music(seconds: float) -> bytes:
    """Chords that change twice a second."""
    time = np.arange(round(seconds * HEARING_RATE)) / HEARING_RATE
    root = 220 * 2 ** (np.array([0, 5, 7, 3, 8, 10])[(time * 2).astype(int) % 6] / 12)
    phase = 2 * np.pi * np.cumsum(root) / HEARING_RATE
    chord = sum(np.sin(phase * ratio) for ratio in (1, 1.25, 1.5, 2))
    return pcm(0.08 * chord * (1 - (time * 2) % 1 * 0.7))
