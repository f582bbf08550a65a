"""Who is speaking: the client's own small state machine. Pure: no clock, no socket, no device.

    press ──▶ (answer playing? Hush) listen.start, frames …
    release ─▶ listen.stop               held shorter than 150 ms: a tap, listen.cancel instead

What the person interrupted stays silent: its stream is dropped whatever still comes of it, and so
is any stream of a generation that the server has left behind.
"""

from collections import deque
from dataclasses import dataclass
from typing import Literal

from sayso.audio.pcm import RATE, SAMPLE_BYTES
from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import (
    FromClient,
    Interrupt,
    ListenCancel,
    ListenStart,
    ListenStop,
    SpeechStart,
    SpeechStop,
    Text,
    TurnState,
)

TAP_SECONDS = 0.15
"""A press shorter than this is a tap: nobody says anything in it."""
MOST_STREAMS = 65_536
"""Stream numbers travel as u16."""
MOST_SILENCED = 64
"""Streams remembered as silenced: far more than can still be on their way."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this message."""

    message: FromClient


@dataclass(frozen=True, slots=True)
class SendAudio:
    stream: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Hush:
    """Be silent at once, and tell the server what was heard (`interrupt`)."""


@dataclass(frozen=True, slots=True)
class Open:
    """Get ready to play this stream."""

    stream: int
    rate: int


@dataclass(frozen=True, slots=True)
class Play:
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


Effect = Send | SendAudio | Hush | Open | Play | Finish | Drop
Effects = tuple[Effect, ...]


@dataclass(slots=True)
class _Utterance:
    stream: int
    pressed_at: float
    samples: int = 0


class Talker:
    def __init__(self, mode: Literal["ptt", "hands_free"] = "ptt") -> None:
        self._mode = mode
        self._utterance: _Utterance | None = None
        self._streams = 0
        self._speaking: int | None = None
        self._silenced: deque[int] = deque(maxlen=MOST_SILENCED)
        self._newest: tuple[int, int] = (0, 0)
        self._turn = TurnState("idle", "idle", "silent")

    @property
    def listening(self) -> bool:
        return self._utterance is not None

    @property
    def turn(self) -> TurnState:
        """What the server last said about the turn."""
        return self._turn

    @property
    def speaking(self) -> bool:
        """An answer is being played."""
        return self._speaking is not None

    def press(self, now: float) -> Effects:
        """The key goes down. Repeats of a held key change nothing."""
        if self._utterance is not None:
            return ()
        hush = self._hush()
        self._utterance = _Utterance(self._streams % MOST_STREAMS, now)
        self._streams += 1
        return (*hush, Send(ListenStart(self._mode, self._utterance.stream)))

    def frame(self, pcm: bytes) -> Effects:
        """The microphone gave something; unless the key is down it goes nowhere."""
        if self._utterance is None:
            return ()
        self._utterance.samples += len(pcm) // SAMPLE_BYTES
        return (SendAudio(self._utterance.stream, pcm),)

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
        return (Send(ListenCancel(utterance.stream)),) if utterance else ()

    def say(self, text: str) -> Effects:
        """Typed words, as good as spoken ones."""
        return (*self._hush(), Send(Text(text)))

    def interrupt(self) -> Effects:
        """Stop whatever goes on: speech, thought or code."""
        if self._speaking is not None:
            return self._hush()
        if self._turn.work != "idle" or self._turn.mouth != "silent":
            return (Send(Interrupt()),)
        return ()

    def hear(self, envelope: Envelope) -> Effects:
        """A message came from the server."""
        place = (envelope.turn or 0, envelope.gen or 0)
        match envelope.message:
            case TurnState() as turn:
                self._turn = turn
                self._newest = max(self._newest, place)
            case SpeechStart(stream=stream, rate=rate):
                return self._speech_starts(stream, rate, place)
            case SpeechStop(stream=stream) if stream in self._silenced:
                return ()
            case SpeechStop(stream=stream, reason="interrupted"):
                self._silenced.append(stream)
                return (Drop(stream),)
            case SpeechStop(stream=stream, samples=samples):
                return (Finish(stream, samples),)
            case _:
                pass
        return ()

    def hear_audio(self, frame: AudioFrame) -> Effects:
        return () if frame.stream in self._silenced else (Play(frame),)

    def played(self, stream: int) -> None:
        """The player has nothing left of this stream."""
        if self._speaking == stream:
            self._speaking = None

    def begin_anew(self) -> Effects:
        """The server started anew: its numbers of streams and turns begin again."""
        self._silenced.clear()
        self._newest = (0, 0)
        self._turn = TurnState("idle", "idle", "silent")
        stream, self._speaking = self._speaking, None
        return () if stream is None else (Drop(stream),)

    def _speech_starts(self, stream: int, rate: int, place: tuple[int, int]) -> Effects:
        if stream in self._silenced:
            return ()
        turn, gen = self._newest
        if place[0] == turn and place[1] < gen:
            self._silenced.append(stream)
            return ()
        if self._utterance is not None:
            # It was on its way when the key went down. Nobody wants to be talked over.
            self._silenced.append(stream)
            return (Send(Interrupt(stream, 0)),)
        self._newest = max(self._newest, place)
        self._speaking = stream
        return (Open(stream, rate),)

    def _hush(self) -> Effects:
        if self._speaking is None:
            return ()
        self._silenced.append(self._speaking)
        self._speaking = None
        return (Hush(),)
