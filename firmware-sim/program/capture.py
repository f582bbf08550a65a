"""Records what the person says, and keeps it until the server has it.

One utterance at a time. Its samples lie in a ring from the first that the server has not
acknowledged to the last that was captured; after a cut they are sent again from there.
"""

from dataclasses import dataclass

from sayso.firmware_sim.hardware.memory import CAPTURE_BYTES, Ring
from sayso.protocol.frames import PCM16_BYTES, AudioFrame

RATE = 16_000
FRAME_SAMPLES = 320
"""20 ms: what one interrupt of the microphone brings."""


@dataclass(slots=True)
class Utterance:
    """How far one utterance has come. All positions are samples from its beginning."""

    stream: int
    start_seq: int
    """The `seq` of its `listen.start`."""
    captured: int = 0
    sent: int = 0
    safe: int = 0
    """The server holds everything before."""
    frames: int = 0
    stop_seq: int | None = None
    """The `seq` of its `listen.stop`, once it is complete."""
    stopped: bool = False
    """The key was released, or there was no more room."""


class Capture:
    """The microphone's side of the memory."""

    def __init__(self) -> None:
        self._ring = Ring(CAPTURE_BYTES)
        self.utterance: Utterance | None = None

    @property
    def most_bytes(self) -> int:
        return self._ring.most

    def begin(self, stream: int, start_seq: int) -> None:
        self._ring.clear()
        self.utterance = Utterance(stream, start_seq)

    def forget(self) -> None:
        self._ring.clear()
        self.utterance = None

    def add(self, pcm: bytes) -> bool:
        """Keep what the microphone heard; false if there is no room for it."""
        if self.utterance is None or self.utterance.stopped:
            return True
        if len(pcm) > self._ring.room:
            return False
        self._ring.write(pcm)
        self.utterance.captured += len(pcm) // PCM16_BYTES
        return True

    def acknowledge(self, stream: int, samples: int) -> int:
        """The server holds everything before this sample; returns how much of that is news."""
        utterance = self.utterance
        if utterance is None or utterance.stream != stream:
            return 0
        news = min(samples, utterance.captured) - utterance.safe
        if news <= 0:
            return 0
        self._ring.drop(news * PCM16_BYTES)
        utterance.safe += news
        utterance.sent = max(utterance.sent, utterance.safe)
        return news

    def send_again(self) -> None:
        """After a cut: whatever is not safe is sent once more, in frames of the same numbers."""
        if self.utterance:
            self.utterance.sent = self.utterance.safe
            self.utterance.frames = self.utterance.safe // FRAME_SAMPLES

    def next_frame(self) -> AudioFrame | None:
        """What is to be sent next, if there is something."""
        utterance = self.utterance
        if utterance is None:
            return None
        waiting = utterance.captured - utterance.sent
        if waiting < FRAME_SAMPLES and not (utterance.stopped and waiting):
            return None
        count = min(waiting, FRAME_SAMPLES)
        offset = (utterance.sent - utterance.safe) * PCM16_BYTES
        payload = self._ring.peek(offset, count * PCM16_BYTES)
        last = utterance.stopped and count == waiting
        frame = AudioFrame(utterance.stream, utterance.frames, utterance.sent, payload, last)
        utterance.sent += count
        utterance.frames += 1
        return frame
