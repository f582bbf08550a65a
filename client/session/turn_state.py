"""Decides who is speaking: the client's state machine. Pure: no clock, no socket, no device.

    press ───▶ (answer playing? Hush: silent, then say how far it was heard) listen.start, frames
    release ─▶ listen.stop               under 150 ms it was a tap: listen.cancel instead
    stop key ▶ (Hush, and) interrupt
    open ────▶ listen.start without a key, over an answer too (Duck), frames until listen.end

A message of an attempt that the server has left behind (an older turn or generation) is stale.
The speech of an older attempt, and what the person has silenced, is not played, whatever comes.
"""

from collections import deque
from dataclasses import dataclass
from typing import Literal

from sayso.audio.pcm import RATE, SAMPLE_BYTES
from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    ActRequest,
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeOut,
    CodeStart,
    Conversation,
    FromClient,
    Interrupt,
    ListenCancel,
    ListenEnd,
    ListenStart,
    ListenStop,
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    Text,
    TurnState,
)

TAP_SECONDS = 0.15
"""A press shorter than this is a tap: no word is shorter."""
LONGEST_SECONDS = 60.0
"""The server ends an utterance there; so the client does it first, and says so."""
STOOD_SECONDS = 0.6
"""A question that stood for less when words began is not what they are about."""
MOST_STREAMS = 65_536
"""Stream numbers travel as u16."""
MOST_SILENCED = 64
"""Streams remembered as silenced: far more than can still be on their way."""

_OF_AN_ATTEMPT = (
    ReplyDelta,
    SpeechStart,
    SpeechStop,
    CodeStart,
    CodeOut,
    CodeEnd,
    ApprovalRequest,
    ApprovalDone,
    ActRequest,
)
"""Messages that belong to one attempt at one answer, and die with it."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this message."""

    message: FromClient


@dataclass(frozen=True, slots=True)
class SendAudio:
    """Send this speech of the person's."""

    stream: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Hush:
    """Be silent at once. `then` says how the server learns what was heard."""

    then: Literal["play.state", "interrupt"]


@dataclass(frozen=True, slots=True)
class Open:
    """Get ready to play this stream."""

    stream: int
    rate: int


@dataclass(frozen=True, slots=True)
class Play:
    """Play this."""

    frame: AudioFrame


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing follows in this stream: play what there is."""

    stream: int
    samples: int | None


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop at once what this stream still has to play."""

    stream: int


@dataclass(frozen=True, slots=True)
class Duck:
    """Play quieter for a moment, or loud again."""

    on: bool


Effect = Send | SendAudio | Hush | Open | Play | Finish | Drop | Duck
Effects = tuple[Effect, ...]
Attempt = tuple[int, int]
"""Turn and generation; they order like words."""


@dataclass(slots=True)
class _Utterance:
    stream: int
    pressed_at: float
    mode: Literal["ptt", "hands_free"] = "ptt"
    samples: int = 0


