"""Plays Sayso's speech from the wire to the loudspeaker, through a buffer of sixteen kilobytes."""

from dataclasses import dataclass

from sayso.firmware_sim.hardware.memory import PLAY_BYTES, Ring
from sayso.protocol.frames import PCM16_BYTES, AudioFrame
from sayso.protocol.messages import PlayState, SpeechStart, SpeechStop

HIGHEST_RATE = 24_000
"""The fastest that a voice speaks; the amplifier takes any rate up to this."""

PLAY_BUFFER_MS = 1_000 * PLAY_BYTES // (PCM16_BYTES * HIGHEST_RATE)
"""What is declared: so much fits at any rate."""

REPORT_S = 0.08
"""Between two `play.state`; the protocol asks for one every 100 ms."""

GIVES_UP_S = 0.5
"""An answer that has ended and brought nothing for so long is over: something was lost."""


@dataclass(slots=True)
class _Stream:
    number: int
    rate: int
    received: int = 0
    played: int = 0
    length: int | None = None
    """Known when it has ended."""
    silent: int = 0
    """Samples of silence since the last sound."""


class Playback:
    """One answer at a time; positions are samples that have left the loudspeaker."""

    def __init__(self) -> None:
        self._ring = Ring(PLAY_BYTES)
        self._stream: _Stream | None = None
        self._reported_at = 0.0
        self._over = 0
        """The newest stream that was ended or thrown away: nothing of it is played any more."""

    @property
    def most_bytes(self) -> int:
        return self._ring.most

    @property
    def is_on(self) -> bool:
        return self._stream is not None

    @property
    def rate(self) -> int:
        return self._stream.rate if self._stream else HIGHEST_RATE

    def start(self, message: SpeechStart) -> None:
        if message.stream == self._over or (self._stream and self._stream.number == message.stream):
            return
        self._ring.clear()
        self._stream = _Stream(message.stream, message.rate)

    def receive(self, frame: AudioFrame) -> None:
        """Keep sound of the stream that is on; what is stale, or came before, is dropped."""
        stream = self._stream
        if stream is None or frame.stream != stream.number or frame.first_sample < stream.received:
            return
        self._ring.write(frame.payload)
        stream.received += len(frame.payload) // PCM16_BYTES

    def stop(self, message: SpeechStop) -> None:
        if self._stream is None or self._stream.number != message.stream:
            self._over = message.stream
        elif message.reason == "done" and message.samples is not None:
            self._stream.length = message.samples
        else:
            self.silence()

    def silence(self) -> PlayState | None:
        """Throw away what is not played; returns how far it was played."""
        stream, self._stream = self._stream, None
        self._ring.clear()
        if stream is None:
            return None
        self._over = stream.number
        return PlayState(stream.number, stream.played)

    def render(self, samples: int) -> bytes:
        """What the loudspeaker takes next; silence where there is nothing."""
        stream = self._stream
        wanted = samples * PCM16_BYTES
        if stream is None:
            return bytes(wanted)
        sound = self._ring.take(wanted)
        stream.played += len(sound) // PCM16_BYTES
        stream.silent = 0 if sound else stream.silent + samples
        return sound + bytes(wanted - len(sound))

    @property
    def is_dry(self) -> bool:
        """In the middle of an answer, with nothing to play."""
        stream = self._stream
        return bool(stream and stream.played and not len(self._ring) and not self._is_whole(stream))

    def report(self, now: float) -> PlayState | None:
        """What the server is to be told now, if anything."""
        stream = self._stream
        if stream is None:
            return None
        if self._is_whole(stream):
            self._stream = None
            self._over = stream.number
            return PlayState(stream.number, stream.played, done=True)
        if stream.played and now - self._reported_at >= REPORT_S:
            self._reported_at = now
            return PlayState(stream.number, stream.played)
        return None

    def _is_whole(self, stream: _Stream) -> bool:
        if stream.length is None:
            return False
        return stream.played >= stream.length or stream.silent >= GIVES_UP_S * stream.rate
