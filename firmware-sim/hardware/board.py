"""Simulates the hardware around the program: sample clock, button, flash, radio, watchdog, user.

The sound bus wakes the loop every 20 ms while there is sound; else the chip sleeps lightly until
the radio or a slow timer wakes it.
"""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sayso.firmware_sim.faults import Fault
from sayso.firmware_sim.hardware.button import Button
from sayso.firmware_sim.hardware.clock_drift import LOOP_S, SampleClock
from sayso.firmware_sim.hardware.memory import MemoryExceeded
from sayso.firmware_sim.hardware.nvs import Nvs, Stored
from sayso.firmware_sim.hardware.radio import Ear, Line
from sayso.firmware_sim.hardware.watchdog import Watchdog
from sayso.firmware_sim.program.capture import FRAME_SAMPLES
from sayso.firmware_sim.program.device import Device
from sayso.firmware_sim.program.greeting import hello
from sayso.firmware_sim.scene import Report, Scene
from sayso.firmware_sim.scripted_user import Hand

REST_S = 0.1
"""The slow timer: often enough for what the loop looks after while there is no sound."""


class Speaker(Protocol):
    """Where the sound goes."""

    def append(self, pcm: bytes, rate: int) -> None: ...


class Radio(Protocol):
    """What the board can do with the air; what happens there is told to its ear."""

    def call(self) -> None: ...

    def cut(self) -> None: ...

    def send(self, data: str | bytes) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """In what one board differs from the next of its make."""

    seed: int = 0
    """Decides how its waits are spread."""
    ppm: float = 0.0
    """How many millionths its quartz runs fast."""
    power_on_at: float = 0.0
    """Seconds after `run`."""
    ask_every_s: float | None = None
    """How often it asks whether the server answers; None is never."""


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
        radio: Callable[[Ear], Radio] | None = None,
        unit: Unit | None = None,
    ) -> None:
        unit = unit or Unit()
        self._stored = stored
        self._hand = Hand(scene)
        self._faults = list(faults)
        self._speaker = speaker
        self._watch = watch
        self._nvs = nvs
        self._radio = (radio or self._line)(self)
        self._unit = unit
        self._asked_at = 0.0
        self._chance = random.Random(unit.seed)  # noqa: S311 (no secret depends on it)
        self._dry = False
        self._stalled = False
        self._over = False
        self._woken = asyncio.Event()
        self.report = Report()

    async def run(self, limit_s: float) -> Report:
        """Live until the scene is over or the time is up."""
        await asyncio.sleep(self._unit.power_on_at)
        started = self._now
        quartz = SampleClock(started, self._unit.ppm)
        self._boot()
        try:
            while not self._is_over and self._now - started < limit_s:
                self._live(self._now, started)
                await self._wait(quartz)
        except MemoryExceeded as error:
            self.report.failure = f"The device's memory does not hold this: {error}."
        finally:
            self._remember()
            await self._radio.close()
        return self.report

    def switch_off(self) -> None:
        """The scene is over."""
        self._over = True

    # --- the main loop ---

    def _live(self, now: float, started: float) -> None:
        self._break(now - started)
        if not self._stalled:
            self._loop(now)
        elif self._watchdog.bites(now):
            self.report.watchdog_bites += 1
            self._reboot(has_power_anew=False)
        if self._watch:
            self._watch(now - started, self._device)

    def _loop(self, now: float) -> None:
        self._watchdog.feed(now)
        device = self._device
        self.report.connected |= device.is_up
        self._hand.move(device, now)
        sound = self._hand.speak(device)
        if device.records:
            self.report.captured_samples += FRAME_SAMPLES
            device.captured(sound, now)
        elif device.plays:
            self._play(device)
        every_s = self._unit.ask_every_s
        if every_s and device.is_up and now - self._asked_at >= every_s:
            self._asked_at = now
            device.ask(now)
        device.tick(now)

    def _play(self, device: Device) -> None:
        rate = device.play_rate
        sound = device.render(round(rate * LOOP_S))
        self.report.gaps += device.is_dry and not self._dry
        self._dry = device.is_dry
        if self._speaker:
            self._speaker.append(sound, rate)

    async def _wait(self, quartz: SampleClock) -> None:
        """Until there is sound to move, or something else to look after."""
        if self._device.records or self._device.plays or self._hand.waits:
            await asyncio.sleep(max(0.0, quartz.next(self._now) - self._now))
            return
        self._woken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_S):
                await self._woken.wait()
        quartz.rested(self._now)

    @property
    def _is_over(self) -> bool:
        diary = self._device.diary
        nothing_heard = diary.heard[-1:] == [""]
        said = self._hand.let_go and (diary.answers or nothing_heard)
        return self._over or bool(said and self._device.state in {"ready", "trouble"})

    # --- what goes wrong ---

    def _break(self, elapsed: float) -> None:
        while self._faults and self._faults[0].at <= elapsed:
            match self._faults.pop(0).kind:
                case "drop":
                    self.report.cuts += 1
                    self._radio.cut()
                    self._device.line_down(self._now)
                case "stall":
                    self._stalled = True
                case "reboot":
                    self._reboot()
                case "hold":
                    self._hand.lean(self._now)
                    self._reboot()

    def _reboot(self, *, has_power_anew: bool = True) -> None:
        self.report.reboots += 1
        self._radio.cut()
        self._remember()
        self._boot(has_power_anew=has_power_anew)
        self._hand.begin_anew()

    def _boot(self, *, has_power_anew: bool = True) -> None:
        now = self._now
        self._stalled = False
        self._watchdog = Watchdog(now)
        spread = self._chance.uniform(-1, 1)
        stored = self._stored
        greeting = hello(stored.name, stored.token, stored.conversation)
        button = Button(has_power_anew=has_power_anew)
        self._device = Device(greeting, self, button, now, spread)

    def _remember(self) -> None:
        """What the report keeps of a program that is about to end."""
        device, report = self._device, self.report
        diary = device.diary
        report.heard += diary.heard
        report.answers += diary.answers
        report.overflows += diary.overflows
        report.acknowledged_samples += diary.acknowledged
        report.latencies += diary.latencies
        report.trouble = device.trouble
        report.most_capture_bytes = max(report.most_capture_bytes, device.most_capture_bytes)
        report.most_play_bytes = max(report.most_play_bytes, device.most_play_bytes)

    def _line(self, ear: Ear) -> Radio:
        return Line(self._stored.server, self._stored.authority, ear)

    @property
    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # --- Wire: what the program does to the outside ---

    def call(self) -> None:
        self._radio.call()

    def hang_up(self) -> None:
        self._radio.cut()

    def send_text(self, text: str) -> None:
        self._radio.send(text)

    def send_sound(self, frame: bytes) -> None:
        self._radio.send(frame)

    def erase_and_restart(self) -> None:
        self._over = self.report.erased = True
        if self._nvs:
            self._nvs.erase()

    # --- Ear: what the line tells ---

    def line_up(self) -> None:
        self._device.line_up(self._now)

    def line_down(self, why: str = "") -> None:
        self._device.line_down(self._now, why=why)

    def received(self, data: str | bytes) -> None:
        if self._stalled:
            return
        self._woken.set()
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
