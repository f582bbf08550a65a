"""Finds how far the echo lags behind what was played, where that is more than a filter reaches.

A sound server with too much to do lets its buffers grow, and the echo comes half a second later
from then on. The two sounds are laid over each other at all delays, every frequency counting alike
(GCC-PHAT, Knapp and Carter 1976), so that a room's own colour does not hide the right one.
"""

from collections import deque
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sayso.audio.pcm import FRAME_SAMPLES, RATE

Floats = NDArray[np.float64]

WINDOW_FRAMES: Final = 75
"""1.5 s of the microphone are compared."""
MOST_FRAMES: Final = 40
"""Delays up to 800 ms are found; more a sound server does not hold."""
CLEAR: Final = 10.0
"""So many times what delays have on the average, the right one has. Where somebody speaks and
nothing is played, the highest of all has less than six."""
ALIKE: Final = 80
"""Samples (5 ms) between two findings that are one."""
AUDIBLE: Final = 1e-6
"""Power of a window in which something is played: -60 dB."""


class DelayFinder:
    """Takes all frames of both; `look` compares what it has of them."""

    def __init__(self) -> None:
        self._near: deque[Floats] = deque(maxlen=WINDOW_FRAMES)
        self._far: deque[Floats] = deque(maxlen=WINDOW_FRAMES + MOST_FRAMES)
        self._found: int | None = None

    def take(self, near: Floats, far: Floats) -> None:
        """The next frame of each."""
        self._near.append(near)
        self._far.append(far)

    def delayed(self, samples: int) -> Floats:
        """The newest frame of what was played so many samples ago."""
        frames = -(-samples // FRAME_SAMPLES) + 1
        some = list(self._far)[-frames:]
        missing = np.zeros((frames - len(some)) * FRAME_SAMPLES)
        late = np.concatenate([missing, *some])
        end = len(late) - samples
        return late[end - FRAME_SAMPLES : end]

    def look(self) -> int | None:
        """By how many samples the echo lags, if two looks in a row find the same."""
        before, self._found = self._found, self._clearest()
        if before is None or self._found is None or abs(self._found - before) > ALIKE:
            return None
        return self._found

    def _clearest(self) -> int | None:
        if len(self._far) < WINDOW_FRAMES + MOST_FRAMES:
            return None
        near, far = np.concatenate(list(self._near)), np.concatenate(list(self._far))
        if float(np.mean(far**2)) < AUDIBLE or float(np.mean(near**2)) < AUDIBLE:
            return None
        size = 1 << (len(near) + len(far)).bit_length()
        cross = np.fft.rfft(near, size) * np.fft.rfft(far, size).conj()
        likeness = np.fft.irfft(cross / (np.abs(cross) + 1e-12))
        # The microphone's window ends where the far one does, and begins later.
        first = len(far) - len(near)
        lags = np.arange(MOST_FRAMES * FRAME_SAMPLES)
        at = likeness[(lags - first) % size]
        best = int(np.argmax(at))
        return best if at[best] > CLEAR * float(np.std(likeness)) else None


REACH: Final = RATE // 4
"""A filter of 320 ms finds an echo that lags by up to a quarter of a second, and has the room's own
answer after it."""
BEFORE: Final = RATE // 20
"""So much earlier than the echo its reference is put: 50 ms."""
