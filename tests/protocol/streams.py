"""The order rules of the two kinds of audio streams, one object for each stream."""

from dataclasses import dataclass
from typing import Literal

from sayso.protocol import messages as m
from sayso.protocol.frames import AudioFrame

UP_RATE = 16_000

LARGEST_HOLE = UP_RATE
"""Samples that an utterance may lack in one place: one second."""


class BrokenRule(AssertionError):
    """One end sent what it may not send now."""


def require(condition: bool, rule: str) -> None:
    if not condition:
        raise BrokenRule(rule)


@dataclass(slots=True)
class Utterance:
    """A stream on its way up."""

    samples: int = 0
    """Where the next frame begins."""
    frames: int = 0
    announced: int | None = None
    acknowledged: int = 0
    mode: Literal["ptt", "hands_free"] = "ptt"
    state: Literal["open", "stopped", "cancelled", "ended"] = "open"

    def sound(self, frame: AudioFrame, *, resumed: bool) -> None:
        end = frame.first_sample + len(frame.payload) // 2
        require(self.state != "cancelled", "nothing follows listen.cancel")
        require(end <= (self.announced or end), "an utterance is as long as listen.stop says")
        if resumed and frame.first_sample < self.samples:
            require(frame.seq < self.frames, "a frame that is sent again keeps its seq")
            return
        require(frame.seq == self.frames, "frames are numbered from 0 without a gap")
        hole = frame.first_sample - self.samples
        require(0 <= hole <= LARGEST_HOLE, "frames follow each other")
        self.frames += 1
        self.samples = end
        if frame.last:
            require(end == (self.announced or end), "the last frame ends the utterance")

    def stop(self, samples: int) -> None:
        if self.state == "ended":
            return  # It crossed with listen.end.
        require(self.state == "open", "an utterance is ended once")
        require(samples >= self.samples, "listen.stop counts all samples")
        self.state, self.announced = "stopped", samples

    def end(self, samples: int) -> None:
        require(self.mode == "hands_free", "a pressed key ends an utterance at the client")
        require(self.state in ("open", "cancelled"), "the server ends an utterance once")
        require(samples <= self.samples, "what was not sent was not heard")
        self.state = "ended"

    def acknowledge(self, samples: int) -> None:
        require(samples <= self.samples, "what was not sent is not acknowledged")
        require(samples >= self.acknowledged, "what was acknowledged stays so")
        self.acknowledged = samples


@dataclass(slots=True)
class Speech:
    """A stream on its way down."""

    rate: int
    samples: int = 0
    frames: int = 0
    chunk: int = 0
    """Where the newest chunk begins."""
    length: int | None = None
    played: int = 0
    state: Literal["open", "complete", "dropped"] = "open"

    def start(self, chunk: m.SpeechStart) -> None:
        require(self.state == "open", "no chunk follows speech.stop")
        require(chunk.rate == self.rate, "a stream keeps its rate")
        require(
            chunk.first_sample >= max(self.chunk, self.samples),
            "a chunk is announced before its sound, after the chunk before it",
        )
        self.chunk = chunk.first_sample

    def sound(self, frame: AudioFrame, play_buffer_ms: int) -> None:
        require(self.state != "dropped", "no sound follows a speech.stop that drops it")
        require(frame.seq == self.frames, "frames are numbered from 0 without a gap")
        require(frame.first_sample == self.samples, "speech has no holes")
        self.frames += 1
        self.samples += len(frame.payload) // 2
        if self.length is not None:
            require(self.samples <= self.length, "a stream is as long as speech.stop says")
        if frame.last:
            require(self.samples == (self.length or self.samples), "the last frame ends the stream")
        room = play_buffer_ms * self.rate / 1000
        require(self.samples - self.played <= room, "no more is sent than the device can hold")

    def stop(self, message: m.SpeechStop) -> None:
        require(self.state == "open", "a stream is ended once")
        if message.reason == "done":
            length = message.samples
            require(length is not None and length >= self.samples, "done counts all samples")
            self.state, self.length = "complete", length
        else:
            self.state = "dropped"

    def play(self, samples: int, *, done: bool) -> None:
        require(samples <= self.samples, "no more is played than was sent")
        require(samples >= self.played, "the position does not go back")
        require(not done or self.state != "open", "a stream is done when its end is known")
        self.played = samples
