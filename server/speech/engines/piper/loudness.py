"""Makes a voice equally loud from its first sample on, when its loudest is not known yet. Pure.

Piper divides each sentence by its own peak, which is known when all of it was computed. Here each
voice has one gain instead, and what would be louder than there is room for is bent softly.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

USUAL_PEAK: Final = 0.85
"""Of 1: where the loudest sample of a usual sentence lies. Nearer to 1 more of them are bent."""

KNEE: Final = 0.7
"""Above it samples are bent, so that none is beyond 1; below it they stay as they are."""

QUIETEST_PEAK: Final = 0.02
"""A voice whose sentences are quieter than that is broken; it is not made fifty times as loud."""

SCALE: Final = 32_767


def gain_for(peaks: Sequence[float]) -> float:
    """What brings the usual one of these peaks to where it should lie."""
    usual = float(np.median(peaks)) if peaks else 0.0
    return USUAL_PEAK / usual if usual >= QUIETEST_PEAK else 1.0


def as_pcm(samples: NDArray[np.float32], gain: float) -> bytes:
    """16-bit samples, little-endian."""
    loud = samples * np.float32(gain)
    size = np.abs(loud)
    if size.size and size.max() > KNEE:
        room = 1 - KNEE
        bent = KNEE + room * np.tanh((size - KNEE) / room)
        loud = np.where(size > KNEE, np.copysign(bent, loud), loud)
    return (loud * SCALE).astype("<i2").tobytes()
