"""Plays audio frames on the loudspeaker: a jitter buffer, exact positions, silence at once.

Positions are samples of a stream that have left the loudspeaker. They are reported while playing
(the server paces itself by them) and once more, `done`, when the whole stream has been played.
Nothing more is reported about a stream that was silenced.

    frames ──▶ held back until 60 ms are there, 40 ms have passed, or it is all ──▶ Speaker
                      ▲                                                               │
                      └────────────────────── ran dry: hold back again ◀──────────────┘
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sayso.audio.devices.speaker import Speaker
from sayso.audio.pcm import SAMPLE_BYTES, silence
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import PlayState

log = logging.getLogger(__name__)

PLAY_BUFFER_MS = 800
"""What `hello` declares: enough for a mobile line's stalls; the server sends no further ahead."""
PLAY_BUFFER_SLACK_MS = 200
"""Held beyond that before sound is dropped: our report may be so old when the server uses it."""
USUAL_RATE = 22_050
"""Of the voices that Sayso comes with: a loudspeaker opened for it need not be opened again."""
HOLD_MS = 60
"""Sound that must be there before a stream starts: covers 50 ms of jitter."""
HOLD_SECONDS = 0.04
"""Longest wait for it: a server that sends slowly is played as it comes."""
AFTER_A_GAP = 3
"""So many times as much and as long after the sound has stopped: one pause is better than two."""
REPORT_SECONDS = 0.06
"""Between two `play.state`; the protocol asks for one every 100 ms at least."""
TICK_SECONDS = 0.02
"""How often the loudspeaker's position is looked at while playing."""
QUIET_SECONDS = 0.5
"""A stream that was ended without its length is over when nothing came for so long."""
INAUDIBLE_SECONDS = 0.005
"""A shorter gap is not heard as one."""
LARGEST_HOLE_MS = 500
"""Missing sound up to this length is played as silence, so that positions stay true."""


