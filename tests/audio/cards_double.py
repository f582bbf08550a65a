"""Sound cards that a test plugs in and pulls out."""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.devices.sound_cards import Device, Direction, End, Fill, Hear
from sayso.audio.errors import DeviceUnavailable


def device(name: str, direction: Direction, rate: int = 16_000) -> Device:
    return Device(0, name, direction, rate, 1, 0.04, default=True)


@dataclass
class OpenStream:
    """An open device, driven by the test."""

    device: Device
    rate: int
    clock: Callable[[], float]
    hear: Hear | None = None
    fill: Fill | None = None
    end: End | None = None
    latency: float = 0.04
    underflows: int = 0
    closed: bool = False
    drops: int = 0
    stubborn: bool = False
    """It can't be begun again."""
    heard: bytes = b""

    def now(self) -> float:
        return self.clock()

    def drop(self) -> None:
        self.drops += 1
        if self.stubborn:
            raise DeviceUnavailable(f"{self.device.name} did not begin again.")

    def close(self) -> None:
        self.closed = True

    def say(self, pcm: bytes) -> None:
        """The microphone hears something."""
        assert self.hear is not None
        self.hear(pcm)

    def take(self, samples: int) -> bytes:
        """The loudspeaker asks for sound, which is heard when the card's buffer is through."""
        assert self.fill is not None
        out = bytearray(2 * samples)
        self.fill(memoryview(out), self.clock() + self.latency)
        self.heard += out
        return bytes(out)

    def pull_out(self) -> None:
        assert self.end is not None
        self.end()


@dataclass
class Cards:
    """What is plugged in, and what was opened."""

    clock: Callable[[], float]
    plugged: list[Device] = field(default_factory=list)
    opened: list[OpenStream] = field(default_factory=list)
    refreshes: int = 0
    ends_by_looks: bool = False
    """As with PortAudio where the system does not list its cards."""
    opening: Callable[[], object] | None = None
    """Called, in the thread, while a device is being opened."""
    rates: tuple[int, ...] = ()
    """Rates that the cards take; empty means any."""

    def devices(self) -> list[Device]:
        return list(self.plugged)

    def find(self, direction: Direction, wanted: str = "") -> Device:
        for found in self.plugged:
            if found.direction == direction and wanted.lower() in found.name.lower():
                return found
        raise DeviceUnavailable(f"There is no {direction} {wanted}: plug one in.")

    def capture(self, device: Device, hear: Hear, end: End) -> OpenStream:
        return self._open(OpenStream(device, device.rate, self.clock, hear=hear, end=end))

    def playback(
        self, device: Device, rate: int, latency: float, fill: Fill, end: End
    ) -> OpenStream:
        usable = rate if not self.rates or rate in self.rates else device.rate
        stream = OpenStream(device, usable, self.clock, fill=fill, end=end)
        stream.latency = max(latency, device.latency)
        return self._open(stream)

    def listing(self) -> str | None:
        return repr(self.plugged)

    @property
    def looks(self) -> int:
        return self.refreshes

    def refresh(self, since: int) -> None:
        if since != self.refreshes:
            return
        self.refreshes += 1
        if self.ends_by_looks:
            for stream in self.opened:
                if not stream.closed and stream.end is not None:
                    stream.closed = True
                    stream.end()

    def _open(self, stream: OpenStream) -> OpenStream:
        if self.opening is not None:
            self.opening()
        if stream.device not in self.plugged:
            raise DeviceUnavailable(f"{stream.device.name} cannot be opened.")
        self.opened.append(stream)
        return stream


def pcm(samples: int, value: int = 7) -> bytes:
    return struct.pack("<h", value) * samples


async def until(condition: Callable[[], object]) -> None:
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never happened")


def cards(*plugged: Device) -> Cards:
    return Cards(asyncio.get_running_loop().time, list(plugged))


@asynccontextmanager
async def speaking(speaker: DeviceSpeaker) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await speaker.close()
