"""The hardware around the program: sample clock, button, flash, radio, watchdog, and a hand.

It runs in real time: a loop of 20 ms, as the sound bus would give it.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sayso.firmware_sim.capture import FRAME_SAMPLES
from sayso.firmware_sim.device import Device
from sayso.firmware_sim.faults import Fault
from sayso.firmware_sim.line import Line
from sayso.firmware_sim.memory import MemoryExceeded
from sayso.firmware_sim.nvs import Nvs, Stored
from sayso.firmware_sim.watchdog import Watchdog
from sayso.protocol.frames import PCM16_BYTES

LOOP_S = 0.02

FRAME_BYTES = FRAME_SAMPLES * PCM16_BYTES

BOUNCES = (True, False, True, False, True)
"""How the contacts chatter when the button is pressed or let go, one level each 2 ms."""
BOUNCE_STEP_S = 0.002


class Speaker(Protocol):
    """Where the sound goes."""

    def append(self, pcm: bytes, rate: int) -> None: ...


@dataclass(slots=True)
class Report:
    """How a run went."""

    heard: list[str] = field(default_factory=list)
    connected: bool = False
    answers: int = 0
    reboots: int = 0
    watchdog_bites: int = 0
    cuts: int = 0
    overflows: int = 0
    gaps: int = 0
    """How often the loudspeaker ran dry in the middle of an answer."""
    captured_samples: int = 0
    acknowledged_samples: int = 0
    most_capture_bytes: int = 0
    most_play_bytes: int = 0
    latencies: list[float] = field(default_factory=list)
    failure: str = ""
    """Why the run counts as failed: the device's memory did not hold what came."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the hand does: press, speak, let go, listen."""

    say: bytes = b""
    """PCM16 at 16 kHz, said while the button is held."""
    start_at: float = 0.0
    """Seconds after the first connection."""


