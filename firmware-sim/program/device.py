"""The device's program: one loop, no threads, fixed memory.

It is written as it would run on the chip: hardware and line call in, nothing waits, and time is an
argument. `Wire` is what it can do to the outside.

    button ─▶            ┌──────────┐ ─▶ send text, send sound
    microphone ─▶ ring ─▶│  Device  │ ─▶ call, hang up
    loudspeaker ◀─ ring ◀│          │ ─▶ erase and restart
    line ─▶              └──────────┘ ─▶ light
"""

from dataclasses import replace

from sayso.firmware_sim.device_log import DeviceLog
from sayso.firmware_sim.hardware.button import Button
from sayso.firmware_sim.hardware.led import LIGHTS, Light, State
from sayso.firmware_sim.hardware.memory import FRAME_BYTES, JSON_BYTES, MemoryExceeded
from sayso.firmware_sim.program.backoff import Backoff
from sayso.firmware_sim.program.capture import RATE, Capture
from sayso.firmware_sim.program.heartbeat import Heartbeat
from sayso.firmware_sim.program.playback import Playback
from sayso.firmware_sim.program.wire import Wire
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.errors import Oversized, ProtocolError
from sayso.protocol.frames import unpack
from sayso.protocol.version import SPOKEN

WELCOME_S = 5.0

REFUSALS = ("unauthorized", "forbidden", "version_mismatch")
"""What the server says when a person must do something first."""
REFUSED_S = 60.0
"""Then it calls again: somebody may have done it."""

FRAMES_A_LOOP = 8
"""What a socket's buffer on the chip takes at once; a backlog leaves at eight times real time."""

STREAMS = 0xFFFF

TAP_SAMPLES = RATE * 150 // 1_000
"""What is shorter is no utterance."""


