"""Defines the Protocol of a loudspeaker, one that writes a file, and one that plays nothing.

The unit of all positions is the sample, counted from `start`. Silence that is put in because there
was nothing to play does not count: a position says how much of *what was written* has been heard.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sayso.audio.devices.microphone import Pace
from sayso.audio.errors import AudioError
from sayso.audio.pcm import SAMPLE_BYTES, quieter, samples_in, silence
from sayso.audio.wav import Writer

DUCKED = 0.25
"""How loud speech is while somebody may be speaking over it: to be heard, and not in the way."""


class Speaker(Protocol):
    """A loudspeaker. No method blocks."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    def start(self, rate: int) -> None:
        """Gets ready for PCM16 mono at `rate`; positions begin at 0. Drops what was not played."""
        ...

    def write(self, pcm: bytes) -> None:
        """Adds sound behind what is still to be played. The caller bounds how much that is."""
        ...

    def played(self) -> int:
        """How many samples have left the loudspeaker."""
        ...

    def flush(self) -> int:
        """Is silent at once: drops what has not been played.

        Gives the position that was reached; what is written next goes on from there.
        """
        ...

    def duck(self, *, on: bool) -> None:
        """Plays at a quarter of the volume from now on, or loud again."""
        ...

    async def close(self) -> None:
        """Gives the device back."""
        ...


class FileSpeaker:
    """Plays into a WAV file, with an honest clock.

    At pace `real` a sample counts as played when a loudspeaker would have played it; at `max` at
    once. The file holds what was played, in the order of playing, at the rate of the first sound
    (later sound at another rate is converted). What an interruption cut off is not in it, and
    pauses between sounds are left out.
    """

    def __init__(
        self, path: Path | None, pace: Pace = "real", clock: Callable[[], float] | None = None
    ) -> None:
        self.name = f"file:{path}" if path else "none"
        self._pace = pace
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._writer = Writer(path) if path else None
        self._rate = 0
        self._pending = bytearray()
        self._played = 0
        self._run_began: float | None = None
        self._run_base = 0
        self._ducked = False

    def start(self, rate: int) -> None:
        if self._rate:
            self.flush()
        self._rate = rate
        self._played = 0

    def write(self, pcm: bytes) -> None:
        self.played()
        if not self._pending:
            self._run_began, self._run_base = self._clock(), self._played
        self._pending += pcm
        self.played()

    def played(self) -> int:
        if not self._pending or self._run_began is None:
            return self._played
        due = len(self._pending) // SAMPLE_BYTES
        if self._pace == "real":
            # Clocks count in fractions that have no exact form: a thousandth of a sample is given.
            passed = (self._clock() - self._run_began) * self._rate
            reached = self._run_base + int(passed + 0.001)
            due = min(due, reached - self._played)
        if due > 0:
            self._put(bytes(self._pending[: due * SAMPLE_BYTES]))
            del self._pending[: due * SAMPLE_BYTES]
            self._played += due
        return self._played

    def flush(self) -> int:
        heard = self.played()
        self._pending.clear()
        return heard

    def duck(self, *, on: bool) -> None:
        self.played()
        self._ducked = on

    async def close(self) -> None:
        self.flush()
        if self._writer:
            self._writer.close()

    def _put(self, pcm: bytes) -> None:
        if self._writer:
            self._writer.append(quieter(pcm, DUCKED) if self._ducked else pcm, self._rate)


def silent_speaker() -> FileSpeaker:
    """Plays nothing, at once: for clients that only read."""
    return FileSpeaker(None, "max")


class ReopeningSpeaker:
    """Another speaker, and silence in real time once that one has failed: talk goes on as text.

    `failed` is told once, with the error.
    """

    def __init__(self, speaker: Speaker, failed: Callable[[AudioError], None]) -> None:
        self._speaker = speaker
        self._failed = failed
        self._broken = False
        self._rate = 0
        self._base = 0
        """The position at which the present speaker began to count."""
        self._written = 0
        self._played = 0

    @property
    def name(self) -> str:
        return self._speaker.name

    def start(self, rate: int) -> None:
        self._rate, self._base, self._written, self._played = rate, 0, 0, 0
        self._try(lambda: self._speaker.start(rate))

    def write(self, pcm: bytes) -> None:
        self._written += samples_in(pcm)
        self._try(lambda: self._speaker.write(pcm))

    def played(self) -> int:
        self._try(self._look)
        return self._played

    def flush(self) -> int:
        def drop() -> None:
            self._played = self._base + self._speaker.flush()

        self._try(drop)
        self._written = self._played
        return self._played

    def duck(self, *, on: bool) -> None:
        self._try(lambda: self._speaker.duck(on=on))

    async def close(self) -> None:
        try:
            await self._speaker.close()
        except AudioError as error:
            self._replace(error)

    def _look(self) -> None:
        self._played = self._base + self._speaker.played()

    def _try(self, action: Callable[[], None]) -> None:
        try:
            action()
        except AudioError as error:
            self._replace(error)

    def _replace(self, error: AudioError) -> None:
        if self._broken:
            return
        self._broken = True
        self._failed(error)
        self._speaker = FileSpeaker(None, "real")
        self._base = self._played
        if self._rate:
            self._speaker.start(self._rate)
            self._speaker.write(silence(self._written - self._played))