class Board:
    """One device from power on until its scene is over."""

    def __init__(
        self,
        stored: Stored,
        scene: Scene,
        *,
        faults: tuple[Fault, ...] = (),
        speaker: Speaker | None = None,
        watch: Callable[[float, Device], None] | None = None,
        nvs: Nvs | None = None,
        seed: int = 0,
        ask_every_s: float | None = None,
        power_on_at: float = 0.0,
    ) -> None:
        self._stored = stored
        self._scene = scene
        self._faults = list(faults)
        self._speaker = speaker
        self._watch = watch
        self._nvs = nvs
        self._ask_every_s = ask_every_s
        self._power_on_at = power_on_at
        self._asked_at = 0.0
        self._chance = random.Random(seed)  # noqa: S311 (no secret depends on it)
        self._said = 0
        self._down_since: float | None = None
        self._up_since: float | None = None
        self._dry = False
        self._let_go_at: float | None = None
        self._stalled = False
        self._over = False
        self.report = Report()

    async def run(self, limit_s: float) -> Report:
        """Live until the scene is over or the time is up."""
        await asyncio.sleep(self._power_on_at)
        started = self._now
        line = Line(self._stored.server, self._stored.authority, self)
        self._line = line
        self._boot()
        try:
            while not self._is_over and self._now - started < limit_s:
                woke = self._now
                self._break(woke - started)
                if not self._stalled:
                    await self._loop(woke)
                elif self._watchdog.bites(woke):
                    self.report.watchdog_bites += 1
                    self._reboot()
                if self._watch:
                    self._watch(woke - started, self._device)
                await asyncio.sleep(max(0.0, woke + LOOP_S - self._now))
        except MemoryExceeded as error:
            self.report.failure = f"The device's memory does not hold this: {error}."
        finally:
            self._remember()
            await line.close()
        return self.report

    def switch_off(self) -> None:
        """The scene is over."""
        self._over = True

    # --- the main loop ---

    async def _loop(self, now: float) -> None:
        self._watchdog.feed(now)
        device = self._device
        await self._move_hand(now)
        if device.records:
            piece = self._scene.say[self._said : self._said + FRAME_BYTES]
            self._said += len(piece)
            piece += bytes(FRAME_BYTES - len(piece))
            self.report.captured_samples += FRAME_SAMPLES
            device.captured(piece, now)
        elif device.plays:
            rate = device.play_rate
            sound = device.render(round(rate * LOOP_S))
            self.report.gaps += device.is_dry and not self._dry
            self._dry = device.is_dry
            if self._speaker:
                self._speaker.append(sound, rate)
        if self._ask_every_s and device.is_up and now - self._asked_at >= self._ask_every_s:
            self._asked_at = now
            device.ask(now)
        device.tick(now)

    async def _move_hand(self, now: float) -> None:
        device = self._device
        if device.is_up and self._up_since is None:
            self._up_since = now
            self.report.connected = True
        if self._up_since is None or not self._scene.say:
            return
        if self._down_since is None and now - self._up_since >= self._scene.start_at:
            self._down_since = now
            await self._chatter(level=True)
        device.level(self._is_held, now)
        if not self._is_held and self._let_go_at is None:
            self._let_go_at = now
            await self._chatter(level=False)

    @property
    def _is_held(self) -> bool:
        return self._down_since is not None and self._said < len(self._scene.say)

    async def _chatter(self, *, level: bool) -> None:
        for bounce in BOUNCES:
            self._device.level(bounce == level, self._now)
            await asyncio.sleep(BOUNCE_STEP_S)

    @property
    def _is_over(self) -> bool:
        said = self._scene.say and self._let_go_at is not None and self._device.diary.answers
        return self._over or bool(said and self._device.state in {"ready", "trouble"})

    # --- what goes wrong ---

    def _break(self, elapsed: float) -> None:
        while self._faults and self._faults[0].at <= elapsed:
            match self._faults.pop(0).kind:
                case "drop":
                    self.report.cuts += 1
                    self._line.cut()
                    self._device.line_down(self._now)
                case "stall":
                    self._stalled = True
                case "reboot":
                    self._reboot()

    def _reboot(self) -> None:
        self.report.reboots += 1
        self._line.cut()
        self._remember()
        self._boot()
        # A person whose device has started anew says it once more.
        self._said = 0
        self._up_since = self._down_since = self._let_go_at = None

    def _boot(self) -> None:
        now = self._now
        self._stalled = False
        self._watchdog = Watchdog(now)
        spread = self._chance.uniform(-1, 1)
        self._device = Device(self._stored.name, self._stored.token, self, now, spread)

    def _remember(self) -> None:
        """What the report keeps of a program that is about to end."""
        device, report = self._device, self.report
        diary = device.diary
        report.heard += diary.heard
        report.answers += diary.answers
        report.overflows += diary.overflows
        report.acknowledged_samples += diary.acknowledged
        report.latencies += diary.latencies
        report.most_capture_bytes = max(report.most_capture_bytes, device.most_capture_bytes)
        report.most_play_bytes = max(report.most_play_bytes, device.most_play_bytes)

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # --- Wire: what the program does to the outside ---

    def call(self) -> None:
        self._line.call()

    def hang_up(self) -> None:
        self._line.cut()

    def send_text(self, text: str) -> None:
        self._line.send(text)

    def send_sound(self, frame: bytes) -> None:
        self._line.send(frame)

    def erase_and_restart(self) -> None:
        self._over = True
        if self._nvs:
            self._nvs.erase()

    # --- Ear: what the line tells ---

    def line_up(self) -> None:
        self._device.line_up(self._now)

    def line_down(self) -> None:
        self._device.line_down(self._now)

    def received(self, data: str | bytes) -> None:
        if self._stalled:
            return
        try:
            if isinstance(data, str):
                self._device.received_text(data, self._now)
            else:
                self._device.received_sound(data, self._now)
        except MemoryExceeded as error:
            self.report.failure = f"The device's memory does not hold this: {error}."
            self._over = True


def read_question(path: Path) -> bytes:
    """A WAV file as the device's microphone would hear it."""
    from sayso.audio.wav import read_speech

    return read_speech(path, FRAME_SAMPLES * 50)
