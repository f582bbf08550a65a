"""Makes speech louder or quieter, and rings before it. Pure.

    percent   10 … 70 … 100
    decibels -20 … 0 … +6      at 70 speech is as its voice made it

Louder than its voice made it, peaks are bent and not cut, which is heard as loud and not as broken.
"""

from typing import Final

import numpy as np

LEAST_PERCENT: Final = 10
"""Quieter is silence, for which there is "be quiet"."""
USUAL_PERCENT: Final = 70
MOST_PERCENT: Final = 100

DECIBELS_BELOW: Final = 1 / 3
"""A percent below the usual."""
DECIBELS_ABOVE: Final = 1 / 5
"""A percent above it: voices leave no more room."""

KNEE: Final = 0.7
"""Of full scale: from here on peaks are bent."""

FULL: Final = 32_767

TONE_S: Final = 6.0
"""Length of a round of ringing before the words."""
BEEP_S: Final = 0.18
BEEPS: Final = ((0.0, 880.0), (0.22, 1_108.7), (0.44, 1_318.5))
"""When in each second a beep comes, in seconds, and its pitch in hertz: a chord that rises is
friendlier than one note, and is heard by ears that lost the high ones."""
EDGE_S: Final = 0.01
"""A beep fades in and out, or it clicks."""
LOUDEST: Final = 0.8
"""Of full scale."""


def louder(pcm: bytes, percent: int) -> bytes:
    """The same sound at another loudness."""
    if percent == USUAL_PERCENT or not pcm:
        return pcm
    step = DECIBELS_ABOVE if percent > USUAL_PERCENT else DECIBELS_BELOW
    gain = 10 ** ((percent - USUAL_PERCENT) * step / 20)
    samples = np.frombuffer(pcm, "<i2").astype(np.float32) * (gain / FULL)
    loud = np.abs(samples)
    bent = KNEE + (1 - KNEE) * np.tanh((loud - KNEE) / (1 - KNEE))
    samples = np.where(loud > KNEE, np.sign(samples) * bent, samples) if gain > 1 else samples
    return np.round(samples * FULL).astype("<i2").tobytes()


def ringing(rate: int, loudness: float) -> bytes:
    """The tone of an alarm, mono PCM16. `loudness`: 0 to 1."""
    samples = np.zeros(round(TONE_S * rate), np.float32)
    length = round(BEEP_S * rate)
    edge = np.minimum(1.0, np.minimum(np.arange(length), np.arange(length)[::-1]) / (EDGE_S * rate))
    for second in range(int(TONE_S)):
        for begins, pitch in BEEPS:
            at = round((second + begins) * rate)
            samples[at : at + length] = edge * np.sin(2 * np.pi * pitch * np.arange(length) / rate)
    return np.round(samples * (LOUDEST * loudness * FULL)).astype("<i2").tobytes()
