"""A radio in virtual time, and a server that it reaches: it acknowledges, understands and answers
at the pace of playing, as SPEC.md says."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sayso.firmware_sim.hardware.radio import Ear
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import AudioFrame, unpack

TRAVELS_S = 0.005
UNREACHABLE_S = 0.1
STEP_S = 1e-6
ACKNOWLEDGES_S = 0.2
THINKS_S = 1.0
FRAME_SAMPLES = 480


@dataclass
class Air:
    """One server, and the radios around it."""

    answer_s: float = 2.0
    rate: int = 16_000
    understands: str = "what was asked"
    reachable: bool = True
    refusal: m.Error | None = None
    """What it says to a hello instead of a welcome."""
    protocol: int = 1
    answers_calls: bool = True
    """A server that does not answer takes the call and is silent."""
    utterances: list[int] = field(default_factory=list)
    """Samples of each that came whole."""
    hellos: list[m.Hello] = field(default_factory=list)
    sessions: dict[str, "Sitting"] = field(default_factory=dict)

    def radio(self, ear: Ear) -> "Radio":
        return Radio(self, ear)


class Radio:
    """What a board has; the other end is the server."""

    def __init__(self, air: Air, ear: Ear) -> None:
        self._air = air
        self._ear = ear
        self._sitting: Sitting | None = None
        self._calls = 0
        self._due = 0.0

    def call(self) -> None:
        self.cut()
        self._later(self._ring, TRAVELS_S if self._air.reachable else UNREACHABLE_S)

    def _ring(self) -> None:
        if self._air.reachable:
            self._ear.line_up()
        else:
            self._ear.line_down("Nobody answers.")

    def cut(self) -> None:
        self._calls += 1
        if self._sitting:
            self._sitting.radio = None
            self._sitting = None

    async def close(self) -> None:
        self.cut()

    def send(self, data: str | bytes) -> None:
        if self._air.answers_calls:
            self._later(lambda: self._arrive(data))

    def bring(self, data: str | bytes) -> None:
        """To the device."""
        self._later(lambda: self._ear.received(data))

    def _arrive(self, data: str | bytes) -> None:
        if isinstance(data, bytes):
            assert self._sitting
            self._sitting.hear(unpack(data))
            return
        envelope = decode(data)
        if isinstance(envelope.message, m.Hello):
            self._sit_down(envelope.message)
        elif self._sitting:
            self._sitting.take(envelope)

    def _sit_down(self, hello: m.Hello) -> None:
        sessions = self._air.sessions
        self._air.hellos.append(hello)
        if self._air.refusal:
            self.bring(encode(Envelope(self._air.refusal)))
            return
        known = sessions.get(hello.session or "")
        sitting = known or Sitting(self._air, str(len(sessions) + 1))
        sessions[sitting.session] = self._sitting = sitting
        sitting.radio = self
        sitting.greet(resumes=known is not None)

    def _later(self, action: Callable[[], None], delay_s: float = TRAVELS_S) -> None:
        """Unless the line is cut before."""
        calls = self._calls
        loop = asyncio.get_running_loop()
        # Timers of one moment go off in any order; what travels keeps its own.
        self._due = max(self._due + STEP_S, loop.time() + delay_s)
        loop.call_at(self._due, lambda: action() if calls == self._calls else None)


class Sitting:
    """A session, as the server keeps it."""

    def __init__(self, air: Air, session: str) -> None:
        self._air = air
        self.session = session
        self.radio: Radio | None = None
        self._heard_seq = 0
        self._seq = 0
        self._got: dict[int, bytearray] = {}
        self._acknowledged = 0.0
        self._length: dict[int, int] = {}
        self._turn = 0
        self._sent = 0
        self._played = 0
        self._speaks = False

    def greet(self, *, resumes: bool) -> None:
        welcome = m.Welcome(self._air.protocol, "air", self.session)
        if resumes:
            welcome = replace(welcome, resume="ok", last_seq=self._heard_seq)
        self._say(welcome)
        self._speaks = False

    def hear(self, frame: AudioFrame) -> None:
        got = self._got.setdefault(frame.stream, bytearray())
        if frame.first_sample * 2 == len(got):
            got += frame.payload
        now = asyncio.get_running_loop().time()
        if now - self._acknowledged >= ACKNOWLEDGES_S:
            self._acknowledged = now
            self._say(m.AudioAck(frame.stream, len(got) // 2))
        self._understand(frame.stream)

    def take(self, envelope: Envelope) -> None:
        if envelope.seq is not None:
            if envelope.seq <= self._heard_seq:
                return
            self._heard_seq = envelope.seq
        match envelope.message:
            case m.ListenStart(stream=stream):
                self._got.setdefault(stream, bytearray())
            case m.ListenStop(stream=stream, samples=samples):
                self._length[stream] = samples
                self._understand(stream)
            case m.PlayState(samples=samples):
                self._played = samples
                self._speak()
            case m.Ping(id=number):
                self._say(m.Pong(number))
            case _:
                pass

    def _understand(self, stream: int) -> None:
        got = len(self._got.get(stream, b"")) // 2
        if self._length.get(stream) != got:
            return
        del self._length[stream]
        self._air.utterances.append(got)
        self._turn += 1
        self._say(m.AudioAck(stream, got))
        if self._air.understands:
            self._say(m.TurnState("idle", "thinking", "silent"))
        self._say(m.SttFinal(self._air.understands))
        if not self._air.understands:
            return
        asyncio.get_running_loop().call_later(THINKS_S, self._answer)

    def _answer(self) -> None:
        self._sent = self._played = 0
        self._speaks = True
        self._say(m.SpeechStart(self._turn, self._air.rate, "This is the answer."))
        self._say(m.TurnState("idle", "idle", "speaking"))
        self._speak()

    def _speak(self) -> None:
        """As far ahead as the device's buffer goes."""
        total = round(self._air.answer_s * self._air.rate)
        ahead = min(300, self._air.hellos[-1].limits.play_buffer_ms) * self._air.rate // 1_000
        while self._speaks and self._sent < total and self.radio:
            count = min(FRAME_SAMPLES, total - self._sent)
            if self._sent + count > self._played + ahead:
                return
            number = self._sent // FRAME_SAMPLES
            frame = AudioFrame(self._turn, number, self._sent, b"\1\0" * count)
            self.radio.bring(frame.pack())
            self._sent += count
            if self._sent == total:
                self._speaks = False
                self._say(m.SpeechStop(self._turn, "done", total))
                self._say(m.TurnState("idle", "idle", "silent"))

    def _say(self, message: m.FromServer) -> None:
        seq = None
        if not isinstance(message, m.OfConnection):
            self._seq += 1
            seq = self._seq
        if self.radio:
            self.radio.bring(encode(Envelope(message, seq, self._turn, 0)))
