"""The queue of what is to be sent to one client, ordered by urgency.

Three lanes: urgent messages, sound, and the account of the work. Within a lane order is kept. A
`seq` is given when a message leaves, so it follows the order of sending; what is said of the
connection alone has none.

It outlives connections. Between them the lanes fill, and what was sent but may not have arrived is
kept to be sent again. Speech is not: its moment is over.
"""

import asyncio
from collections import deque
from dataclasses import replace

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.frames import AudioFrame
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.replay import Replay

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
    m.ActRequest,
    m.Conversation,
)

OF_THE_MOMENT = (m.OfConnection, m.SttPartial, m.SpeechStart, m.SpeechStop, m.ActRequest)
"""Worth nothing to a client that comes back later."""

ENVELOPE_BYTES = 128
"""What a message costs beside its text, roughly."""

MERGED_SHARE = 8
"""Pieces of one text are joined up to this fraction of a client's frame: a character takes at most
six bytes as JSON."""


class ClientIsSlowError(Exception):
    """The client does not read what it is sent."""


class Outbox:
    """Bounded, so that a client that does not read costs little and is noticed."""

    def __init__(self, limits: Limits, client_takes: int = 65_536) -> None:
        self._limits = limits
        self._most_merged = client_takes // MERGED_SHARE
        self._urgent: deque[Envelope] = deque()
        self._sound: deque[AudioFrame] = deque()
        self._story: deque[Envelope] = deque()
        self._waiting_bytes = 0
        self._seq = 0
        self._replay = Replay(limits.replay_messages, limits.replay_bytes, limits.resume_s)
        self._away = False
        self._filled = asyncio.Event()
        self._questions: list[str] = []
        self._last_question = ""
        self._attempt = (0, 0)
        self.overflowed = False
        """More waits than may: the client has stopped reading. Nothing is kept for it any more, and
        if it comes back, a snapshot stands for what it missed."""

    def put(self, envelope: Envelope) -> None:
        """Queue a message."""
        message = envelope.message
        if self.overflowed or (self._away and isinstance(message, OF_THE_MOMENT)):
            return
        if isinstance(message, URGENT):
            if isinstance(message, m.SpeechStop) and message.reason != "done":
                self._drop_sound(message.stream)
            if isinstance(message, m.Conversation):
                self._leave_behind()
            self._urgent.append(envelope)
            self._grow(_size(envelope))
        else:
            self._tell(envelope)
        self._filled.set()

    def is_now(self, attempt: tuple[int, int]) -> None:
        """This turn and generation count: what a device was to do for an older one is not sent."""
        if attempt > self._attempt:
            self._attempt = attempt
            self._drop_urgent(m.ActRequest)

    def put_sound(self, frame: AudioFrame) -> None:
        """Queue a frame of speech."""
        if self._away or self.overflowed:
            return
        self._sound.append(frame)
        self._grow(len(frame.payload))
        self._filled.set()

    async def take(self) -> str | bytes:
        """Wait for the next thing to send. Raises ClientIsSlowError when too much waits."""
        while True:
            if self.overflowed:
                raise ClientIsSlowError
            if self._urgent:
                return self._leave(self._urgent.popleft())
            if self._sound:
                frame = self._sound.popleft()
                self._waiting_bytes -= len(frame.payload)
                return frame.pack()
            if self._story:
                return self._leave(self._story.popleft())
            self._filled.clear()
            await self._filled.wait()

    def questions_that_left(self) -> list[str]:
        """Ids of the approval requests that left since this was last asked."""
        left, self._questions = self._questions, []
        return left

    def showed(self, question: str) -> None:
        """An approval request left, by this way or beside it."""
        self._last_question = question
        self._questions.append(question)

    # --- between connections ---

    def cut(self) -> None:
        """The connection is gone; the client may come back."""
        self._away = True
        kept = [one for one in self._urgent if not isinstance(one.message, OF_THE_MOMENT)]
        self._urgent = deque(kept)
        self._sound.clear()
        self._waiting_bytes = sum(map(_size, (*self._urgent, *self._story)))
        self._check_room()

    def back(self, last_seq: int) -> list[str] | None:
        """The client is back, having seen all up to `last_seq`: what it is sent again first.

        None if that is not known any more. Everything that waits is then gone, too, and a snapshot
        must stand for it.
        """
        self._away = self.overflowed = False
        missed = self._replay.since(last_seq)
        self._questions.clear()
        if missed is None:
            self._empty()
            self._replay.forget()
        elif self._last_question:  # The client has it, or will have had it after these.
            self._questions.append(self._last_question)
        return missed

    def _check_room(self) -> None:
        """While the client is away, no more is kept for it than could be sent again."""
        waiting = len(self._urgent) + len(self._story)
        limits = self._limits
        if waiting > limits.replay_messages or self._waiting_bytes > limits.replay_bytes:
            self._empty()
            self._replay.forget()

    def _empty(self) -> None:
        self._urgent.clear()
        self._sound.clear()
        self._story.clear()
        self._waiting_bytes = 0

    # --- lanes ---

    def _tell(self, envelope: Envelope) -> None:
        """A piece of text joins the one before it if that still waits."""
        if isinstance(envelope.message, m.TaskUpdate):
            self._replace_job(envelope.message.id)
        before = self._waiting_bytes
        joined = _joined(self._story[-1], envelope, self._most_merged) if self._story else None
        if joined:
            before -= _size(self._story.pop())
        self._story.append(joined or envelope)
        self._waiting_bytes = before
        self._grow(_size(joined or envelope))

    def _replace_job(self, job: str) -> None:
        """What waits of this job's earlier states, or left, is worth nothing any more."""
        self._replay.outdated(("job", job))
        for waiting in self._story:
            if isinstance(waiting.message, m.TaskUpdate) and waiting.message.id == job:
                self._story.remove(waiting)
                self._waiting_bytes -= _size(waiting)
                return

    def _leave(self, envelope: Envelope) -> str:
        self._waiting_bytes -= _size(envelope)
        if isinstance(envelope.message, m.OfConnection):
            return encode(envelope)
        self._seq += 1
        text = encode(Envelope(envelope.message, self._seq, envelope.turn, envelope.gen))
        now = asyncio.get_running_loop().time()
        match envelope.message:
            case m.AudioAck(stream=stream):
                self._replay.note_latest(("audio", stream), self._seq, text, now)
            case m.TaskUpdate(id=job):
                self._replay.note_latest(("job", job), self._seq, text, now)
            case message if isinstance(message, OF_THE_MOMENT):
                self._replay.passed(self._seq)
            case message:
                if isinstance(message, m.ApprovalRequest):
                    self.showed(message.id)
                self._replay.note(self._seq, text, now)
        return text

    def _grow(self, size: int) -> None:
        self._waiting_bytes += size
        if self._away:
            self._check_room()
        elif self._waiting_bytes > self._limits.outgoing_bytes:
            self.overflowed = True
            self._empty()
            self._replay.forget()
            self._filled.set()

    def _leave_behind(self) -> None:
        """Nothing of the conversation before follows."""
        kept = (m.OfConnection, m.Error)
        self._attempt = (0, 0)
        self._urgent = deque(one for one in self._urgent if isinstance(one.message, kept))
        self._sound.clear()
        self._story.clear()
        self._waiting_bytes = sum(map(_size, self._urgent))

    def _drop_urgent(self, kind: type[m.FromServer]) -> None:
        kept = deque(one for one in self._urgent if not isinstance(one.message, kind))
        if len(kept) < len(self._urgent):
            self._urgent = kept
            self._waiting_bytes = sum(map(_size, (*kept, *self._story)))
            self._waiting_bytes += sum(len(frame.payload) for frame in self._sound)

    def _drop_sound(self, stream: int) -> None:
        kept = deque(frame for frame in self._sound if frame.stream != stream)
        self._waiting_bytes -= sum(len(frame.payload) for frame in self._sound)
        self._waiting_bytes += sum(len(frame.payload) for frame in kept)
        self._sound = kept


def _size(envelope: Envelope) -> int:
    message = envelope.message
    texts = (getattr(message, name, None) for name in ("text", "code", "message", "output"))
    return ENVELOPE_BYTES + sum(len(text) for text in texts if isinstance(text, str))


def _joined(earlier: Envelope, later: Envelope, most: int) -> Envelope | None:
    """The two as one, if they are pieces of one text."""
    if (earlier.turn, earlier.gen) != (later.turn, later.gen):
        return None
    match earlier.message, later.message:
        case m.ReplyDelta(text=head), m.ReplyDelta(text=tail):
            whole: m.ReplyDelta | m.CodeOut = m.ReplyDelta(head + tail)
        case m.CodeOut(kind="stdout" | "stderr", text=head, file=None), m.CodeOut(text=tail):
            if replace(earlier.message, text="") != replace(later.message, text=""):
                return None
            whole = replace(earlier.message, text=head + tail)
        case _:
            return None
    return replace(earlier, message=whole) if len(whole.text) <= most else None
