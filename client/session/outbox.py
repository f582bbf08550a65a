"""Queues what is to be sent, and keeps it until the server has it. Pure: no socket, no clock.

Control goes before audio, so that an interruption does not wait behind a backlog of speech; within
each kind the order is that of putting in. `seq` is given when a message is taken to be sent.

Nothing that was said gets lost: an utterance is kept whole until its final text has come, so that
it can be said again even to a server that has started anew.

    after a cut       the session goes on         the server began a new one
    audio             from the last audio.ack     from its first sample
    listen.*          those above last_seq        those of kept utterances
    text, approve …   those above last_seq        not again: they may have been acted upon
"""

from collections import deque
from dataclasses import dataclass, field

from sayso.audio.pcm import FRAME_SAMPLES, SAMPLE_BYTES
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import HEADER_BYTES, MAX_FRAME_BYTES, AudioFrame, PictureFrame
from sayso.protocol.messages import (
    ActResult,
    Bye,
    Error,
    FromClient,
    ListenCancel,
    ListenEnd,
    ListenStart,
    ListenStop,
    Ping,
    PlayState,
    Pong,
    Text,
)

MOST_WAITING = 256
"""Messages that wait for the line. A person makes a few a minute; more is a fault of ours."""
MOST_REMEMBERED = 256
"""Sent messages that may have to be sent again: those of the last seconds before a cut."""
MOST_UTTERANCES = 8
"""Utterances kept: so many requests may wait at the server. None is longer than a minute (2 MB)."""

_PASSING = (Ping, Pong, PlayState, Bye, Error, ActResult)
"""Messages about the moment: worthless after a cut, and not sent again."""
_UNNUMBERED = (Ping, Pong, Bye)
"""Messages about the connection, which is not what `seq` counts."""


@dataclass(slots=True)
class _Utterance:
    start: ListenStart
    pcm: bytearray = field(default_factory=bytearray)
    sent: int = 0
    """Samples sent in the present connection, or known to be at the server."""
    acknowledged: int = 0
    stop: ListenStop | None = None

    @property
    def samples(self) -> int:
        return len(self.pcm) // SAMPLE_BYTES


