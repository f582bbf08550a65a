"""Lists and opens the machine's sound cards: the Protocol, and its PortAudio implementation.

sounddevice is imported when the first card is looked for. Every method blocks and may take a tenth
of a second: call it in a thread.
"""

import os
import sys
import threading
import time
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, Protocol

from sayso.audio.devices.card_threads import ThreadReaper
from sayso.audio.errors import DeviceUnavailable, NoPortAudio
from sayso.audio.pcm import FRAME_MS, RATE, from_samples, to_samples

Direction = Literal["input", "output"]

REMEDY = (
    "run `sudo apt install libportaudio2`"
    if sys.platform == "linux"
    else "run `pip install --force-reinstall sounddevice`"
)
"""How to get PortAudio: elsewhere than on Linux it comes inside the package."""
PLUGGED = Path("/proc/asound/cards")
"""Where Linux lists the cards that are plugged in."""
SETTLE_SECONDS = 5.0
"""A card that was just plugged in may be used when the system has made its files, soon after."""
CARD_LATENCY_SECONDS = 0.04
"""Sound in the card's buffer: an interruption cannot take it back, but Python's pauses need it."""
SERVER_LATENCY_SECONDS = 0.03
"""The same where ALSA leads to a sound server, which adds its own. On a machine with too much to do
its plugin for PulseAudio runs dry now and then; who keeps the loudspeaker open then asks for
more."""
SERVER_BLOCK_SECONDS = 0.015
"""How much sound it asks for at a time. PortAudio would ask for a quarter of its buffer, which
costs more the shorter that is."""
_SOUND_SERVERS = ("pulse", "pipewire")
_SERVER_SOCKETS = ("pulse/native", "pipewire-0")
"""Below `$XDG_RUNTIME_DIR`, where a sound server runs."""


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone or a loudspeaker."""

    index: int
    """PortAudio's number; good until the next `refresh`."""
    name: str
    direction: Direction
    rate: int
    """Its own sample rate."""
    channels: int
    latency: float
    """Seconds of buffer to ask for."""
    default: bool
    served: bool = False
    """A loudspeaker behind a sound server."""


class Stream(Protocol):
    """An open device."""

    @property
    def rate(self) -> int:
        """The rate that it really runs at."""
        ...

    @property
    def underflows(self) -> int:
        """How often a loudspeaker had nothing to play because we were late."""
        ...

    def now(self) -> float:
        """The stream's clock, in seconds; what `Fill` is told is on the same clock."""
        ...

    def drop(self) -> None:
        """Throws away what a loudspeaker holds and has not played; blocks for some milliseconds."""
        ...

    def close(self) -> None: ...


Hear = Callable[[bytes], None]
"""Takes PCM16 mono from the card, in the card's own thread: it copies and does nothing else."""
Fill = Callable[[memoryview, float], None]
"""Fills the buffer with PCM16 mono; the number says when its first sample will be heard."""
End = Callable[[], None]
"""The stream ended by itself: the device is gone. Called in the card's own thread."""


class SoundCards(Protocol):
    """What sayso.audio needs of the machine's sound."""

    def devices(self) -> list[Device]: ...

    def find(self, direction: Direction, wanted: str = "") -> Device:
        """Finds the default device, or the one whose name contains the words of `wanted`."""
        ...

    def capture(self, device: Device, hear: Hear, end: End) -> Stream: ...

    def playback(
        self, device: Device, rate: int, latency: float, fill: Fill, end: End
    ) -> Stream: ...

    def listing(self) -> str | None:
        """The cards that the system sees, as text that changes when they do. None: it can't be
        known. Does not block."""
        ...

    @property
    def looks(self) -> int:
        """How often the hardware was looked at afresh."""
        ...

    def refresh(self, since: int) -> None:
        """Looks at the hardware afresh, where it may have changed. Open streams end by this, so
        nothing is done where somebody else did it after the look of this number."""
        ...


