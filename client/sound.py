"""Which microphone and loudspeaker this client has, and what to say if it has none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sayso.audio.cards import SoundCards, portaudio
from sayso.audio.devices import DeviceMicrophone, DeviceSpeaker
from sayso.audio.errors import AudioError
from sayso.audio.microphone import DeviceChange, FileMicrophone, Microphone, Pace
from sayso.audio.playback import Tap
from sayso.audio.speaker import FileSpeaker, Speaker, silent_speaker

FILE = "file:"
"""`file:q.wav` is a microphone that speaks the file; `file:a.wav` a loudspeaker that writes it."""


@dataclass(frozen=True, slots=True)
class Sound:
    """What there is to hear and to speak with."""

    microphone: Microphone | None
    speaker: Speaker
    audible: bool
    """Somebody, or some file, hears the loudspeaker."""
    notes: tuple[str, ...] = ()
    """What the person should know, in sentences."""


def file_sound(microphone: str, speaker: str, pace: Pace) -> Sound:
    """Files only, without looking for devices; what is no file is not there."""
    heard = FileMicrophone(_path(microphone), pace) if microphone.startswith(FILE) else None
    if speaker.startswith(FILE):
        return Sound(heard, FileSpeaker(_path(speaker), pace), audible=True)
    return Sound(heard, silent_speaker(), audible=True)


async def find_sound(
    microphone: str,
    speaker: str,
    pace: Pace,
    changed: Callable[[DeviceChange], None],
    cards: Callable[[], SoundCards] = portaudio,
    tap: Tap | None = None,
) -> Sound:
    """Finds the devices or files of these names; an empty name means the default device.

    `tap` is given all that a loudspeaker plays.
    """
    files = file_sound(microphone, speaker, pace)
    notes: list[str] = []
    found = files.microphone
    if found is None and await _there(cards, "input", microphone, notes):
        found = DeviceMicrophone(microphone, cards)
    if speaker.startswith(FILE):
        return Sound(found, files.speaker, audible=True, notes=tuple(notes))
    if await _there(cards, "output", speaker, notes):
        loud = DeviceSpeaker(speaker, changed, cards, tap)
        return Sound(found, loud, audible=True, notes=tuple(notes))
    return Sound(found, silent_speaker(), audible=False, notes=tuple(notes))


async def _there(
    cards: Callable[[], SoundCards], direction: str, wanted: str, notes: list[str]
) -> bool:
    try:
        await asyncio.to_thread(
            lambda: cards().find("input" if direction == "input" else "output", wanted)
        )
    except AudioError as error:
        if str(error) not in notes:
            notes.append(str(error))
        return False
    return True


def _path(name: str) -> Path:
    return Path(name.removeprefix(FILE)).expanduser()
