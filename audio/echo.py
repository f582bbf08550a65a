"""Takes the loudspeaker's sound out of the microphone's, frame by frame, for two readers.

    near ──┬──▶ Kalman filter ──┬────────────────────────────▶ `words`
    far  ──┤                    └─▶ judge ─┬─ a voice ───────▶ `gate`
           │                               ├─ echo: silence ─▶
           └──▶ WebRTC ────────────────────┴─ unknown ───────▶

The filter leaves a little (-15 to -35 dB) and keeps a voice over it whole: good to understand. To
decide by, its sound is used where it is clearly louder than what is left of the echo can be, and
silence elsewhere: so the device neither starts by itself nor misses a "stop". WebRTC's canceller
mangles a voice over the echo and lets some of the echo through, but finds a delay that has jumped
sooner: it decides while the filter does not know the room. `python -m bench.echo` prints both.

The filter is the frequency-domain Kalman filter of Enzner and Vary (Signal Processing 86, 2006): it
adapts slowly where the near end is loud, so double talk does not upset it. Clocks that differ are
followed: the room as it is known is moved on with each frame, by what the corrections show.
"""

import math
from collections import deque
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sayso.audio.echo_delay import BEFORE, REACH, DelayFinder
from sayso.audio.errors import NotInstalled
from sayso.audio.pcm import FRAME_SAMPLES, FULL_SCALE, RATE
from sayso.audio.playback_reference import Heard

BLOCKS = 16
"""Frames of 20 ms that the filter reaches back: 320 ms of delay and room."""
KEEPS = 0.998
"""How much of the room stays from frame to frame: 0.9995 is 3 dB better in a still room, and finds
out about the clocks' drift four times as slowly."""
NOISE_MEMORY = 0.5
"""Of the near end's loudness: shorter lets "stop" through, longer swallows the room's changes."""
UNKNOWN = 1 / BLOCKS
"""What the room may be in the beginning: an echo as loud as what is played, at any delay. Where
more is thought possible, the first second is learnt by heart, and the filter adds sound instead of
taking it out, at -20 dB for five seconds."""
MOVES = 0.1
"""What may be new at any delay, beside what is known there, while the filter takes out nothing; so
much less, the more it takes out. Without it a delay that has jumped is never found again; a tenth
of it, whatever is taken out, needs twice as long for that and for the first 10 dB."""
MOVING_MEMORY = 0.9
"""What is taken out is averaged over 200 ms for that."""
DRIFT_LEARNT = 0.1
"""How much of what a frame tells about the clocks' drift is believed. 100 ppm are found out within
three seconds; at 0.3 of this it takes ten, and 50 ppm are told to 3 ppm instead of 8."""
LARGEST_DRIFT = 300e-6
"""Clocks of cheap cards differ by less."""

CLEARLY = 2.0
"""So many times the power of the echo (3 dB) is a voice. What is left of the echo alone stays under
that when the filter knows the room; a voice at the device lies 10 dB above."""
ECHO_FADES = 0.7
"""How a room's echo fades from frame to frame at the slowest: 60 dB in 0.8 s."""
SMOOTH_FRAMES = 5
"""Powers are compared over 100 ms: a syllable."""
KNOWN_DB = 5.0
"""The filter knows the room when it takes out so much, on the average of the last half second; or
there is little to know, if what it leaves is faint."""
KNOWING_MEMORY = 0.96
LEAST_DB, MOST_DB = -3.0, 40.0
"""What a frame may count in that average …"""
AUDIBLE = 1e-6
"""… and it counts only if the loudspeaker plays something in it: -60 dB."""
FADED_FRAMES = 30
"""So long after the last sound an echo is faint in a room that is not known, too: 300 ms of delay,
and 300 ms in which it fades by 30 dB and more."""
FAINT_DB = 25.0
"""So far below what is played an echo is faint, as with headphones. Nothing as faint is a voice: a
loudspeaker's own distortion lies there, which no filter takes out."""
ADDED = 1.25
"""So many times what came in (1 dB) cannot be left of it: the filter adds an echo that is no longer
there, because the delay has jumped."""
TRUSTED_FRAMES = 500
"""After a pause of 10 s nothing is known of the room: the device may have been moved, and clocks
that differ have moved the echo. After each pause it must show that it is still the same, which
takes a fifth of a second where it is."""
STRICT_LEARNS_FRAMES = 125
"""The first 2.5 s that a loudspeaker sounds WebRTC's canceller lets too much of it through."""

RESUMED_LEARNS_FRAMES = 75
"""The same after a pause of a second, in which the delay may have jumped: 1.5 s."""

LOOKS_FRAMES = 25
"""While the filter does not know the room, it is looked every half second whether the echo lags by
more than it reaches."""

JUMPED_LEARNS_FRAMES = 75
"""The same after the delay has jumped, 1.5 s: it finds the new one in one, the filter in one to
three."""

Floats = NDArray[np.float64]