class Observer(Protocol):
    """Who wants to know what the player does."""

    def report(self, state: PlayState) -> None:
        """A position for the server."""
        ...

    def first_played(self, stream: int) -> None:
        """The first sample of the stream has left the loudspeaker."""
        ...

    def finished(self, stream: int, samples: int) -> None:
        """Nothing of the stream is left; so many samples of it were played."""
        ...

    def ran_dry(self, stream: int, seconds: float) -> None:
        """There was a gap of this length in mid-stream, because nothing had arrived."""
        ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What was playing when it was silenced."""

    stream: int | None
    samples: int


@dataclass(slots=True)
class _Stream:
    number: int
    rate: int
    opened_at: float
    held: deque[bytes] = field(default_factory=deque)
    """Sound that is not yet with the loudspeaker."""
    held_samples: int = 0
    received: int = 0
    """The next sample that is expected."""
    base: int = 0
    """The loudspeaker's position at which the stream's sample 0 lies."""
    begun: bool = False
    """It has the loudspeaker."""
    flowing: bool = False
    """What comes goes to the loudspeaker at once."""
    arrived_at: float | None = None
    """When the first of what is held, and then the newest, arrived."""
    dry_at: float | None = None
    """When everything that had arrived was played."""
    ended: bool = False
    length: int | None = None
    first_told: bool = False
    reported: int = -1
    reported_at: float = 0.0

    @property
    def complete(self) -> bool:
        return self.ended and self.length is not None and self.received >= self.length


class Player:
    def __init__(
        self,
        speaker: Speaker,
        observer: Observer,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._speaker = speaker
        self._observer = observer
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._streams: deque[_Stream] = deque()
        self._rate = 0
        self._written = 0
        self._work = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Nothing is left to be played."""
        return not self._streams

    @property
    def sounding(self) -> bool:
        """There is sound that was not played yet; a stream may be open without."""
        if any(stream.held for stream in self._streams):
            return True
        return bool(self._streams) and bool(self._rate) and self._written > self._speaker.played()

    def open(self, stream: int, rate: int) -> None:
        """A stream begins, behind what still plays. Opening it again changes nothing."""
        if all(known.number != stream for known in self._streams):
            self.end_chime()
            self._streams.append(_Stream(stream, rate, self._clock()))
            self._work.set()

    def play(self, frame: AudioFrame) -> None:
        """Takes a frame of an open stream; one of an unknown stream is stale, and dropped."""
        stream = self._find(frame.stream)
        if stream is None:
            return
        if stream.arrived_at is None or stream.flowing:
            stream.arrived_at = self._clock()
        self._add(stream, frame)
        if frame.last:
            stream.ended, stream.length = True, stream.received
        self.tick()

    def finish(self, stream: int, samples: int | None) -> None:
        """Nothing follows after `samples` of the stream."""
        found = self._find(stream)
        if found is not None:
            found.ended = True
            found.length = samples if samples is not None else found.length
            self.tick()

    def drop(self, stream: int) -> None:
        """Silences one stream at once."""
        found = self._find(stream)
        if found is None:
            return
        if found is self._streams[0]:
            self.hush()
        else:
            self._streams.remove(found)
            self._observer.finished(found.number, 0)

    def hush(self) -> Heard:
        """Is silent at once: everything is dropped."""
        if not self._streams:
            return Heard(None, 0)
        current = self._streams[0]
        heard = 0
        if current.begun:
            self._written = self._speaker.flush()
            heard = max(0, self._written - current.base)
        while self._streams:
            stream = self._streams.popleft()
            self._observer.finished(stream.number, heard if stream is current else 0)
        return Heard(current.number, heard)

    def chime(self, make: Callable[[int], bytes], rate: int = USUAL_RATE) -> None:
        """Plays an earcon, made for the present rate, unless something is being said."""
        if self._streams:
            return
        if not self._rate:
            self._start(rate)
        pcm = make(self._rate)
        self._speaker.write(pcm)
        self._written += len(pcm) // SAMPLE_BYTES

    def end_chime(self) -> None:
        """Somebody speaks: what the device itself had to say is over."""
        if self.chiming:
            self._written = self._speaker.flush()

    @property
    def chiming(self) -> bool:
        """An earcon, or a sentence of the device itself, is being played."""
        return not self._streams and bool(self._rate) and self._written > self._speaker.played()

    async def run(self) -> None:
        """Follows the loudspeaker while there is something to play."""
        while True:
            await self._work.wait()
            self.tick()
            if not self._streams:
                self._work.clear()
                continue
            await asyncio.sleep(TICK_SECONDS)

    def tick(self) -> None:
        """Moves everything on as far as time allows."""
        while self._streams:
            stream = self._streams[0]
            if not stream.begun:
                self._begin(stream)
            self._pour(stream)
            if not self._follow(stream):
                return
            self._streams.popleft()

    def _find(self, number: int) -> _Stream | None:
        return next((stream for stream in self._streams if stream.number == number), None)

    def _add(self, stream: _Stream, frame: AudioFrame) -> None:
        pcm = frame.payload[: len(frame.payload) - len(frame.payload) % SAMPLE_BYTES]
        missing = frame.first_sample - stream.received
        if missing < 0:
            pcm = pcm[-missing * SAMPLE_BYTES :]
        elif missing > stream.rate * LARGEST_HOLE_MS // 1000:
            log.warning("stream %d: a frame lies %d samples ahead", stream.number, missing)
            return
        elif missing:
            pcm = silence(missing) + pcm
        if self._waiting_ms() > PLAY_BUFFER_MS + PLAY_BUFFER_SLACK_MS:
            log.warning("stream %d: more than was declared; dropped", stream.number)
            return
        if pcm:
            stream.held.append(pcm)
            stream.held_samples += len(pcm) // SAMPLE_BYTES
            stream.received += len(pcm) // SAMPLE_BYTES

    def _waiting_ms(self) -> float:
        """Milliseconds of sound that have been received and not been played."""
        held = sum(1000 * stream.held_samples / stream.rate for stream in self._streams)
        behind = self._written - self._speaker.played() if self._rate else 0
        return held + (1000 * behind / self._rate if self._rate else 0.0)

    def _begin(self, stream: _Stream) -> None:
        if stream.rate != self._rate:
            self._start(stream.rate)
        stream.base = self._written
        stream.begun = True

    def _start(self, rate: int) -> None:
        self._speaker.start(rate)
        self._rate, self._written = rate, 0

    def _pour(self, stream: _Stream) -> None:
        """Hands over what is held, unless it is held back for good reason."""
        if not stream.flowing:
            arrived = stream.arrived_at
            waited = 0.0 if arrived is None else self._clock() - arrived
            times = 1 if stream.dry_at is None else AFTER_A_GAP
            enough = 1000 * stream.held_samples >= times * HOLD_MS * stream.rate
            if not (enough or stream.ended or waited >= times * HOLD_SECONDS) or not stream.held:
                return
            stream.flowing = True
            self._end_gap(stream)
        while stream.held:
            self._speaker.write(stream.held.popleft())
        self._written += stream.held_samples
        stream.held_samples = 0

    def _follow(self, stream: _Stream) -> bool:
        """Looks where the loudspeaker is. True: the stream is over."""
        position = max(0, self._speaker.played() - stream.base)
        if position and not stream.first_told:
            stream.first_told = True
            self._observer.first_played(stream.number)
        dry = position >= self._written - stream.base and not stream.held
        if dry and (stream.complete or self._given_up(stream)):
            self._observer.report(PlayState(stream.number, position, done=True))
            self._observer.finished(stream.number, position)
            return True
        self._report(stream, position, urgent=dry)
        if dry and stream.flowing:
            stream.flowing, stream.arrived_at, stream.dry_at = False, None, self._clock()
        return False

    def _end_gap(self, stream: _Stream) -> None:
        """Sound goes on. If it had stopped for long enough to be heard, that is told."""
        began, stream.dry_at = stream.dry_at, None
        if began is not None and self._clock() - began > INAUDIBLE_SECONDS:
            self._observer.ran_dry(stream.number, self._clock() - began)

    def _given_up(self, stream: _Stream) -> bool:
        """It was ended, but what was promised does not come."""
        last = stream.opened_at if stream.arrived_at is None else stream.arrived_at
        return stream.ended and self._clock() - max(last, stream.reported_at) > QUIET_SECONDS

    def _report(self, stream: _Stream, position: int, *, urgent: bool) -> None:
        """Tells the server where we are: regularly, and at once when it may send more."""
        now = self._clock()
        due = now - stream.reported_at >= REPORT_SECONDS
        if position != stream.reported and (due or urgent):
            stream.reported, stream.reported_at = position, now
            self._observer.report(PlayState(stream.number, position))