class PortAudio:
    """The real cards. Make it with `portaudio()`."""

    def __init__(self) -> None:
        try:
            import sounddevice  # loads PortAudio, which may be missing
        except ImportError as error:
            raise NoPortAudio(
                "There is no sound here, because the Python package sounddevice is missing: "
                "run `pip install sounddevice`."
            ) from error
        except OSError as error:
            raise NoPortAudio(
                f"There is no sound here, because PortAudio is not installed: {REMEDY}."
            ) from error
        self._library = sounddevice
        self.lock = threading.RLock()
        self.looks = 0
        self._open: list[_PortAudioStream] = []
        self._plugged = self.listing()
        self._settled_at = 0.0

    def devices(self) -> list[Device]:
        with self.lock:
            chosen = self._library.default.device
            defaults: dict[Direction, int] = {"input": chosen[0], "output": chosen[1]}
            found = []
            for raw in self._library.query_devices():
                for direction, default in defaults.items():
                    channels = int(raw[f"max_{direction}_channels"])
                    if channels:
                        found.append(_device(raw, direction, channels, default))
            return found

    def find(self, direction: Direction, wanted: str = "") -> Device:
        word = "microphone" if direction == "input" else "loudspeaker"
        candidates = [device for device in self.devices() if device.direction == direction]
        if not candidates:
            raise DeviceUnavailable(f"This machine has no {word}: plug one in.")
        if not wanted:
            return next((device for device in candidates if device.default), candidates[0])
        words = wanted.lower().split()
        for device in candidates:
            if all(part in device.name.lower() for part in words):
                return device
        names = ", ".join(dict.fromkeys(device.name for device in candidates))
        raise DeviceUnavailable(f"There is no {word} called {wanted}; there are: {names}.")

    def capture(self, device: Device, hear: Hear, end: End) -> Stream:
        with self.lock:
            rate = RATE if self._takes(device, RATE, 1) else device.rate
            channels = 1 if device.channels == 1 or self._takes(device, rate, 1) else 2

            def callback(
                data: memoryview, _frames: int, _moment: _Moment, _status: _Status
            ) -> None:
                pcm = bytes(data)
                hear(pcm if channels == 1 else mixed(pcm))

            stream = _PortAudioStream(self)
            self._start(
                stream,
                self._library.RawInputStream,
                device,
                samplerate=rate,
                channels=channels,
                blocksize=rate * FRAME_MS // 1000,
                latency=device.latency,
                callback=callback,
                finished_callback=end,
            )
            return stream

    def playback(self, device: Device, rate: int, latency: float, fill: Fill, end: End) -> Stream:
        with self.lock:
            usable = rate if self._takes(device, rate, 1) else device.rate
            latency = max(latency, device.latency)
            stream = _PortAudioStream(self)

            def callback(data: memoryview, _frames: int, moment: _Moment, status: _Status) -> None:
                fill(memoryview(data), moment.outputBufferDacTime or moment.currentTime + latency)
                stream.underflows += bool(status.output_underflow)

            def finished() -> None:
                if not stream.dropping:
                    end()

            self._start(
                stream,
                self._library.RawOutputStream,
                device,
                samplerate=usable,
                channels=1,
                blocksize=int(usable * SERVER_BLOCK_SECONDS) if device.served else 0,
                latency=latency,
                callback=callback,
                finished_callback=finished,
            )
            return stream

    def listing(self) -> str | None:
        try:
            return PLUGGED.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def refresh(self, since: int) -> None:
        with self.lock:
            if self.looks != since:
                return
            plugged, now = self.listing(), time.monotonic()
            if plugged != self._plugged:
                self._plugged, self._settled_at = plugged, now + SETTLE_SECONDS
            if self._open and plugged is not None and now > self._settled_at:
                return  # Nothing new, and what plays goes on.
            self.looks += 1
            for stream in list(self._open):
                stream.close()
            # PortAudio looks for cards when it starts and at no other time. sounddevice names these
            # two functions, and no others, for starting it again.
            self._library._terminate()  # noqa: SLF001
            self._library._initialize()  # noqa: SLF001

    @property
    def error(self) -> type[Exception]:
        """What PortAudio raises."""
        found: type[Exception] = self._library.PortAudioError
        return found

    def forget(self, stream: "_PortAudioStream") -> None:
        if stream in self._open:
            self._open.remove(stream)

    def _takes(self, device: Device, rate: int, channels: int) -> bool:
        check = getattr(self._library, f"check_{device.direction}_settings")
        try:
            check(device=device.index, samplerate=rate, channels=channels, dtype="int16")
        except (self._library.PortAudioError, ValueError):
            return False
        return True

    def _start(
        self,
        stream: "_PortAudioStream",
        kind: "Callable[..., _Raw]",
        device: Device,
        **settings: object,
    ) -> None:
        try:
            stream.start(kind(device=device.index, dtype="int16", **settings))
        except (self._library.PortAudioError, ValueError) as error:
            raise DeviceUnavailable(
                f"{device.name} cannot be opened ({error}): is another program using it?"
            ) from error
        self._open.append(stream)