class EchoCanceller:
    """Both cancellers. `near` and `far` are frames of 20 ms that belong together in time; the echo
    may come up to 800 ms after `far`, and not before it."""

    def __init__(self) -> None:
        try:
            from pywebrtc_audio import EchoCanceller as WebRtc
        except ImportError as error:
            raise NotInstalled(
                "Echo cancellation needs the package pywebrtc-audio: "
                "run `pip install 'sayso[hands-free]'`."
            ) from error
        self._strict = WebRtc(RATE)
        self._strict_learns = STRICT_LEARNS_FRAMES
        self._filter = KalmanFilter()
        self._judge = _Judge()
        self._waited = 0
        """Frames without an echo until now."""
        self._delay_finder = DelayFinder()
        self._lag = 0
        """Samples by which what is played is held back, because its echo comes so late."""
        self._unknown = 0
        """Frames in a row in which the filter did not know the room."""

    def begin_anew(self) -> None:
        """The microphone was closed meanwhile: nothing is known of the room and its delay."""
        self._filter, self._judge = KalmanFilter(), _Judge()
        self._strict_learns = STRICT_LEARNS_FRAMES
        self._waited = 0
        self._delay_finder, self._lag, self._unknown = DelayFinder(), 0, 0

    def take(self, near: bytes, far: bytes | None) -> Heard:
        """`far` None: nothing has been played for so long that there is no echo."""
        if far is None:
            self._wait()
            return Heard(near, near)
        self._go_on()
        near_steps = _steps(near)
        near_samples = near_steps / FULL_SCALE
        self._delay_finder.take(near_samples, _steps(far) / FULL_SCALE)
        far_samples = self._delay_finder.delayed(self._lag)
        far_steps = np.rint(far_samples * FULL_SCALE).astype(np.int16)
        strict = self._strict.process(near_steps, far_steps).astype("<i2", copy=False).tobytes()
        rest = self._filter.take(near_samples, far_samples)
        words = _pcm(rest)
        if self._strict_learns:
            self._strict_learns -= _power(far_samples) > AUDIBLE
            strict = bytes(len(words))
        verdict = self._judge.look(near_samples, far_samples, rest)
        if self._judge.has_jumped:
            self._strict_learns = max(self._strict_learns, JUMPED_LEARNS_FRAMES)
        self._unknown = self._unknown + 1 if verdict == "unknown" else 0
        if self._unknown and self._unknown % LOOKS_FRAMES == 0:
            self._follow_delay()
        match verdict:
            case "voice":
                return Heard(words, words)
            case "echo":
                return Heard(bytes(len(words)), words)
            case "unknown":
                return Heard(strict, words)

    def _wait(self) -> None:
        """A frame passes without an echo."""
        self._waited += 1
        if self._waited < TRUSTED_FRAMES:
            self._filter.wait()
        elif self._waited == TRUSTED_FRAMES:
            self._strict_learns = STRICT_LEARNS_FRAMES

    def _go_on(self) -> None:
        """Something is played; after a pause in which a sound server's buffers may have grown, or
        been emptied."""
        if self._waited:
            self._delay_finder = DelayFinder()
            self._judge = _Judge()
            self._strict_learns = max(self._strict_learns, RESUMED_LEARNS_FRAMES)
        self._waited = 0

    def _follow_delay(self) -> None:
        """Hold back what is played, where its echo comes later than the filter reaches, or no
        longer so late."""
        lag = self._delay_finder.look()
        if lag is None or 0 <= lag - self._lag <= REACH:
            return
        self._lag = max(0, lag - BEFORE) if lag > REACH else 0
        self._filter, self._judge = KalmanFilter(), _Judge()
        self._strict_learns = max(self._strict_learns, JUMPED_LEARNS_FRAMES)


class _Judge:
    """Tells what it is that the filter leaves."""

    def __init__(self) -> None:
        self._nears: deque[float] = deque(maxlen=SMOOTH_FRAMES)
        self._rests: deque[float] = deque(maxlen=SMOOTH_FRAMES)
        self._echoes: deque[float] = deque(maxlen=SMOOTH_FRAMES)
        self._played: deque[float] = deque([0.0], maxlen=BLOCKS)
        self._echo = 0.0
        self._taken_db = 0.0
        """How much the filter takes out."""
        self._below_db = 0.0
        """How far below what is played the rest lies."""
        self._silent = 0
        """Frames since the last sound."""
        self._knew = False
        self.has_jumped = False
        """The filter has just ceased to know a room that it knew."""

    def look(self, near: Floats, far: Floats, rest: Floats) -> Literal["voice", "echo", "unknown"]:
        played, heard, left, gone = map(_power, (far, near, rest, near - rest))
        if played > AUDIBLE:
            self._taken_db += _follow(self._taken_db, heard, left)
            self._below_db += _follow(self._below_db, played, left)
        self._silent = 0 if played > AUDIBLE else self._silent + 1
        self._played.append(played)
        self._echo = max(gone, ECHO_FADES * self._echo)
        self._nears.append(heard)
        self._rests.append(left)
        self._echoes.append(max(self._echo, max(self._played) / 10 ** (FAINT_DB / 10)))
        self.has_jumped, self._knew = self._knew and not self._knows, self._knows
        if not self._knew:
            return "unknown"
        louder = sum(self._rests) > CLEARLY * (sum(self._echoes) + 1e-7)
        return "voice" if louder else "echo"

    @property
    def _knows(self) -> bool:
        if self._silent > FADED_FRAMES:
            return True
        if sum(self._rests) > ADDED * sum(self._nears) + 1e-7:
            return False
        return self._taken_db > KNOWN_DB or self._below_db > FAINT_DB


