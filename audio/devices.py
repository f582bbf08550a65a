"""The microphone and the loudspeaker of this machine. A device that goes away is waited for.

open ──▶ (device gone) ──▶ DeviceChange lost ──▶ look again, every second
  ▲                                                    │
  └────── DeviceChange back, or fallback ◀─────────────┘
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Literal, TypeVar

from sayso.audio.cards import Device, Direction, SoundCards, portaudio
from sayso.audio.errors import AudioError
from sayso.audio.microphone import DeviceChange
from sayso.audio.offset import OffsetRemover
from sayso.audio.pcm import FRAME_BYTES, RATE, samples_in
from sayso.audio.playback import Playback, Tap
from sayso.audio.resample import resampler
from sayso.audio.speaker import FileSpeaker

log = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 1.0
"""Between two looks for a device: starting PortAudio afresh takes a tenth of that."""
DEAD_SECONDS = 4.0
"""A device that neither gives nor takes for so long is gone, even if nobody says so. Sound servers
have been seen to pause for two seconds when they change their buffers."""
LOOK_AROUND_SECONDS = 0.5
"""How often an open device is looked after."""
MOST_UNHEARD = 100
"""Blocks of 20 ms from the card that wait for the event loop: two seconds. Then the oldest go."""
STORM_UNDERFLOWS = 4.0
"""So many underflows within some seconds mean that the buffer is too short for this machine: double
it. One or two are a hiccup, and opening the loudspeaker anew is a longer one."""
FORGIVES = 0.9
"""What an underflow still counts after each look: a third after five seconds."""
LONGEST_LATENCY_SECONDS = 0.4

Cards = Callable[[], SoundCards]
Changed = Callable[[DeviceChange], None]
Opened = TypeVar("Opened", "Capture", Playback)


class DeviceMicrophone:
    """The default microphone, or the one whose name contains the words of `wanted`."""

    def __init__(
        self, wanted: str = "", cards: Cards = portaudio, *, patient: bool = False
    ) -> None:
        """`patient`: where there is none at first, one is waited for."""
        self._wanted = wanted
        self._cards = cards
        self._patient = patient
        self.name = wanted or "default"

    async def frames(self) -> AsyncGenerator[bytes | DeviceChange, None]:
        loop = asyncio.get_running_loop()

        def open_it(device: Device) -> Capture:
            return Capture(self._cards(), device, loop)

        try:
            capture = await _open(lambda: open_it(self._cards().find("input", self._wanted)))
        except AudioError as error:
            if not self._patient:
                raise
            yield DeviceChange("microphone", "lost", self.name, str(error))
            capture = await _open_again(self._cards, "input", self._wanted, open_it)
            yield _found("microphone", capture.device, self._wanted)
        try:
            while True:
                self.name = capture.device.name
                async with aclosing(capture.frames()) as frames:
                    async for frame in frames:
                        yield frame
                await asyncio.to_thread(capture.close)
                yield _lost("microphone", self.name)
                capture = await _open_again(self._cards, "input", self._wanted, open_it)
                yield _found("microphone", capture.device, self._wanted)
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


class DeviceSpeaker:
    """The default loudspeaker, or the one whose name contains the words of `wanted`.

    It is opened when something is to be played for the first time, and stays open. While there is
    none, what is written counts as played when it would have been: the conversation goes on.
    """

    def __init__(
        self,
        wanted: str = "",
        changed: Changed | None = None,
        cards: Cards = portaudio,
        tap: Tap | None = None,
    ) -> None:
        self._wanted = wanted
        self._cards = cards
        self._tap = tap
        self._ducked = False
        self._changed = changed or (lambda change: log.warning("%s", change.detail))
        self.name = wanted or "default"
        self._rate = 0
        self._latency = 0.0
        self._written = 0
        self._base = 0
        """The position at which the present playback began to count."""
        self._unopened = bytearray()
        """What was written while the device was being opened."""
        self._playback: Playback | None = None
        self._deaf: FileSpeaker | None = None
        """Keeps the time while there is no device."""
        self._task: asyncio.Task[None] | None = None

    def start(self, rate: int) -> None:
        self._base = self._written = 0
        self._unopened.clear()
        if self._playback is not None:
            self._playback.clear()
            if self._playback.rate != rate:
                self._playback.over.set()
                self._playback = None
        if self._deaf is not None:
            self._deaf.start(rate)
        self._rate = rate
        if self._task is None:
            self._task = asyncio.create_task(self._keep())

    def write(self, pcm: bytes) -> None:
        self._written += samples_in(pcm)
        if self._playback is not None:
            self._playback.put(pcm)
        elif self._deaf is not None:
            self._deaf.write(pcm)
        else:
            self._unopened += pcm

    def played(self) -> int:
        if self._playback is not None:
            return min(self._written, self._base + self._playback.heard())
        if self._deaf is not None:
            return min(self._written, self._base + self._deaf.played())
        return self._base

    def flush(self) -> int:
        self._base = self._written = self.played()
        self._unopened.clear()
        if self._playback is not None:
            self._playback.clear()
        if self._deaf is not None:
            self._deaf.start(self._rate)
        return self._base

    def duck(self, *, on: bool) -> None:
        self._ducked = on
        if self._playback is not None:
            self._playback.ducked = on

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _keep(self) -> None:
        """Keeps a device open for the present rate."""
        loop = asyncio.get_running_loop()

        def open_it(device: Device) -> Playback:
            return Playback(self._cards(), device, self._rate, self._latency, loop, self._tap)

        playback = await self._first(open_it)
        while True:
            try:
                if playback.rate == self._rate:
                    self._attach(playback)
                    gone = await self._look_after(playback)
                    self._detach(lost=gone)
                else:
                    gone = False
            finally:
                await asyncio.shield(asyncio.to_thread(playback.close))
            if gone:
                self._changed(_lost("loudspeaker", self.name))
                playback = await _open_again(self._cards, "output", self._wanted, open_it)
                self._changed(_found("loudspeaker", playback.device, self._wanted))
            else:
                playback = await _open(partial(open_it, playback.device))

    async def _first(self, open_it: Callable[[Device], Playback]) -> Playback:
        try:
            return await _open(lambda: open_it(self._cards().find("output", self._wanted)))
        except AudioError as error:
            self._detach(lost=True)
            self._changed(DeviceChange("loudspeaker", "lost", self.name, str(error)))
            playback = await _open_again(self._cards, "output", self._wanted, open_it)
            self._changed(_found("loudspeaker", playback.device, self._wanted))
            return playback

    def _attach(self, playback: Playback) -> None:
        self.name = playback.device.name
        if self._deaf is not None:
            # What nobody could hear is past.
            self._base, self._deaf = self._written, None
        playback.ducked = self._ducked
        playback.put(bytes(self._unopened))
        self._unopened.clear()
        self._playback = playback

    def _detach(self, *, lost: bool) -> None:
        position, waiting = self.played(), bytes(self._unopened)
        self._playback = None
        self._base = position
        if lost:
            self._deaf = FileSpeaker(None, "real")
            self._deaf.start(self._rate)
            unheard = self._written - position
            self._deaf.write(waiting or bytes(2 * unheard))
            self._unopened.clear()

    async def _look_after(self, playback: Playback) -> bool:
        """Waits until the playback is no longer wanted. True: its device is gone."""
        underflows, storm = playback.underflows, 0.0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AROUND_SECONDS):
                    await playback.over.wait()
            if playback.over.is_set():
                return playback.ended
            if playback.idle_seconds > DEAD_SECONDS:
                return True
            storm = FORGIVES * storm + playback.underflows - underflows
            if storm >= STORM_UNDERFLOWS:
                latency = max(self._latency, playback.device.latency)
                if latency < LONGEST_LATENCY_SECONDS:
                    self._latency = min(LONGEST_LATENCY_SECONDS, 2 * latency)
                    log.warning("%s runs dry; buffer set to %.2f s", self.name, self._latency)
                    return False
            underflows = playback.underflows


async def _open(work: Callable[[], Opened]) -> Opened:
    """Opens a device in a thread. If we are cancelled meanwhile, it is closed again."""
    opening = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        with suppress(AudioError):
            (await opening).close()
        raise


async def _open_again(
    cards: Cards, direction: Direction, wanted: str, open_it: Callable[[Device], Opened]
) -> Opened:
    """Looks for the wanted device or any other, until there is one."""

    def look() -> Opened:
        cards().refresh()
        try:
            return open_it(cards().find(direction, wanted))
        except AudioError:
            if not wanted:
                raise
            return open_it(cards().find(direction))

    while True:
        await asyncio.sleep(LOOK_AGAIN_SECONDS)
        try:
            return await _open(look)
        except AudioError as error:
            log.info("no %s yet: %s", direction, error)


def _lost(part: Literal["microphone", "loudspeaker"], name: str) -> DeviceChange:
    return DeviceChange(
        part, "lost", name, f"The {part} {name} is gone: plug it in again, or another one."
    )


def _found(part: Literal["microphone", "loudspeaker"], device: Device, wanted: str) -> DeviceChange:
    if wanted and not all(word in device.name.lower() for word in wanted.lower().split()):
        detail = f"The {part} {device.name} stands in for {wanted}."
        return DeviceChange(part, "fallback", device.name, detail)
    return DeviceChange(part, "back", device.name, f"The {part} {device.name} is in use.")
