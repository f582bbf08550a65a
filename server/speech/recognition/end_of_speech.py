"""Finds the end of an utterance that no key ends: hears the voice begin, and says when it is over.

    feed ──▶ 20 ms frames ──▶ VoiceGate ──▶ Endpointing ──▶ began (at which sample), over (how)
                              (a thread)        ▲
    understood ──▶ the partial transcript ──────┘   and whether it reaches up to the latest voice

Voice detectors compute for up to a millisecond a frame, and a device that was cut off sends
seconds at once; so frames are judged in a thread, in order, and the event loop never waits.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol

from sayso.audio.errors import AudioError
from sayso.audio.pcm import FRAME_BYTES, SAMPLE_BYTES
from sayso.server.speech.recognition.endpointing import Endpointing, Stage

log = logging.getLogger(__name__)

FRAMES_AT_ONCE = 50
"""A second of sound: what is understood meanwhile counts soon enough, and a burst takes few trips
to a thread."""

FRAME_SAMPLES = FRAME_BYTES // SAMPLE_BYTES

BEGINNING_FRAMES = 10
"""200 ms: the window in which enough voice is found to say that somebody speaks."""


class Gate(Protocol):
    """Tells whether somebody speaks in a frame of 20 ms."""

    def hears(self, frame: bytes) -> bool: ...


class EndOfSpeech:
    """Follows one utterance. It tells that a voice began (again after a mere sound), and once that
    it is over."""

    def __init__(
        self,
        make_gate: Callable[[], Gate],
        endpointing: Endpointing,
        on_began: Callable[[int], None],
        on_over: Callable[[Literal["ended", "timeout"]], None],
        understood_until: Callable[[], int | None] = lambda: None,
    ) -> None:
        """`understood_until`: the sample up to which `understood` tells what was said; None where
        nothing was told, nor is about to be."""
        self._make_gate = make_gate
        """Loads a model: called in the thread."""
        self._gate: Gate | None = None
        self._endpointing = endpointing
        self._on_began = on_began
        self._on_over = on_over
        self._understood_until = understood_until
        self._text: str | None = None
        """Empty when what was heard holds no words, None while that is not known."""
        self._waiting = bytearray()
        """Bounded by the utterance, which ends at a minute."""
        self._samples = 0
        """Judged so far."""
        self._voiced: deque[int] = deque(maxlen=BEGINNING_FRAMES)
        """Where the latest frames with a voice begin, in samples."""
        self._voice_until = 0
        """Where the latest voice ended, in samples."""
        self._stage: Stage = "waiting"
        self._judging: asyncio.Task[None] | None = None
        self._open = True

    def feed(self, pcm: bytes) -> None:
        """Take the next samples, in pieces of any size."""
        if self._open:
            self._waiting += pcm
            if self._judging is None and len(self._waiting) >= FRAME_BYTES:
                self._judging = asyncio.create_task(self._judge(), name="listening for the end")

    def understood(self, text: str | None) -> None:
        """All that has been understood until now: as `Endpointing` takes it."""
        self._text = text

    def stop(self) -> None:
        """Nobody wants to know any more."""
        self._open = False
        self._waiting.clear()

    async def _judge(self) -> None:
        try:
            while self._open and len(self._waiting) >= FRAME_BYTES:
                count = min(len(self._waiting) // FRAME_BYTES, FRAMES_AT_ONCE)
                frames = bytes(self._waiting[: count * FRAME_BYTES])
                del self._waiting[: len(frames)]
                until = self._understood_until()
                self._tell(*await asyncio.to_thread(self._hear, frames, until))
        except AudioError as problem:
            # Without a voice detector the utterance ends as an open key does: at its cap.
            log.warning("The end of what is said cannot be found. %s", problem)
            self.stop()
        finally:
            self._judging = None

    def _hear(self, frames: bytes, understood_until: int | None) -> tuple[int | None, Stage]:
        """In the thread: where a voice began in these frames, if one did, and what is the case."""
        self._gate = self._gate or self._make_gate()
        began: int | None = None
        stage = self._stage
        for at in range(0, len(frames), FRAME_BYTES):
            voice = self._gate.hears(frames[at : at + FRAME_BYTES])
            while self._voiced and self._voiced[0] <= self._samples - self._window:
                self._voiced.popleft()
            if voice:
                self._voiced.append(self._samples)
                self._voice_until = self._samples + FRAME_SAMPLES
            behind = understood_until is not None and understood_until < self._voice_until
            before, stage = stage, self._endpointing.take(voice, self._text, behind=behind)
            if before == "waiting" and stage in ("speaking", "ended"):
                began = self._voiced[0] if self._voiced else self._samples
            self._samples += FRAME_SAMPLES
            if stage in ("ended", "timeout"):
                break
        return began, stage

    @property
    def _window(self) -> int:
        return BEGINNING_FRAMES * FRAME_SAMPLES

    def _tell(self, began: int | None, stage: Stage) -> None:
        self._stage = stage
        if not self._open:
            return
        if began is not None:
            self._on_began(began)
        if stage in ("ended", "timeout"):
            self.stop()
            self._on_over(stage)
