"""A device on the workbench: its program with a wire that only remembers what it was told."""

from dataclasses import dataclass, field

from sayso.firmware_sim.hardware.button import Button
from sayso.firmware_sim.program.device import Device
from sayso.firmware_sim.program.greeting import hello
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import AudioFrame, unpack

LOOP_S = 0.02
FRAME = bytes(640)


@dataclass
class Bench:
    """Time stands still unless it is told to pass."""

    now: float = 100.0
    calls: int = 0
    hang_ups: int = 0
    erased: int = 0
    sent: list[Envelope] = field(default_factory=list)
    frames: list[AudioFrame] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.level = False
        self.device = Device(hello("lamp", "t" * 43), self, Button(), self.now)

    @property
    def state(self) -> str:
        return self.device.state

    # Wire

    def call(self) -> None:
        self.calls += 1

    def hang_up(self) -> None:
        self.hang_ups += 1

    def send_text(self, text: str) -> None:
        self.sent.append(decode(text))

    def send_sound(self, frame: bytes) -> None:
        self.frames.append(unpack(frame))

    def erase_and_restart(self) -> None:
        self.erased += 1

    # what happens

    def passes(self, seconds: float, sound: bytes = FRAME) -> None:
        """The main loop runs."""
        for _ in range(round(seconds / LOOP_S)):
            self.now += LOOP_S
            self.device.level(self.level, self.now)
            if self.device.records:
                self.device.captured(sound, self.now)
            elif self.device.plays:
                self.device.render(round(self.device.play_rate * LOOP_S))
            self.device.tick(self.now)

    def joins(self, **welcome: object) -> None:
        """The server answers a call."""
        self.passes(LOOP_S)
        self.device.line_up(self.now)
        fields = {"protocol": 1, "server": "sayso", "session": "one"} | welcome
        self.tells(m.Welcome(**fields))  # type: ignore[arg-type]

    def tells(
        self, message: m.Message, turn: int = 0, gen: int = 0, seq: int | None = None
    ) -> None:
        self.device.received_text(encode(Envelope(message, seq, turn, gen)), self.now)

    def plays(self, stream: int, first: int, samples: int) -> None:
        frame = AudioFrame(stream, first // 320, first, bytes(2 * samples))
        self.device.received_sound(frame.pack(), self.now)

    def loses_line(self) -> None:
        self.device.line_down(self.now)

    def all(self, kind: type[m.Message]) -> list[m.Message]:
        return [envelope.message for envelope in self.sent if isinstance(envelope.message, kind)]