def _follow(average: float, more: float, less: float) -> float:
    """By how much an average of ratios, in decibels, moves towards this one."""
    ratio = 10 * math.log10((more + 1e-10) / (less + 1e-10))
    return (1 - KNOWING_MEMORY) * (min(MOST_DB, max(LEAST_DB, ratio)) - average)


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
        self._waited = 0
        self._heard = self._left = 0.0
        """Powers before and behind the filter, while the loudspeaker sounds."""
        self._turns = np.pi * np.arange(bins) / block
        """By how much a delay of one sample turns each frequency."""
        self.drift = 0.0
        """How much slower the loudspeaker's clock runs than the microphone's, found out while it
        sounds: by so many samples with each sample the echo comes later."""

    def wait(self) -> None:
        """A block passes in which nothing is played, and no echo is left."""
        self._waited += 1

    def take(self, near: Floats, far: Floats) -> Floats:
        """Takes a block of each, between -1 and 1; gives the near one without the far one."""
        block = self._block
        if self._waited:
            self._move_on(self._waited)
            self._waited = 0
        self._far[1:] = self._far[:-1]
        self._far[0] = np.fft.rfft(np.concatenate([self._last, far]))
        self._last = far
        echo = np.fft.irfft((self._room * self._far).sum(axis=0))[block:]
        rest: Floats = near - echo
        sounds = _power(far) > AUDIBLE
        if sounds:
            self._heard += (1 - MOVING_MEMORY) * (_power(near) - self._heard)
            self._left += (1 - MOVING_MEMORY) * (_power(rest) - self._left)
        error = np.fft.rfft(np.concatenate([np.zeros(block), rest]))
        self._noise = NOISE_MEMORY * self._noise + (1 - NOISE_MEMORY) * np.abs(error) ** 2
        self._learn(error, of_drift=sounds)
        return rest

    def _learn(self, error: NDArray[np.complex128], *, of_drift: bool) -> None:
        power = np.abs(self._far) ** 2
        gain = self._doubt / (0.5 * (self._doubt * power).sum(axis=0) + 2 * self._noise + 1e-10)
        self._doubt = (1 - 0.5 * gain * power) * self._doubt
        step = self._within(gain * self._far.conj() * error)
        if of_drift:
            self._follow_drift(step)
        self._room += step
        self._move_on(1)

    def _follow_drift(self, step: NDArray[np.complex128]) -> None:
        """A room that only comes later turns each frequency by as much as its delay grows."""
        turned = float((self._turns * (self._room.conj() * step).imag).sum())
        size = float((self._turns**2 * np.abs(self._room) ** 2).sum())
        drift = self.drift - DRIFT_LEARNT * turned / (size + 1e-10) / self._block
        self.drift = max(-LARGEST_DRIFT, min(LARGEST_DRIFT, drift))

    def _move_on(self, blocks: int) -> None:
        """So much later the room is a little less certain, and the clocks are further apart."""
        kept = KEEPS ** (2 * blocks)
        moves = MOVES * min(1.0, self._left / (self._heard + 1e-10))
        self._doubt = kept * self._doubt + (1 - kept) * (np.abs(self._room) ** 2 + moves)
        later = np.exp(-1j * self._turns * self.drift * self._block * blocks)
        self._room = self._within(self._room * later)

    def _within(self, response: NDArray[np.complex128]) -> NDArray[np.complex128]:
        """Without what lies beyond each block: a spectrum of two blocks would go round."""
        times = np.fft.irfft(response, axis=1)
        times[:, self._block :] = 0
        return np.fft.rfft(times, axis=1)


def _power(samples: Floats) -> float:
    return float(np.mean(samples**2))


def _steps(frame: bytes) -> NDArray[np.int16]:
    frame = frame[: 2 * FRAME_SAMPLES].ljust(2 * FRAME_SAMPLES, b"\0")
    return np.frombuffer(frame, "<i2").astype(np.int16, copy=False)


def _pcm(samples: Floats) -> bytes:
    steps = np.clip(np.rint(samples * FULL_SCALE), -FULL_SCALE, FULL_SCALE - 1)
    return steps.astype("<i2").tobytes()