class Outbox:
    def __init__(self) -> None:
        self._waiting: deque[FromClient] = deque()
        self._again: deque[tuple[int, FromClient]] = deque()
        self._remembered: deque[tuple[int, FromClient]] = deque(maxlen=MOST_REMEMBERED)
        self._utterances: dict[int, _Utterance] = {}
        self._pictures: deque[PictureFrame] = deque()
        self._seq = 0

    def put(self, message: FromClient) -> None:
        """Adds a message. Of messages about the moment, the oldest give way when there are many."""
        if isinstance(message, ListenStart):
            self._utterances[message.stream] = _Utterance(message)
            while len(self._utterances) > MOST_UTTERANCES:
                del self._utterances[self._least_needed()]
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

    def put_picture(self, stream: int, content: bytes) -> None:
        """Adds the pictures of an answer, which are sent after what was said."""
        piece = MAX_FRAME_BYTES - HEADER_BYTES
        for number, start in enumerate(range(0, len(content), piece)):
            payload = content[start : start + piece]
            last = start + piece >= len(content)
            self._pictures.append(PictureFrame(stream, number, start, payload, last))

    def take(self) -> str | bytes | None:
        """Gives what is to be sent next, or nothing."""
        if self._again:
            seq, message = self._again.popleft()
            self._remembered.append((seq, message))
            return encode(Envelope(message, seq=seq))
        if self._waiting:
            message = self._waiting.popleft()
            if isinstance(message, _UNNUMBERED):
                return encode(Envelope(message))
            self._seq += 1
            if not isinstance(message, _PASSING):
                self._remembered.append((self._seq, message))
            return encode(Envelope(message, seq=self._seq))
        for stream, utterance in self._utterances.items():
            frame = _next_frame(stream, utterance)
            if frame is not None:
                return frame.pack()
        return self._pictures.popleft().pack() if self._pictures else None

    @property
    def full(self) -> bool:
        """Another utterance would push one out that the server does not hold."""
        kept = self._utterances.values()
        return len(kept) >= MOST_UTTERANCES and not any(map(_is_safe, kept))

    def _least_needed(self) -> int:
        safe = (stream for stream, kept in self._utterances.items() if _is_safe(kept))
        return next(safe, next(iter(self._utterances)))

    @property
    def empty(self) -> bool:
        """Nothing is waiting to be sent."""
        return not (
            self._again
            or self._waiting
            or self._pictures
            or any(_next_length(utterance) for utterance in self._utterances.values())
        )

    def acknowledge(self, stream: int, samples: int) -> None:
        """The server holds the utterance up to here."""
        utterance = self._utterances.get(stream)
        if utterance is not None:
            utterance.acknowledged = max(utterance.acknowledged, min(samples, utterance.samples))

    def ended(self, end: ListenEnd) -> None:
        """The server has found the end of an utterance: nothing after that is sent any more."""
        utterance = self._utterances.get(end.stream)
        if utterance is None:
            return
        if end.reason == "timeout":
            del self._utterances[end.stream]
        elif utterance.stop is None:
            # To a server that started anew it is said as one that a key has ended.
            del utterance.pcm[end.samples * SAMPLE_BYTES :]
            utterance.stop = ListenStop(end.stream, utterance.samples)
            utterance.acknowledged = utterance.samples

    def understood(self) -> None:
        """A final text has come: the oldest utterance that the server holds whole is safe.

        It may be another device's words; then ours is safe all the same, unless the server dies.
        """
        for stream, utterance in self._utterances.items():
            if _is_safe(utterance):
                del self._utterances[stream]
                return

    def answered(self) -> None:
        """A request of ours is done with: the oldest text is not lost, whatever comes."""
        for place, (_, message) in enumerate(self._remembered):
            if isinstance(message, Text):
                del self._remembered[place]
                return

    def cut(self) -> None:
        """The connection is gone; what was only about the moment goes with it."""
        self._waiting = deque(m for m in self._waiting if not isinstance(m, _PASSING))
        self._pictures.clear()

    def resume(self, last_seq: int) -> None:
        """The session goes on; the server has had our messages up to `last_seq`."""
        lost = [(seq, message) for seq, message in self._remembered if seq > last_seq]
        self._remembered.clear()
        self._again.extendleft(reversed(lost))
        for utterance in self._utterances.values():
            # Frames keep their borders, so the frame that holds the next sample goes whole.
            utterance.sent = utterance.acknowledged - utterance.acknowledged % FRAME_SAMPLES

    def begin_anew(self) -> tuple[FromClient, ...]:
        """The server knows nothing of us: what was said is said again from its beginning.

        Gives what was sent to the session that is gone and is not sent again.
        """
        listening = (ListenStart, ListenStop, ListenCancel)
        sent = [message for _, message in (*self._remembered, *self._again)]
        again: list[FromClient] = []
        for utterance in self._utterances.values():
            utterance.sent = utterance.acknowledged = 0
            again.append(utterance.start)
            if utterance.stop is not None:
                again.append(utterance.stop)
        waiting = [message for message in self._waiting if not isinstance(message, listening)]
        self._waiting = deque([*again, *waiting])
        self._remembered.clear()
        self._again.clear()
        self._seq = 0
        return tuple(message for message in sent if not isinstance(message, listening))

    def _make_room(self) -> None:
        for position, message in enumerate(self._waiting):
            if isinstance(message, _PASSING):
                del self._waiting[position]
                return
        self._waiting.popleft()


def _is_safe(utterance: _Utterance) -> bool:
    """The server holds it whole."""
    return utterance.stop is not None and utterance.acknowledged >= utterance.samples


def _next_length(utterance: _Utterance) -> int:
    """How many samples the next frame has; 0 if none is ready."""
    ready = utterance.samples - utterance.sent
    if ready >= FRAME_SAMPLES:
        return FRAME_SAMPLES
    return max(0, ready) if utterance.stop is not None else 0


def _next_frame(stream: int, utterance: _Utterance) -> AudioFrame | None:
    length = _next_length(utterance)
    if not length:
        return None
    start = utterance.sent * SAMPLE_BYTES
    frame = AudioFrame(
        stream=stream,
        seq=utterance.sent // FRAME_SAMPLES,
        first_sample=utterance.sent,
        payload=bytes(utterance.pcm[start : start + length * SAMPLE_BYTES]),
        last=utterance.stop is not None and utterance.sent + length == utterance.samples,
    )
    utterance.sent += length
    return frame
