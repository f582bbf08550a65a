"""Opens the microphone and the loudspeaker of this client, or says why there is none."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.devices.microphone import DeviceChange, FileMicrophone, Microphone, Pace
from sayso.audio.devices.playback import Tap
from sayso.audio.devices.sound_cards import Direction, SoundCards, portaudio
from sayso.audio.devices.speaker import FileSpeaker, Speaker, silent_speaker
from sayso.audio.errors import AudioError, NoPortAudio
from sayso.client.devices.device_choice import DeviceChoice

FILE = "file:"
"""`file:q.wav` is a microphone that speaks the file; `file:a.wav` a loudspeaker that writes it."""


@dataclass(frozen=True, slots=True)
class Sound:
    """What there is to hear and to speak with."""

    microphone: Microphone | None
    speaker: Speaker
    wants_speech: bool
    """The server is to speak; not while the loudspeaker is a device that is away."""
    hears: bool = True
    """There is a microphone, and it is no device that is away."""
    notes: tuple[str, ...] = ()
    """What the person should know, in sentences."""


def file_sound(microphone: str, speaker: str, pace: Pace) -> Sound:
    """Files only, without looking for devices; what is no file is not there."""
    heard = FileMicrophone(_path(microphone), pace) if microphone.startswith(FILE) else None
    if speaker.startswith(FILE):
        loud: Speaker = FileSpeaker(_path(speaker), pace)
    else:
        loud = silent_speaker()
    return Sound(heard, loud, wants_speech=True, hears=heard is not None)


async def find_sound(
    microphone: str,
    speaker: str,
    pace: Pace,
    changed: Callable[[DeviceChange], None],
    cards: Callable[[], SoundCards] = portaudio,
    tap: Tap | None = None,
    chosen: DeviceChoice | None = None,
) -> Sound:
    """The same as `patient_sound`, and tells whether a loudspeaker is there now, since the server
    does not speak to nobody; and whether a microphone is."""
    sound = patient_sound(microphone, speaker, pace, changed, cards, tap, chosen)
    listens = isinstance(sound.microphone, DeviceMicrophone)
    speaks = isinstance(sound.speaker, DeviceSpeaker)
    if not listens and not speaks:
        return sound
    try:
        machine = await asyncio.to_thread(cards)
    except NoPortAudio as error:
        if listens:
            sound = replace(sound, microphone=None, hears=False)
        if speaks:
            sound = replace(sound, speaker=silent_speaker(), wants_speech=False)
        return replace(sound, notes=(str(error),))
    except AudioError:
        return replace(sound, wants_speech=not speaks, hears=not listens)
    return replace(
        sound,
        wants_speech=not speaks or await asyncio.to_thread(_has, machine, "output"),
        hears=not listens or await asyncio.to_thread(_has, machine, "input"),
    )


def patient_sound(
    microphone: str,
    speaker: str,
    pace: Pace,
    changed: Callable[[DeviceChange], None],
    cards: Callable[[], SoundCards] = portaudio,
    tap: Tap | None = None,
    chosen: DeviceChoice | None = None,
) -> Sound:
    """Devices (or files) of these names that are waited for if they are not there yet; an empty
    name means the one that the person chose for good, or the default device.

    `tap` is given all that a loudspeaker plays.
    """
    files = file_sound(microphone, speaker, pace)
    chosen = chosen or DeviceChoice()
    heard = files.microphone or DeviceMicrophone(microphone or chosen.microphone, cards)
    if speaker.startswith(FILE):
        return Sound(heard, files.speaker, wants_speech=True)
    loud = DeviceSpeaker(speaker or chosen.loudspeaker, changed, cards, tap)
    return Sound(heard, loud, wants_speech=True)


def _has(machine: SoundCards, direction: Direction) -> bool:
    try:
        machine.find(direction)
    except AudioError:
        return False
    return True


def _path(name: str) -> Path:
    return Path(name.removeprefix(FILE)).expanduser()
