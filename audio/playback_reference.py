"""Gives an echo canceller its reference: what the loudspeaker played, in step with the microphone.

    card takes sound ──▶ blocks ──▶ 16 kHz ──▶ queue ──▶ a frame for each frame of the microphone

Both cards run in real time, so a frame of the queue and a frame of the microphone that are taken
together keep their distance in time; an echo canceller learns that distance, but it must not jump.
So all that the card takes goes through one converter, silence too, which holds some of it back at
any time; the queue has a cushion for the card's uneven taking; and it is only trimmed when it has
grown for good, because the clocks differ.
"""

from collections import deque
from dataclasses import dataclass

from sayso.audio.pcm import FRAME_BYTES, RATE
from sayso.audio.resample import Resampler, resampler

CUSHION_FRAMES = 1
"""When the queue runs dry it gets 20 ms beyond what was missing, so that it does not run dry again
at the next unevenness. With more the echo might come before its reference."""
MOST_BLOCKS = 200
"""Blocks from the card that wait for the microphone, while one is plugged in again: three seconds
of a sound server's blocks of 15 ms; a card's own are as long as the card likes."""
TRIM_ABOVE_FRAMES = 8
"""What has lain in the queue for the whole of the time below is too much."""
WATCH_FRAMES = 250
"""Five seconds."""
QUIET_FRAMES = 50
"""A second after the last sound no echo is left, in any room in a house."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What is left of a microphone's frame without the loudspeaker, PCM16 mono 16 kHz."""

    gate: bytes
    """For telling whether somebody speaks."""
    words: bytes
    """For understanding what is said."""


class PlaybackReference:
    """`played` may be called in the card's own thread; `frame`, where the microphone is."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[bytes, int]] = deque(maxlen=MOST_BLOCKS)
        self._rate = RATE
        self._converter: Resampler = resampler(RATE, RATE)
        self._queue = bytearray()
        self._echoes = 0
        """Frames until no echo can be left."""
        self._watched = 0
        self._least = TRIM_ABOVE_FRAMES * FRAME_BYTES

    def played(self, pcm: bytes, rate: int) -> None:
        """The card has taken this to play it, at its own rate."""
        self._blocks.append((pcm, rate))

    def begin_anew(self) -> None:
        """The microphone was closed, and opens: what was played meanwhile has no frame of it. That
        it may still be heard is kept in mind."""
        self._blocks.clear()
        self._queue.clear()
        self._converter = resampler(self._rate, RATE)
        self._echoes = QUIET_FRAMES
        self._watched, self._least = 0, TRIM_ABOVE_FRAMES * FRAME_BYTES

    def frame(self) -> bytes | None:
        """Gives the frame that belongs to the microphone's next one; nothing: there is no echo."""
        self._collect()
        if (missing := FRAME_BYTES - len(self._queue)) > 0:
            self._queue += bytes(missing + CUSHION_FRAMES * FRAME_BYTES)
        frame = bytes(self._queue[:FRAME_BYTES])
        del self._queue[:FRAME_BYTES]
        self._trim()
        self._echoes = max(0, self._echoes - 1)
        return frame if self._echoes else None

    def _collect(self) -> None:
        while self._blocks:
            pcm, rate = self._blocks.popleft()
            if rate != self._rate:
                self._queue += self._converter.finish()
                self._rate, self._converter = rate, resampler(rate, RATE)
            self._queue += self._converter.feed(pcm)
            # Seen before the conversion, which adds a little noise to silence.
            if pcm.count(0) != len(pcm):
                self._echoes = len(self._queue) // FRAME_BYTES + QUIET_FRAMES

    def _trim(self) -> None:
        self._least = min(self._least, len(self._queue))
        self._watched += 1
        if self._watched < WATCH_FRAMES:
            return
        if self._least >= TRIM_ABOVE_FRAMES * FRAME_BYTES:
            del self._queue[: self._least - CUSHION_FRAMES * FRAME_BYTES]
        self._watched, self._least = 0, len(self._queue)