class ClientTurn:
    """Every method takes something that happened and gives what is to be done."""

    def __init__(self) -> None:
        self._utterance: _Utterance | None = None
        self._streams = 0
        self._speech: int | None = None
        self._silenced: deque[int] = deque(maxlen=MOST_SILENCED)
        self._newest: Attempt = (0, 0)
        self._ducked = False
        self._question = ""
        """The approval request that waits for an answer, and when it came."""
        self._asked_at = 0.0
        self._turn = TurnState("idle", "idle", "silent")
        self._asks = False

    @property
    def listening(self) -> bool:
        """The key is down."""
        return self._utterance is not None

    @property
    def speaking(self) -> bool:
        """An answer is being played."""
        return self._speech is not None

    @property
    def asks(self) -> bool:
        """What was spoken last is a question."""
        return self._asks

    @property
    def turn(self) -> TurnState:
        """What the server last said about the turn."""
        return self._turn

    @property
    def newest(self) -> Attempt:
        """The newest turn and generation that the server spoke of."""
        return self._newest

    def question(self, at: float) -> str:
        """Id of the approval request that words are about which began then; empty: of none."""
        return self._question if at - self._asked_at >= STOOD_SECONDS else ""

    def asked(self, question: str, now: float) -> None:
        """An approval request stands on the screen from now on."""
        self._question, self._asked_at = question, now

    def press(self, now: float) -> Effects:
        """The key goes down. Repeats of a held key change nothing."""
        if self._utterance is not None:
            return ()
        hush = self._hush("play.state")
        self._streams = self._streams % (MOST_STREAMS - 1) + 1
        self._utterance = _Utterance(self._streams, now)
        question = self.question(now)
        return (*hush, Send(ListenStart("ptt", self._streams, question=question)))

    def open(
        self, now: float, pre_roll: bytes, wait_ms: int, addressed: bool | None = None
    ) -> Effects:
        """Without a key: somebody speaks, or is expected to. What is spoken goes on, quieter.
        `addressed`: whether the wake word was said."""
        if self._utterance is not None:
            return ()
        self._streams = self._streams % (MOST_STREAMS - 1) + 1
        self._utterance = _Utterance(self._streams, now, "hands_free")
        before = len(pre_roll) // SAMPLE_BYTES
        question = self.question(now - before / RATE)
        start = ListenStart("hands_free", self._streams, before, wait_ms, question, addressed)
        duck = self._duck(on=self._speech is not None)
        return (*duck, Send(start), *(self.frame(pre_roll) if pre_roll else ()))

    def frame(self, pcm: bytes) -> Effects:
        """The microphone gave something; unless the key is down it goes nowhere."""
        utterance = self._utterance
        if utterance is None:
            return ()
        utterance.samples += len(pcm) // SAMPLE_BYTES
        send = SendAudio(utterance.stream, pcm)
        if utterance.samples < LONGEST_SECONDS * RATE:
            return (send,)
        self._utterance = None
        return (send, Send(ListenStop(utterance.stream, utterance.samples)))

    def release(self, now: float) -> Effects:
        """The key comes up: what was said is the whole utterance, at once."""
        utterance, self._utterance = self._utterance, None
        if utterance is None:
            return ()
        # A file is spoken faster than real time, so what counts is the longer of time and sound.
        if max(now - utterance.pressed_at, utterance.samples / RATE) < TAP_SECONDS:
            return (Send(ListenCancel(utterance.stream)),)
        return (Send(ListenStop(utterance.stream, utterance.samples)),)

    def cancel(self) -> Effects:
        """Forget what is being said."""
        utterance, self._utterance = self._utterance, None
        if utterance is None:
            return ()
        return (*self._duck(on=False), Send(ListenCancel(utterance.stream)))

    def say(self, text: str, files: tuple[str, ...] = (), question: str = "") -> Effects:
        """Typed words, as good as spoken ones; and files in the workspace that belong to them.
        `question`: as `question()` was when they were begun."""
        return (*self._hush("play.state"), Send(Text(text, files, question)))

    def interrupt(self) -> Effects:
        """Stop whatever goes on: speech, thought or code."""
        if self._speech is not None:
            return self._hush("interrupt")
        if self._turn.work != "idle" or self._turn.mouth != "silent":
            return (Send(Interrupt()),)
        return ()

    def hear(self, envelope: Envelope, now: float = 0.0) -> Effects | None:
        """A message came from the server at this time, which matters to questions alone. None: it
        is stale, and nobody may see it."""
        attempt = (envelope.turn or 0, envelope.gen or 0)
        message = envelope.message
        if isinstance(message, Conversation):
            moved = self.begin_anew()
            self._newest = attempt
            return moved
        if isinstance(message, _OF_AN_ATTEMPT) and attempt < self._newest:
            return None
        left: Effects = ()
        if attempt > self._newest:
            self._newest = attempt
            self._question = ""
            left = self._leave_behind()
        if isinstance(message, ApprovalRequest):
            self.asked(message.id, now)
        elif isinstance(message, ApprovalDone) and message.id == self._question:
            self._question = ""
        return (*left, *self._react(message))

    def hear_audio(self, frame: AudioFrame) -> Effects:
        """Sound came from the server."""
        return () if frame.stream in self._silenced else (Play(frame),)

    def played(self, stream: int) -> None:
        """The player has nothing left of this stream."""
        if self._speech == stream:
            self._speech = None

    def begin_anew(self) -> Effects:
        """The server began a new session: its streams and turns are counted anew."""
        self._newest = (0, 0)
        self._question = ""
        self._turn = TurnState("idle", "idle", "silent")
        drop = self._leave_behind()
        self._silenced.clear()
        return drop

    def resumed(self) -> Effects:
        """The line is back: what was being played is over, and comes again as a new stream."""
        return self._leave_behind()

    def _react(self, message: object) -> Effects:
        match message:
            case TurnState() as turn:
                was, self._turn = self._turn.mouth, turn
                # Until the server has noticed the voice it says that it goes on speaking.
                held = turn.mouth == "ducked" or (was != "ducked" and turn.ears == "listening")
                return self._duck(on=turn.mouth == "ducked" or (self._ducked and held))
            case ListenEnd(stream=stream, reason=reason):
                if self._utterance is not None and self._utterance.stream == stream:
                    self._utterance = None
                return self._duck(on=False) if reason == "timeout" else ()
            case SpeechStart(stream=stream, rate=rate, text=text) if stream not in self._silenced:
                self._asks = text.rstrip().endswith("?")
                if self._utterance is not None and self._utterance.mode == "ptt":
                    # It was on its way when the key went down. Nobody wants to be talked over.
                    self._silenced.append(stream)
                    return ()
                self._speech = stream
                return (Open(stream, rate),)
            case SpeechStop(stream=stream, reason="done", samples=samples):
                return () if stream in self._silenced else (Finish(stream, samples),)
            case SpeechStop(stream=stream):
                self._silenced.append(stream)
                self._speech = None if self._speech == stream else self._speech
                return (Drop(stream), *self._duck(on=False))
            case _:
                pass
        return ()

    def _leave_behind(self) -> Effects:
        """A newer attempt has begun: the older one is not played further."""
        speech, self._speech = self._speech, None
        if speech is None:
            return ()
        self._silenced.append(speech)
        return (Drop(speech), *self._duck(on=False))

    def _duck(self, *, on: bool) -> Effects:
        if on == self._ducked:
            return ()
        self._ducked = on
        return (Duck(on),)

    def _hush(self, then: Literal["play.state", "interrupt"]) -> Effects:
        if self._speech is None:
            return ()
        self._silenced.append(self._speech)
        self._speech = None
        return (Hush(then), *self._duck(on=False))
