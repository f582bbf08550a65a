"""Listens on this machine's microphone, and reopens it after it went away (see `hotplug.py`)."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from sayso.audio.dc_offset import OffsetRemover
from sayso.audio.devices.hotplug import DEAD_SECONDS, Cards, DeviceSearch
from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.devices.sound_cards import Device, SoundCards, portaudio
from sayso.audio.pcm import FRAME_BYTES, RATE
from sayso.audio.resample import resampler

MOST_UNHEARD = 100
"""Blocks of 20 ms from the card that wait for the event loop: two seconds. Then the oldest go."""


class DeviceMicrophone:
    """The default microphone, or the one whose name contains the words of `wanted`."""

    def __init__(self, wanted: str = "", cards: Cards = portaudio) -> None:
        self._wanted = wanted
        self._cards = cards
        self.name = wanted or "default"

    async def frames(self) -> AsyncGenerator[bytes | DeviceChange, None]:
        loop = asyncio.get_running_loop()

        def open_it(device: Device) -> Capture:
            return Capture(self._cards(), device, loop)

        finder = DeviceSearch(self._cards, "microphone", self._wanted, open_it)
        gone, stood_in = "", False
        while True:
            capture = await finder.open(gone, afresh=stood_in)
            if isinstance(capture, DeviceChange):
                yield capture
                capture = await finder.again()
            try:
                if news := finder.news(capture):
                    yield news
                gone = self.name = capture.device.name
                async with aclosing(capture.frames()) as frames:
                    async for frame in frames:
                        yield frame
                        if stood_in := finder.may_be_back():
                            gone = ""
                            break
            finally:
                await asyncio.to_thread(capture.close)


class Capture:
    """An open microphone. Made in a thread; the rest happens in the event loop."""

    def __init__(self, cards: SoundCards, device: Device, loop: asyncio.AbstractEventLoop) -> None:
        self.device = device
        self._loop = loop
        self._blocks: deque[bytes] = deque(maxlen=MOST_UNHEARD)
        self._ready = asyncio.Event()
        self._ended = False
        self._stream = cards.capture(device, self._hear, self._end)

    async def frames(self) -> AsyncGenerator[bytes, None]:
        """Gives frames of 20 ms until the device is gone."""
        converter = resampler(self._stream.rate, RATE)
        level_ground = OffsetRemover()
        pending = bytearray()
        while not self._ended:
            self._ready.clear()
            while self._blocks:
                pending += converter.feed(self._blocks.popleft())
            while len(pending) >= FRAME_BYTES:
                yield level_ground.feed(bytes(pending[:FRAME_BYTES]))
                del pending[:FRAME_BYTES]
            try:
                async with asyncio.timeout(DEAD_SECONDS):
                    await self._ready.wait()
            except TimeoutError:
                return

    def close(self) -> None:
        self._stream.close()

    def _hear(self, pcm: bytes) -> None:
        self._blocks.append(pcm)
        self._wake()

    def _end(self) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # The loop is closed: nobody listens any more.
            self._loop.call_soon_threadsafe(self._ready.set)
