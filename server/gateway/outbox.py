"""What waits to be sent to one client, in the order in which it matters.

Three lanes: what can't wait, sound, and the story of what is done. Within a lane order is kept. A
`seq` is given when a message leaves, so it follows the order of sending; what is said of the
connection alone has none.
"""

import asyncio
from collections import deque

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import AudioFrame

URGENT: tuple[type[m.FromServer], ...] = (
    m.Welcome,
    m.Error,
    m.Bye,
    m.Ping,
    m.Pong,
    m.AudioAck,
    m.ListenEnd,
    m.SpeechStart,
    m.SpeechStop,
    m.SttPartial,
    m.SttFinal,
    m.ApprovalRequest,
    m.ApprovalDone,
    m.Conversation,
)


class Outbox:
    """Bounded, so that a client that does not read costs little and is noticed."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._urgent: deque[Envelope] = deque()
        self._sound: deque[AudioFrame] = deque()
        self._story: deque[tuple[Envelope, int]] = deque()
        self._waiting_bytes = 0
        self._seq = 0
        self._filled = asyncio.Event()
        self.overflowed = False
        """More waits than may: the client has stopped reading."""

    def put(self, envelope: Envelope) -> None:
        """Queue a message."""
        message = envelope.message
        if isinstance(message, URGENT):
            if isinstance(message, m.SpeechStop) and message.reason != "done":
                self._drop_sound(message.stream)
            if isinstance(message, m.Conversation):
                self._leave_behind()
            self._urgent.append(envelope)
        else:
            size = len(message.text) if isinstance(message, (m.CodeOut, m.ReplyDelta)) else 0
            self._grow(size)
            self._story.append((envelope, size))
        self._filled.set()

    def put_sound(self, frame: AudioFrame) -> None:
        """Queue a frame of speech."""
        self._grow(len(frame.payload))
        self._sound.append(frame)
        self._filled.set()

    async def take(self) -> str | bytes:
        """Wait for the next thing to send."""
        while True:
            if self._urgent:
                return self._stamp(self._urgent.popleft())
            if self._sound:
                frame = self._sound.popleft()
                self._waiting_bytes -= len(frame.payload)
                return frame.pack()
            if self._story:
                envelope, size = self._story.popleft()
                self._waiting_bytes -= size
                return self._stamp(envelope)
            self._filled.clear()
            await self._filled.wait()

    def _stamp(self, envelope: Envelope) -> str:
        if isinstance(envelope.message, m.OfConnection):
            return encode(envelope)
        self._seq += 1
        return encode(Envelope(envelope.message, self._seq, envelope.turn, envelope.gen))

    def _grow(self, size: int) -> None:
        self._waiting_bytes += size
        if self._waiting_bytes > self._limit:
            self.overflowed = True

    def _leave_behind(self) -> None:
        """Nothing of the conversation before follows."""
        kept = (m.OfConnection, m.Error)
        self._urgent = deque(one for one in self._urgent if isinstance(one.message, kept))
        self._sound.clear()
        self._story.clear()
        self._waiting_bytes = 0

    def _drop_sound(self, stream: int) -> None:
        kept = deque(frame for frame in self._sound if frame.stream != stream)
        self._waiting_bytes -= sum(len(frame.payload) for frame in self._sound)
        self._waiting_bytes += sum(len(frame.payload) for frame in kept)
        self._sound = kept
