"""Defines the Protocol of a microphone, and a microphone that reads a file."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from sayso.audio.pcm import FRAME_BYTES, FRAME_MS
from sayso.audio.wav import read_speech

Pace = Literal["real", "max"]
"""`real`: a second of sound takes a second. `max`: as fast as the machine can."""


@dataclass(frozen=True, slots=True)
class DeviceChange:
    """A sound device went away, was replaced, or came back."""

    part: Literal["microphone", "loudspeaker"]
    state: Literal["lost", "fallback", "back"]
    """`lost`: there is none now. `fallback`: another one is in use. `back`: the wanted one is."""
    name: str
    detail: str
    """One sentence for the person."""


class Microphone(Protocol):
    """A source of speech."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    def frames(self) -> AsyncGenerator[bytes | DeviceChange, None]:
        """Opens the microphone; gives PCM16 mono 16 kHz in frames of 20 ms until there are no more.

        Only the last frame may be shorter. A device that goes away is told as a `DeviceChange`, and
        the frames go on when there is one again. Raises `AudioError` if it cannot open at all.
        Closing the iterator closes the microphone.
        """
        ...


class FileMicrophone:
    """Speaks a WAV file of any shape, once per opening."""

    def __init__(self, path: Path, pace: Pace = "real") -> None:
        self.name = f"file:{path}"
        self._pace = pace
        self._pcm = read_speech(path)

    @property
    def seconds(self) -> float:
        return len(self._pcm) / FRAME_BYTES * FRAME_MS / 1000

    async def frames(self) -> AsyncGenerator[bytes | DeviceChange, None]:
        loop = asyncio.get_running_loop()
        opened = loop.time()
        for count, start in enumerate(range(0, len(self._pcm), FRAME_BYTES), 1):
            frame = self._pcm[start : start + FRAME_BYTES]
            # A frame exists once its last sample was spoken. Due times are counted from the
            # start, so that late wake-ups do not add up.
            due = opened + count * FRAME_MS / 1000 if self._pace == "real" else 0.0
            await asyncio.sleep(max(0.0, due - loop.time()))
            yield frame
