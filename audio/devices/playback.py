"""Feeds an open loudspeaker, and counts how much of what was queued has been heard."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sayso.audio.devices.sound_cards import Device, SoundCards
from sayso.audio.devices.speaker import DUCKED
from sayso.audio.errors import AudioError
from sayso.audio.pcm import SAMPLE_BYTES, quieter, samples_in
from sayso.audio.resample import resampler

log = logging.getLogger(__name__)

MOST_MARKS = 128
"""Remembered moments of the card's taking: more than its longest buffer holds."""


Tap = Callable[[bytes, int], None]
"""Is given all that the card takes, silence too, and its rate. Called in the card's own thread."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """The card took sound that will be heard from this moment on."""

    moment: float
    first: int
    """How many samples it had taken before."""
    count: int


class Playback:
    """Made in a thread; the card's own thread calls `_fill`, which copies and does nothing else."""

    def __init__(
        self,
        cards: SoundCards,
        device: Device,
        rate: int,
        latency: float,
        loop: asyncio.AbstractEventLoop,
        tap: Tap | None = None,
    ) -> None:
        self.device = device
        self.rate = rate
        self.ducked = False
        self._tap = tap
        self._untold: deque[bytes] = deque(maxlen=MOST_MARKS)
        self._card_rate = 0
        self.over = asyncio.Event()
        self.ended = False
        """The device is gone."""
        self._loop = loop
        self._lock = threading.Lock()
        self._ring = bytearray()
        self._marks: deque[_Mark] = deque(maxlen=MOST_MARKS)
        self._taken = 0
        self._put = 0
        self._filled_at = time.monotonic()
        self._dropping: asyncio.Future[None] | None = None
        self._ends_at = 0.0
        """When all that the card took will have been heard, on the stream's clock."""
        self._skipped = 0
        """Samples that the tap is still not to be told of."""
        # From here on the card asks for sound.
        self._stream = cards.playback(device, rate, latency, self._fill, self._end)
        self._converter = resampler(rate, self._stream.rate)
        self._converting = False
        self._card_rate = self._stream.rate

    @property
    def underflows(self) -> int:
        return self._stream.underflows

    @property
    def idle_seconds(self) -> float:
        """How long the card has not asked for anything."""
        return time.monotonic() - self._filled_at

    def put(self, pcm: bytes) -> None:
        """Adds sound at the end."""
        if not pcm:
            return
        self._put += samples_in(pcm)
        converted = self._converter.feed(pcm)
        self._converting = True
        with self._lock:
            self._ring += converted

    def heard(self) -> int:
        """How many of the samples that were put have been heard."""
        with self._lock:
            waiting = len(self._ring)
        if not waiting and self._converting:
            # Nothing follows for now: what the converter holds back is due.
            rest = self._converter.finish()
            self._converter = resampler(self.rate, self._stream.rate)
            self._converting = False
            with self._lock:
                self._ring += rest
        with self._lock:
            reached = self._reached(self._stream.now())
            if not self._ring and reached >= self._taken:
                return self._put
        return min(self._put, reached * self.rate // self._stream.rate)

    def clear(self) -> None:
        """Drops everything, also what the card holds; counting begins anew."""
        with self._lock:
            held = self._reached(self._stream.now()) < self._taken
        if held and not self._is_dropping:
            # A sound server holds a tenth of a second: who breaks in would be talked over so long.
            # It fills itself again with silence; the tap was told of what that stands for.
            held_s = max(0.0, self._ends_at - self._stream.now())
            self._skipped = int(held_s * self._stream.rate)
            self._dropping = self._loop.run_in_executor(None, self._drop)
        self._put = 0
        self._converter = resampler(self.rate, self._stream.rate)
        self._converting = False
        with self._lock:
            self._ring.clear()
            self._marks.clear()
            self._taken = 0

    def close(self) -> None:
        self._stream.close()

    @property
    def _is_dropping(self) -> bool:
        return self._dropping is not None and not self._dropping.done()

    def _drop(self) -> None:
        try:
            self._stream.drop()
        except AudioError as error:
            log.warning("%s It is opened anew.", error)
            self._end()

    def _reached(self, now: float) -> int:
        """Which of the samples that the card took is being heard now."""
        for mark in reversed(self._marks):
            if mark.moment <= now:
                # Clocks count in fractions without an exact form: a thousandth is given.
                passed = (now - mark.moment) * self._stream.rate
                return mark.first + min(mark.count, int(passed + 0.001))
        return self._marks[0].first if self._marks else self._taken

    def _fill(self, out: memoryview, moment: float) -> None:
        self._filled_at = time.monotonic()
        with self._lock:
            # What the card takes now is thrown away.
            length = 0 if self._is_dropping else min(len(out), len(self._ring))
            out[:length] = self._ring[:length]
            if length:
                del self._ring[:length]
                count = length // SAMPLE_BYTES
                self._marks.append(_Mark(moment, self._taken, count))
                self._taken += count
        if length < len(out):
            out[length:] = bytes(len(out) - length)
        if self.ducked and length:
            out[:length] = quieter(bytes(out[:length]), DUCKED)
        samples = len(out) // SAMPLE_BYTES
        if self._card_rate:
            self._ends_at = moment + samples / self._card_rate
        told = out[min(samples, self._skipped) * SAMPLE_BYTES :]
        self._skipped -= min(samples, self._skipped)
        if self._tap is not None and told:
            self._tell(self._tap, bytes(told))

    def _tell(self, tap: Tap, pcm: bytes) -> None:
        # The card asks for its first sound before it says at which rate it runs.
        self._untold.append(pcm)
        while self._card_rate and self._untold:
            tap(self._untold.popleft(), self._card_rate)

    def _end(self) -> None:
        self.ended = True
        with suppress(RuntimeError):  # The loop is closed: nobody waits any more.
            self._loop.call_soon_threadsafe(self.over.set)
