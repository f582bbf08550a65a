"""Finds where a recording is loud and where it pauses. Pure arithmetic on samples from -1 to 1."""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

FRAME = 320
"""Samples of one step: 20 ms at 16 kHz."""

SILENCE = 10 ** (-60 / 20)
"""Root mean square of a frame below which a recording is silence to any microphone (-60 dBFS)."""

WINDOW = 15
"""Frames of the pause that is looked for: 300 ms, the shortest that ends a sentence."""


def from_pcm(pcm: bytes) -> Samples:
    """16-bit samples as numbers from -1 to 1; an odd last byte is half a sample and dropped."""
    whole = np.frombuffer(pcm, dtype="<i2", count=len(pcm) // 2)
    return whole.astype(np.float32) / np.float32(32768)


def levels(samples: Samples) -> Samples:
    """Root mean square of each full frame, without its offset from zero."""
    frames = samples[: len(samples) // FRAME * FRAME].reshape(-1, FRAME)
    return np.asarray(frames.std(axis=1), dtype=np.float32)


def is_silence(samples: Samples) -> bool:
    """Is there no frame that any microphone would call sound?"""
    loud = levels(samples)
    return loud.size == 0 or float(loud.max()) < SILENCE


def quietest_cut(samples: Samples, first: int, last: int) -> int:
    """The middle of the quietest pause between two samples: where to cut with the least harm."""
    first_frame = first // FRAME
    loud = levels(samples[first_frame * FRAME : last])
    width = min(WINDOW, len(loud))
    if width == 0:
        return last
    energy = np.convolve(loud**2, np.ones(width), mode="valid")
    # Among equally quiet places the last one: the longer the piece, the more it tells Whisper.
    best = len(energy) - 1 - int(np.argmin(energy[::-1]))
    return (first_frame + best) * FRAME + width * FRAME // 2


def pieces(samples: Samples, *, longest: int, shortest: int) -> list[Samples]:
    """A long recording cut at its quietest places into pieces of at most `longest` samples."""
    parts: list[Samples] = []
    while len(samples) > longest:
        cut = quietest_cut(samples, shortest, longest)
        parts.append(samples[:cut])
        samples = samples[cut:]
    parts.append(samples)
    return parts
