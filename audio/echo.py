"""Takes the loudspeaker's sound out of the microphone's, frame by frame, for two readers.

    near ──┬──▶ Kalman filter ──┬──────────────────────▶ `words`
    far  ──┤                    └─▶ clearly not echo? ─┬▶ `gate`
           └──▶ WebRTC ────────────────────────────────┘

WebRTC's canceller leaves nothing of the loudspeaker, but mangles or swallows a voice over it. The
filter leaves a little (-10 to -50 dB) and keeps the voice whole: good to understand. To decide by,
its sound is used where it is clearly louder than what the echo can be, and WebRTC's elsewhere: so
the device neither starts by itself nor misses a "stop". `python -m bench.echo` prints why.

The filter is the frequency-domain Kalman filter of Enzner and Vary (Signal Processing 86, 2006): it
adapts slowly where the near end is loud, so double talk does not upset it.
"""

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from sayso.audio.errors import NotInstalled
from sayso.audio.far_end import Heard
from sayso.audio.pcm import FRAME_SAMPLES, FULL_SCALE, RATE

BLOCKS = 16
"""Frames of 20 ms that the filter reaches back: 320 ms of delay and room."""
KEEPS = 0.998
"""How much of the room stays from frame to frame: 0.9995 is 1 dB better in a still room and 4 dB
worse when the clocks of microphone and loudspeaker drift apart by 50 ppm."""
NOISE_MEMORY = 0.5
"""Of the near end's loudness: shorter lets "stop" through, longer swallows the room's changes."""
UNKNOWN = 10.0
"""How little is known of the room in the beginning; large, so that it is learnt at once."""

CLEARLY = 2.0
"""So many times the power of the echo (3 dB) is a voice. What is left of the echo alone stays under
that when the filter knows the room; a voice at the device lies 10 dB above."""
ECHO_FADES = 0.7
"""How a room's echo fades from frame to frame at the slowest: 60 dB in 0.8 s."""
SMOOTH_FRAMES = 5
"""Powers are compared over 100 ms: a syllable."""
KNOWN_DB = 5.0
"""The filter knows the room when it takes out so much, on the average of the last second …"""
KNOWING_MEMORY = 0.98
AUDIBLE = 1e-6
"""… of those frames in which the loudspeaker plays something: -60 dB."""

Floats = NDArray[np.float64]


LEARNING_FRAMES = 75
"""The first 1.5 s that a loudspeaker sounds: the room is not known yet, and what is left of the
echo would be taken for somebody who speaks."""


class EchoCanceller:
    """Both cancellers. `near` and `far` are frames of 20 ms that belong together in time; the echo
    may come up to 300 ms after `far`, and not before it."""

    def __init__(self) -> None:
        try:
            from pywebrtc_audio import EchoCanceller as WebRtc
        except ImportError as error:
            raise NotInstalled(
                "Echo cancellation needs the package pywebrtc-audio: "
                "run `pip install 'sayso[hands-free]'`."
            ) from error
        self._strict = WebRtc(RATE)
        self._mild = KalmanFilter()
        self._to_learn = LEARNING_FRAMES
        self._judge = _Judge()

    def take(self, near: bytes, far: bytes) -> Heard:
        near_samples, far_samples = _samples(near), _samples(far)
        strict = self._strict.process(near_samples, far_samples)
        mild = self._mild.take(near_samples / FULL_SCALE, far_samples / FULL_SCALE)
        words = _pcm(mild)
        if self._to_learn and _power(far_samples / FULL_SCALE) > AUDIBLE:
            self._to_learn -= 1
            return Heard(bytes(len(words)), words)
        if self._judge.is_voice(near_samples / FULL_SCALE, far_samples / FULL_SCALE, mild):
            return Heard(words, words)
        return Heard(strict.astype("<i2", copy=False).tobytes(), words)


class _Judge:
    """Tells whether what the filter leaves is clearly more than echo."""

    def __init__(self) -> None:
        self._rests: deque[float] = deque(maxlen=SMOOTH_FRAMES)
        self._echoes: deque[float] = deque(maxlen=SMOOTH_FRAMES)
        self._echo = 0.0
        self._knows_db = 0.0

    def is_voice(self, near: Floats, far: Floats, rest: Floats) -> bool:
        heard, left, gone = _power(near), _power(rest), _power(near - rest)
        if _power(far) > AUDIBLE:
            taken_db = min(20.0, max(-3.0, 10 * math.log10((heard + 1e-10) / (left + 1e-10))))
            self._knows_db += (1 - KNOWING_MEMORY) * (taken_db - self._knows_db)
        self._echo = max(gone, ECHO_FADES * self._echo)
        self._rests.append(left)
        self._echoes.append(self._echo)
        louder = sum(self._rests) > CLEARLY * (sum(self._echoes) + 1e-7)
        return louder and self._knows_db > KNOWN_DB


class KalmanFilter:
    """Learns how the room answers the loudspeaker, and subtracts that."""

    def __init__(self, block: int = FRAME_SAMPLES, blocks: int = BLOCKS) -> None:
        self._block = block
        bins = block + 1
        self._far = np.zeros((blocks, bins), np.complex128)
        self._room = np.zeros((blocks, bins), np.complex128)
        self._doubt = np.full((blocks, bins), UNKNOWN)
        self._noise = np.zeros(bins)
        self._last = np.zeros(block)

    def take(self, near: Floats, far: Floats) -> Floats:
        """Takes a block of each, between -1 and 1; gives the near one without the far one."""
        block = self._block
        self._far[1:] = self._far[:-1]
        self._far[0] = np.fft.rfft(np.concatenate([self._last, far]))
        self._last = far
        echo = np.fft.irfft((self._room * self._far).sum(axis=0))[block:]
        rest: Floats = near - echo
        error = np.fft.rfft(np.concatenate([np.zeros(block), rest]))
        self._noise = NOISE_MEMORY * self._noise + (1 - NOISE_MEMORY) * np.abs(error) ** 2
        self._learn(error)
        return rest

    def _learn(self, error: NDArray[np.complex128]) -> None:
        power = np.abs(self._far) ** 2
        gain = self._doubt / (0.5 * (self._doubt * power).sum(axis=0) + 2 * self._noise + 1e-10)
        kept = KEEPS**2
        self._doubt = kept * (1 - 0.5 * gain * power) * self._doubt
        self._doubt += (1 - kept) * np.abs(self._room) ** 2
        step = np.fft.irfft(gain * self._far.conj() * error, axis=1)
        step[:, self._block :] = 0
        self._room += np.fft.rfft(step, axis=1)


def _power(samples: Floats) -> float:
    return float(np.mean(samples**2))


def _samples(frame: bytes) -> NDArray[np.int16]:
    frame = frame[: 2 * FRAME_SAMPLES].ljust(2 * FRAME_SAMPLES, b"\0")
    return np.frombuffer(frame, "<i2").astype(np.int16, copy=False)


def _pcm(samples: Floats) -> bytes:
    steps = np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
    return steps.astype("<i2").tobytes()
