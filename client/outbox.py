"""What is to be sent, and what is kept until the server has it. Pure: no socket, no clock.

Control goes before audio, so that an interruption does not wait behind a backlog of speech; within
each kind the order is that of putting in. `seq` is given when a message is taken to be sent.

Nothing that was said gets lost: an utterance is kept whole until its final text has come, so that
it can be said again even to a server that has started anew.

    after a cut       the session goes on         the server started anew
    audio             from the last audio.ack     from its first sample
    listen.*, text…   those above last_seq        listen.* of kept utterances; a text that was sent
                                                  may have been acted upon: never sent again
"""

from collections import deque
from dataclasses import dataclass, field

from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES, RATE, SAMPLE_BYTES
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    Bye,
    Error,
    FromClient,
    ListenCancel,
    ListenStart,
    ListenStop,
    Ping,
    PlayState,
    Pong,
)

MOST_WAITING = 256
"""Messages that wait for the line. A person makes a few a minute; more is a fault of ours."""
MOST_REMEMBERED = 256
"""Sent messages that may have to be sent again: those of the last seconds before a cut."""
MOST_KEPT_SAMPLES = 300 * RATE
"""Samples kept of one utterance, five minutes: 9.6 MB, and longer than anybody holds a key."""

_PASSING = (Ping, Pong, PlayState, Bye, Error)
"""Messages about the moment: worthless after a cut, and not sent again."""


@dataclass(slots=True)
class _Utterance:
    start: ListenStart
    pcm: bytearray = field(default_factory=bytearray)
    first_kept: int = 0
    """Samples dropped from the front because the utterance is too long to be kept whole."""
    sent: int = 0
    """Samples sent in the present connection, or known to be at the server."""
    acknowledged: int = 0
    stop: ListenStop | None = None

    @property
    def samples(self) -> int:
        return self.first_kept + len(self.pcm) // SAMPLE_BYTES


@dataclass(frozen=True, slots=True)
class Lost:
    """What a server that started anew cannot be told again."""

    messages: tuple[FromClient, ...]
    utterances: tuple[int, ...]
    """Streams that were too long to be kept whole."""

    def __bool__(self) -> bool:
        return bool(self.messages or self.utterances)


class Outbox:
    def __init__(self) -> None:
        self._waiting: deque[FromClient] = deque()
        self._again: deque[tuple[int, FromClient]] = deque()
        self._remembered: deque[tuple[int, FromClient]] = deque(maxlen=MOST_REMEMBERED)
        self._utterances: dict[int, _Utterance] = {}
        self._seq = 0

    def put(self, message: FromClient) -> None:
        """Adds a message. Of messages about the moment, the oldest give way when there are many."""
        if isinstance(message, ListenStart):
            self._utterances[message.stream] = _Utterance(message)
        elif isinstance(message, ListenStop) and message.stream in self._utterances:
            self._utterances[message.stream].stop = message
        elif isinstance(message, ListenCancel):
            self._utterances.pop(message.stream, None)
        if len(self._waiting) >= MOST_WAITING:
            self._make_room()
        self._waiting.append(message)

    def put_audio(self, stream: int, pcm: bytes) -> None:
        """Adds speech to an utterance that `listen.start` began and nothing has ended."""
        utterance = self._utterances.get(stream)
        if utterance is None or utterance.stop is not None:
            return
        utterance.pcm += pcm
        excess = len(utterance.pcm) // SAMPLE_BYTES - MOST_KEPT_SAMPLES
        if excess > 0:
            # Whole frames go, so that frames keep their numbers.
            frames = -(-excess // FRAME_SAMPLES)
            del utterance.pcm[: frames * FRAME_BYTES]
            utterance.first_kept += frames * FRAME_SAMPLES
            utterance.sent = max(utterance.sent, utterance.first_kept)

    def take(self) -> str | bytes | None:
        """Gives what is to be sent next, or nothing."""
        if self._again:
            seq, message = self._again.popleft()
            self._remembered.append((seq, message))
            return encode(Envelope(message, seq=seq))
        if self._waiting:
            message = self._waiting.popleft()
            self._seq += 1
            if not isinstance(message, _PASSING):
                self._remembered.append((self._seq, message))
            return encode(Envelope(message, seq=self._seq))
        for stream, utterance in self._utterances.items():
            frame = _next_frame(stream, utterance)
            if frame is not None:
                return frame.pack()
        return None

    @property
    def empty(self) -> bool:
        """Nothing is waiting to be sent."""
        return not (
            self._again
            or self._waiting
            or any(_next_length(utterance) for utterance in self._utterances.values())
        )

    def acknowledge(self, stream: int, samples: int) -> None:
        """The server holds the utterance up to here."""
        utterance = self._utterances.get(stream)
        if utterance is not None:
            utterance.acknowledged = max(utterance.acknowledged, min(samples, utterance.samples))

    def understood(self) -> None:
        """The final text has come: what was said is safe."""
        for stream in [s for s, utterance in self._utterances.items() if utterance.stop]:
            del self._utterances[stream]

    def cut(self) -> None:
        """The connection is gone; what was only about the moment goes with it."""
        self._waiting = deque(m for m in self._waiting if not isinstance(m, _PASSING))

    def resume(self, last_seq: int) -> None:
        """The session goes on; the server has had our messages up to `last_seq`."""
        lost = [(seq, message) for seq, message in self._remembered if seq > last_seq]
        self._remembered.clear()
        self._again.extendleft(reversed(lost))
        for utterance in self._utterances.values():
            # Frames keep their borders, so the frame that holds the next sample goes whole.
            whole = utterance.acknowledged - utterance.acknowledged % FRAME_SAMPLES
            utterance.sent = max(whole, utterance.first_kept)

    def begin_anew(self) -> Lost:
        """The server knows nothing of us: what was said is said again from its beginning."""
        cut_short = [s for s, utterance in self._utterances.items() if utterance.first_kept]
        for stream in cut_short:
            del self._utterances[stream]
        listening = (ListenStart, ListenStop, ListenCancel)
        sent = [message for _, message in (*self._remembered, *self._again)]
        gone = tuple(message for message in sent if not isinstance(message, listening))
        waiting = [m for m in self._waiting if not isinstance(m, listening)]
        again: list[FromClient] = []
        for utterance in self._utterances.values():
            utterance.sent = utterance.acknowledged = 0
            again.append(utterance.start)
            if utterance.stop is not None:
                again.append(utterance.stop)
        self._waiting = deque([*again, *waiting])
        self._remembered.clear()
        self._again.clear()
        self._seq = 0
        return Lost(gone, tuple(cut_short))

    def _make_room(self) -> None:
        for position, message in enumerate(self._waiting):
            if isinstance(message, _PASSING):
                del self._waiting[position]
                return
        self._waiting.popleft()


def _next_length(utterance: _Utterance) -> int:
    """How many samples the next frame has; 0 if none is ready."""
    ready = utterance.samples - utterance.sent
    if ready >= FRAME_SAMPLES:
        return FRAME_SAMPLES
    return ready if utterance.stop is not None else 0


def _next_frame(stream: int, utterance: _Utterance) -> AudioFrame | None:
    length = _next_length(utterance)
    if not length:
        return None
    start = (utterance.sent - utterance.first_kept) * SAMPLE_BYTES
    frame = AudioFrame(
        stream=stream,
        seq=utterance.sent // FRAME_SAMPLES,
        first_sample=utterance.sent,
        payload=bytes(utterance.pcm[start : start + length * SAMPLE_BYTES]),
        last=utterance.stop is not None and utterance.sent + length == utterance.samples,
    )
    utterance.sent += length
    return frame
