"""Plays on this machine's loudspeaker, and reopens it after it went away (see `hotplug.py`)."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from sayso.audio.devices.hotplug import DEAD_SECONDS, Cards, DeviceSearch
from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.devices.playback import Playback, Tap
from sayso.audio.devices.sound_cards import Device, portaudio
from sayso.audio.devices.speaker import FileSpeaker
from sayso.audio.pcm import samples_in

log = logging.getLogger(__name__)

LOOK_AROUND_SECONDS = 0.5
"""How often an open device is looked after."""
STORM_UNDERFLOWS = 4.0
"""So many underflows within some seconds mean that the buffer is too short for this machine: double
it. One or two are a hiccup, and opening the loudspeaker anew is a longer one."""
FORGIVES = 0.9
"""What an underflow still counts after each look: a third after five seconds."""
LONGEST_LATENCY_SECONDS = 0.4
STEADY_LATENCY_SECONDS = 0.044
"""What a machine with a sound server gets that does much: others play without a gap with less. It
gets it in the next silence, where nobody hears that the loudspeaker is opened anew."""
TELLING_UNDERFLOWS = 2
"""So many, ever since it was opened, tell that it does."""

Changed = Callable[[DeviceChange], None]
After = Literal["gone", "stood in", "again"]
"""Why a loudspeaker is no longer used as it is."""


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

        finder = DeviceSearch(self._cards, "loudspeaker", self._wanted, open_it)
        after: After = "again"
        while True:
            gone = self.name if after == "gone" else ""
            playback = await finder.open(gone, afresh=after == "stood in")
            if isinstance(playback, DeviceChange):
                if self._deaf is None:
                    self._detach(lost=True)
                self._changed(playback)
                playback = await finder.again()
            if news := finder.news(playback):
                self._changed(news)
            after = "again"
            try:
                if playback.rate == self._rate:
                    self._attach(playback)
                    after = await self._look_after(playback, finder)
                    # At another rate nothing is left of what was written.
                    self._detach(lost=playback.rate == self._rate and not self._is_quiet)
            finally:
                await asyncio.shield(asyncio.to_thread(playback.close))

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

    @property
    def _is_quiet(self) -> bool:
        """All that was written has been heard."""
        return self.played() >= self._written

    async def _look_after(self, playback: Playback, finder: DeviceSearch[Playback]) -> After:
        """Waits until the playback is no longer wanted."""
        underflows, storm = playback.underflows, 0.0
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AROUND_SECONDS):
                    await playback.over.wait()
            if playback.over.is_set():
                return "gone" if playback.ended else "again"
            if playback.idle_seconds > DEAD_SECONDS:
                return "gone"
            if finder.may_be_back():
                return "stood in"
            storm = FORGIVES * storm + playback.underflows - underflows
            latency = max(self._latency, playback.device.latency)
            self._latency = self._wanted_latency(latency, storm, playback)
            if self._latency > latency:
                milliseconds = round(1000 * self._latency)
                log.warning("%s runs dry; buffer set to %d ms", self.name, milliseconds)
                return "again"
            underflows = playback.underflows

    def _wanted_latency(self, latency: float, storm: float, playback: Playback) -> float:
        if storm >= STORM_UNDERFLOWS:
            return max(latency, min(LONGEST_LATENCY_SECONDS, 2 * latency))
        telling = playback.device.served and playback.underflows >= TELLING_UNDERFLOWS
        if telling and self._is_quiet:
            return max(latency, STEADY_LATENCY_SECONDS)
        return latency
