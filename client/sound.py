"""Which microphone and loudspeaker this client has, and what to say if it has none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sayso.audio.cards import Direction, SoundCards, portaudio
from sayso.audio.devices import DeviceMicrophone, DeviceSpeaker
from sayso.audio.errors import AudioError, DeviceUnavailable
from sayso.audio.microphone import DeviceChange, FileMicrophone, Microphone, Pace
from sayso.audio.playback import Tap
from sayso.audio.speaker import FileSpeaker, Speaker, silent_speaker
from sayso.client.chosen import Chosen

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
    chosen: Chosen | None = None,
) -> Sound:
    """Finds the devices or files of these names; an empty name means the default device.

    `tap` is given all that a loudspeaker plays. `chosen` is what the person chose for good; where
    that is not plugged in, the default device stands in.
    """
    files = file_sound(microphone, speaker, pace)
    notes: list[str] = []
    chosen = chosen or Chosen()
    microphone = microphone or await _or_default(cards, "input", chosen.microphone, notes)
    speaker = speaker or await _or_default(cards, "output", chosen.loudspeaker, notes)
    found = files.microphone
    if found is None and await _there(cards, "input", microphone, notes):
        found = DeviceMicrophone(microphone, cards)
    if speaker.startswith(FILE):
        return Sound(found, files.speaker, audible=True, notes=tuple(notes))
    if await _there(cards, "output", speaker, notes):
        loud = DeviceSpeaker(speaker, changed, cards, tap)
        return Sound(found, loud, audible=True, notes=tuple(notes))
    return Sound(found, silent_speaker(), audible=False, notes=tuple(notes))


def patient_sound(
    microphone: str,
    speaker: str,
    changed: Callable[[DeviceChange], None],
    tap: Tap | None,
    chosen: Chosen,
) -> Sound:
    """Devices (or files) of these names that are waited for if they are not there yet."""
    files = file_sound(microphone, speaker, "real")
    heard = files.microphone or DeviceMicrophone(microphone or chosen.microphone, patient=True)
    if speaker.startswith(FILE):
        return Sound(heard, files.speaker, audible=True)
    loud = DeviceSpeaker(speaker or chosen.loudspeaker, changed, tap=tap)
    return Sound(heard, loud, audible=True)


async def _or_default(
    cards: Callable[[], SoundCards], direction: Direction, wanted: str, notes: list[str]
) -> str:
    """A name that was chosen once, if such a device is there today."""
    try:
        if wanted:
            await asyncio.to_thread(lambda: cards().find(direction, wanted))
    except DeviceUnavailable:
        word = "microphone" if direction == "input" else "loudspeaker"
        notes.append(f"The {word} {wanted} is not there; the system's own choice is used.")
        return ""
    except AudioError:
        pass  # Told when the device is opened.
    return wanted


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