class _PortAudioStream:
    def __init__(self, owner: PortAudio) -> None:
        self._owner = owner
        self._raw: _Raw
        self.rate = 0
        self.underflows = 0
        self._runaways = ThreadReaper()
        self.dropping = False
        """It stops only to begin anew."""

    def start(self, raw: "_Raw") -> None:
        self._raw = raw
        self.rate = round(raw.samplerate)
        try:
            with self._runaways.born():
                raw.start()
        except BaseException:
            raw.close()
            raise

    def now(self) -> float:
        return 0.0 if self._raw.closed else float(self._raw.time)

    def drop(self) -> None:
        with self._owner.lock:
            if not self._raw.closed:
                self.dropping = True
                try:
                    with self._runaways.ended():
                        self._raw.abort()
                    with self._runaways.born():
                        self._raw.start()
                except self._owner.error as problem:
                    raise DeviceUnavailable(
                        f"The loudspeaker did not begin again after an interruption ({problem})."
                    ) from problem
                finally:
                    self.dropping = False

    def close(self) -> None:
        with self._owner.lock:
            self._owner.forget(self)
            if not self._raw.closed:
                # What the card still holds is not waited for.
                with self._runaways.ended():
                    self._raw.abort()
                self._raw.close()


class _Moment(Protocol):
    """When a block of sound is heard, on the stream's clock."""

    outputBufferDacTime: float  # noqa: N815 (PortAudio's name)
    currentTime: float  # noqa: N815 (PortAudio's name)


class _Status(Protocol):
    output_underflow: bool


class _Raw(Protocol):
    """What we use of a stream of sounddevice."""

    samplerate: float
    closed: bool
    time: float

    def start(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


def mixed(pcm: bytes) -> bytes:
    """Makes one channel of two: some devices hear with one of them only, nobody knows which."""
    samples = to_samples(pcm)
    pairs = zip(samples[::2], samples[1::2], strict=False)
    return from_samples(array("h", ((left + right) // 2 for left, right in pairs)))


def _device(
    raw: Mapping[str, str | float], direction: Direction, channels: int, default: int
) -> Device:
    name = str(raw["name"])
    served = direction == "output" and _is_served(name)
    latency = SERVER_LATENCY_SECONDS if served else CARD_LATENCY_SECONDS
    return Device(
        index=int(raw["index"]),
        name=name,
        direction=direction,
        rate=round(float(raw["default_samplerate"])),
        channels=channels,
        latency=latency,
        default=raw["index"] == default,
        served=served,
    )


def _is_served(name: str) -> bool:
    """ALSA's default is a bare card where there is no sound server."""
    if name != "default":
        return name in _SOUND_SERVERS
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return bool(os.environ.get("PULSE_SERVER")) or (
        runtime is not None
        and any(os.access(f"{runtime}/{socket}", os.W_OK) for socket in _SERVER_SOCKETS)
    )


@cache
def portaudio() -> PortAudio:
    """The machine's cards, opened once. Raises `NoPortAudio`."""
    return PortAudio()
