"""Detects whether somebody speaks now, counted in received samples, never in wall-clock time.

frames      . . S S S S S . . . . . . . S S S
quiet_for   0 0 0 0 0 0 0 1 2 3 4 5 6 7 . 0 0     one stray frame of noise is forgiven
                                ▲       ▲
                          pause begins  speech goes on
"""

import numpy as np
import webrtcvad

from sayso.server.speech.recognition.loudness import SILENCE
from sayso.server.speech.recognition.recognizer import HEARING_RATE

FRAME_SAMPLES = 320
"""20 ms, the longest but one that webrtcvad takes."""

AGGRESSIVENESS = 2
"""Of webrtcvad, from 0 (everything is speech) to 3. A word taken for silence would be lost, a
silence taken for speech only costs time, so not 3."""

STRAY_FRAMES = 2
"""So many frames of speech in a row are a click or a breath; a syllable is longer."""

FLOOR_RISE = 1.01
"""A frame may lift the estimated noise by so much: 6 dB in about 1.5 s of steady noise."""

ABOVE_NOISE = 2.0
"""Speech is at least so many times (6 dB) louder than the noise around it."""


class VoiceActivity:
    """Feeds on samples, tells speech from silence."""

    def __init__(self) -> None:
        self._vad = webrtcvad.Vad(AGGRESSIVENESS)
        self._rest = b""
        self._noise = 0.0
        self._run = 0
        self._quiet = 0
        self.spoken = 0
        """Samples of speech so far."""

    @property
    def quiet_for(self) -> int:
        """Samples since somebody last spoke."""
        return self._quiet * FRAME_SAMPLES

    def feed(self, pcm: bytes) -> None:
        """Take 16-bit samples at the hearing rate, in pieces of any size."""
        pcm = self._rest + pcm
        size = FRAME_SAMPLES * 2
        whole = len(pcm) // size * size
        for at in range(0, whole, size):
            self._take(pcm[at : at + size])
        self._rest = pcm[whole:]

    def _take(self, frame: bytes) -> None:
        level = float(np.frombuffer(frame, "<i2").astype(np.float32).std()) / 32768
        self._noise = min(level, max(self._noise, SILENCE) * FLOOR_RISE)
        loud = level > max(SILENCE, self._noise * ABOVE_NOISE)
        if loud and self._vad.is_speech(frame, HEARING_RATE):
            self._run += 1
        else:
            self._run = 0
        self._quiet += 1
        if self._run > STRAY_FRAMES:
            if self._run == STRAY_FRAMES + 1:
                self.spoken += STRAY_FRAMES * FRAME_SAMPLES
            self.spoken += FRAME_SAMPLES
            self._quiet = 0
