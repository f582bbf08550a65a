"""The mouth's region: at most one answer is being spoken at a time, to the device that asked."""

from collections.abc import Callable
from typing import Literal

from sayso.protocol.messages import SpeechStart, SpeechStop
from sayso.server.turn.effects import Effect, FinishSpeaking, HeardOnly, Hush, Speak, Tell
from sayso.server.turn.events import ChunkSpoken, Interrupted, Joined, Played, Ticket
from sayso.server.turn.speech import Speech

STREAMS = 0xFFFF
"""A stream's number has 16 bits; 0 is left out."""


class Mouth:
    """Says answers, paced, and stops at once."""

    def __init__(self, do: Callable[[Effect], None]) -> None:
        self._do = do
        self._speech: Speech | None = None
        self._stream_count = 0

    @property
    def is_busy(self) -> bool:
        """An answer is being spoken, or waits for its first sound."""
        return self._speech is not None

    @property
    def is_speaking(self) -> bool:
        """Words were given to it that are not played yet, or still being synthesized."""
        return self._speech is not None and self._speech.is_audible

    @property
    def deadline(self) -> float:
        return self._speech.deadline if self._speech else float("inf")

    def open(self, ticket: Ticket, device: Joined) -> None:
        """An answer to this device begins."""
        self._stream_count = self._stream_count % STREAMS + 1
        self._speech = Speech(ticket, device, self._stream_count)

    def say(self, text: str) -> None:
        if self._speech:
            if text.strip():
                self._speech.expect_sound()
            self._do(Speak(self._speech.ticket, text))

    def finish(self) -> None:
        """The answer's text is complete."""
        if self._speech:
            self._speech.finish()
            self._do(FinishSpeaking(self._speech.ticket))

    def take(self, chunk: ChunkSpoken) -> bool:
        """Queue a chunk of sound; false if it is stale."""
        if not self._speech or chunk.ticket != self._speech.ticket:
            return False
        self._tell(self._speech, self._speech.add(chunk))
        return True

    def complete(self, ticket: Ticket) -> bool:
        """No further sound comes; false if that is no news."""
        if not self._speech or ticket != self._speech.ticket:
            return False
        self._speech.complete()
        return True

    def played(self, event: Played | Interrupted, now: float) -> None:
        """The device reports how far it has played."""
        speech = self._speech
        if not speech or (event.device, event.stream) != (speech.device, speech.stream):
            return
        if isinstance(event, Played):
            speech.played(event.samples, now, done=event.done)
        else:
            speech.played(event.heard_samples, now)

    def silence(self) -> None:
        """Stop what is audible; the history keeps what was heard of it."""
        if self._speech and self._speech.has_sound:
            self._do(HeardOnly(self._speech.ticket, self._speech.heard))
            self.hush("interrupted")

    def hush(self, reason: Literal["interrupted", "failed"]) -> None:
        """Stop, and have the device drop what it has not played."""
        if self._speech:
            self._tell(self._speech, SpeechStop(self._speech.stream, reason))
            self.close()

    def lose(self, device: str) -> None:
        """A device is gone; nobody is left to hear what was for it."""
        if self._speech and self._speech.device == device:
            self.close()

    def close(self) -> None:
        """Nothing more is said for this ticket."""
        if self._speech:
            self._do(Hush(self._speech.ticket))
            self._speech = None

    def go_on(self, now: float) -> bool:
        """Send what may be sent; true if sound was sent."""
        if not self._speech:
            return False
        frames, stop = self._speech.due(now)
        for frame in frames:
            self._do(frame)
        if stop:
            self._tell(self._speech, stop)
        if self._speech.is_over:
            self._speech = None
        return bool(frames)

    def _tell(self, speech: Speech, message: SpeechStop | SpeechStart) -> None:
        self._do(Tell(message, speech.ticket, speech.device))