class Device:
    """From power on to power off."""

    def __init__(
        self, hello: m.Hello, wire: Wire, button: Button, now: float, spread: float = 0.0
    ) -> None:
        """`spread` from -1 to 1 keeps a household's devices from calling at the same moment."""
        self._wire = wire
        self._hello = hello
        self._button = button
        self._capture = Capture()
        self._playback = Playback()
        self._backoff = Backoff(spread)
        self._line: str = "down"
        self._call_at: float | None = now
        self._since = now
        self._pulse = Heartbeat(now)
        self._session: str | None = None
        self._received_seq = 0
        self._sent_seq = 0
        self._streams = 0
        self._newest = (0, 0)
        self._work = "idle"
        self._trouble = ""
        self._refused = False
        self._overflowed = False
        self.diary = DeviceLog()

    # --- what a person and the hardware see ---

    @property
    def state(self) -> State:
        if self._overflowed:
            return "overflowing"
        if self.records:
            return "listening"
        if self._line != "up":
            return "trouble" if self._refused else "connecting"
        if self._trouble:
            return "trouble"
        if self._playback.is_on:
            return "speaking"
        if self._work == "awaiting_approval":
            return "asking"
        utterance = self._capture.utterance
        return "thinking" if self._work != "idle" or utterance else "ready"

    @property
    def light(self) -> Light:
        return LIGHTS[self.state]

    @property
    def trouble(self) -> str:
        """What went wrong last, in words."""
        return self._trouble

    @property
    def is_up(self) -> bool:
        return self._line == "up"

    @property
    def records(self) -> bool:
        """The one sound bus is switched to the microphone."""
        utterance = self._capture.utterance
        return utterance is not None and not utterance.stopped

    @property
    def play_rate(self) -> int:
        return self._playback.rate

    @property
    def plays(self) -> bool:
        return self._playback.is_on and not self.records

    @property
    def is_dry(self) -> bool:
        return self._playback.is_dry

    @property
    def most_capture_bytes(self) -> int:
        return self._capture.most_bytes

    @property
    def most_play_bytes(self) -> int:
        return self._playback.most_bytes

    # --- hardware calls in ---

    def level(self, level: bool, now: float) -> None:
        """The button's pin."""
        match self._button.level(level, now):
            case "pressed":
                self._press()
            case "released":
                self._stop(now)
            case "held long":
                self._wire.erase_and_restart()
            case None:
                pass

    def captured(self, pcm: bytes, now: float) -> None:
        """20 ms from the microphone."""
        if not self._capture.add(pcm):
            self.diary.overflows += 1
            self._overflowed = True
            self._stop(now)
        self._pump()

    def render(self, samples: int) -> bytes:
        """What the loudspeaker takes next."""
        return self._playback.render(samples)

    # --- the line calls in ---

    def line_up(self, now: float) -> None:
        """The socket is open."""
        self._line, self._since = "greeting", now
        self._pulse.heard(now)
        last = self._received_seq if self._session else None
        self._send(replace(self._hello, session=self._session, last_seq=last))

    def line_down(self, now: float, retry_s: float | None = None, why: str = "") -> None:
        """The socket is closed, or could not be opened."""
        self._line = "down"
        self._trouble = why or self._trouble
        self._playback.silence()
        self._work = "idle"
        if self._call_at is None:
            self._call_at = now + (self._backoff.next() if retry_s is None else retry_s)

    def received_text(self, text: str | bytes, now: float) -> None:
        """A message."""
        self._pulse.heard(now)
        try:
            envelope = decode(text, max_bytes=JSON_BYTES)
        except Oversized as error:
            raise MemoryExceeded(error.message) from error
        except ProtocolError as error:
            self._trouble = error.message
            return
        if self._line == "greeting":
            self._greeted(envelope, now)
        elif envelope.seq is None or envelope.seq > self._received_seq:
            self._received_seq = envelope.seq or self._received_seq
            self._take_in(envelope, now)

    def received_sound(self, data: bytes, now: float) -> None:
        """A frame of speech."""
        self._pulse.heard(now)
        try:
            frame = unpack(data, max_bytes=FRAME_BYTES)
        except Oversized as error:
            raise MemoryExceeded(error.message) from error
        except ProtocolError as error:
            self._trouble = error.message
            return
        self._playback.receive(frame)

    def tick(self, now: float) -> None:
        """Every 20 ms, whatever else happens."""
        if self._line == "down" and self._call_at is not None and now >= self._call_at:
            self._line, self._call_at, self._since = "calling", None, now
            self._wire.call()
        elif self._line in {"calling", "greeting"} and now - self._since > WELCOME_S:
            self._lose(now)
        elif self._line == "up":
            self._look_after_line(now)
            if report := self._playback.report(now):
                self.diary.answers += report.done
                self._send(report)
            self._pump()

    # --- the person ---

    def _press(self) -> None:
        self._trouble = ""
        self._overflowed = False
        if state := self._playback.silence():
            self._send(state)
        self._streams = self._streams % STREAMS + 1
        self._sent_seq += 1
        self._capture.begin(self._streams, self._sent_seq)
        self._send_numbered(m.ListenStart("ptt", self._streams), self._sent_seq)

    def _stop(self, now: float) -> None:
        utterance = self._capture.utterance
        if utterance is None or utterance.stopped:
            return
        utterance.stopped = True
        self._sent_seq += 1
        utterance.stop_seq = self._sent_seq
        self._send_numbered(m.ListenStop(utterance.stream, utterance.captured), self._sent_seq)
        self._pump()
        if utterance.captured < TAP_SAMPLES:
            self._capture.forget()  # a tap asks for silence, and nothing comes of it

    # --- the line ---

    def _look_after_line(self, now: float) -> None:
        match self._pulse.look(now):
            case "dead":
                self._lose(now)
            case "quiet":
                self.ask(now)
            case "fine":
                pass

    def ask(self, now: float) -> None:
        """Find out whether the server is there, and how long it takes to say so."""
        self._send(self._pulse.ask(now))

    def _lose(self, now: float) -> None:
        self._wire.hang_up()
        self.line_down(now)

    def _greeted(self, envelope: Envelope, now: float) -> None:
        match envelope.message:
            case m.Welcome(protocol=spoken) if not SPOKEN.min <= spoken <= SPOKEN.max:
                other = f"The server speaks version {spoken} of the protocol, this device"
                self._give_up(f"{other} {SPOKEN.max}: update the older one.", now)
            case m.Welcome() as welcome:
                self._line, self._trouble, self._refused = "up", "", False
                self._backoff.reset()
                self._resume(welcome)
            case m.Error() as error:
                self._part(error, now)
            case _:
                self._lose(now)

    def _part(self, error: m.Error, now: float) -> None:
        if error.code in REFUSALS:
            self._give_up(error.message, now)
            return
        self._wire.hang_up()
        self.line_down(now, error.retry_ms / 1000 if error.retry_ms else None, error.message)

    def _give_up(self, why: str, now: float) -> None:
        """Until a person has done something."""
        self._refused = True
        self._wire.hang_up()
        self.line_down(now, REFUSED_S, why)

    def _resume(self, welcome: m.Welcome) -> None:
        known = self._session == welcome.session and welcome.resume != "new"
        self._session = welcome.session
        self._overflowed = False
        utterance = self._capture.utterance
        if not known:
            self._received_seq, self._newest = 0, (0, 0)
            if utterance is None:
                return
            if utterance.safe:
                # Its beginning was in a session that is gone; half a request must not be acted on.
                self._capture.forget()
                self._trouble = "What was said was lost with the server; say it again."
                return
        if utterance is None:
            return
        arrived = (welcome.last_seq or 0) if known else 0
        if utterance.start_seq > arrived:
            self._send_numbered(m.ListenStart("ptt", utterance.stream), utterance.start_seq)
        self._capture.send_again()
        if utterance.stop_seq is not None and utterance.stop_seq > arrived:
            stop = m.ListenStop(utterance.stream, utterance.captured)
            self._send_numbered(stop, utterance.stop_seq)
        self._pump()

    def _take_in(self, envelope: Envelope, now: float) -> None:
        pair = (envelope.turn or 0, envelope.gen or 0)
        if pair > self._newest:
            self._newest = pair
            self._playback.silence()
        message = envelope.message
        if isinstance(message, (m.SpeechStart, m.SpeechStop)):
            if pair == self._newest:
                self._speech(message)
        elif not self._about_words(message):
            self._about_line(message, now)

    def _speech(self, message: m.SpeechStart | m.SpeechStop) -> None:
        if isinstance(message, m.SpeechStop):
            self._playback.stop(message)
        elif not self.records:
            self._playback.start(message)

    def _about_words(self, message: object) -> bool:
        match message:
            case m.AudioAck(stream=stream, samples=samples):
                self.diary.acknowledged += self._capture.acknowledge(stream, samples)
            case m.SttFinal(text=text):
                self.diary.heard.append(text)
                self._is_done_with()
            case m.TurnState(work=work):
                self._work = work
            case _:
                return False
        return True

    def _about_line(self, message: object, now: float) -> None:
        match message:
            case m.Error() as error:
                self._failed(error, now)
            case m.Ping(id=number):
                self._send(m.Pong(number))
            case m.Pong():
                self.diary.latencies.append(self._pulse.answered(now))
            case m.Bye():
                self._lose(now)
            case _:
                pass

    def _is_done_with(self) -> None:
        """The server has understood what was said, or cannot: it need not be kept."""
        utterance = self._capture.utterance
        if utterance and utterance.stopped:
            self._capture.forget()

    def _failed(self, error: m.Error, now: float) -> None:
        self._trouble = error.message
        self._is_done_with()
        if error.fatal:
            self._part(error, now)

    # --- out ---

    def _pump(self) -> None:
        if self._line != "up":
            return
        for _ in range(FRAMES_A_LOOP):
            frame = self._capture.next_frame()
            if frame is None:
                return
            self._wire.send_sound(frame.pack())

    def _send(self, message: m.FromClient) -> None:
        if self._line == "up" and not isinstance(message, (m.Ping, m.Pong)):
            self._sent_seq += 1
            self._send_numbered(message, self._sent_seq)
        elif self._line != "down":
            self._write(Envelope(message))

    def _send_numbered(self, message: m.FromClient, seq: int) -> None:
        if self._line == "up":
            self._write(Envelope(message, seq))

    def _write(self, envelope: Envelope) -> None:
        text = encode(envelope)
        if len(text) > JSON_BYTES:
            raise MemoryExceeded(f"a message of {len(text)} bytes was to be sent")
        self._wire.send_text(text)
