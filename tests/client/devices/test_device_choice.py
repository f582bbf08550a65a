"""Which microphone and loudspeaker are used: listed, chosen, remembered, and not there today."""

import asyncio
import json
from pathlib import Path

import pytest

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.devices.microphone import DeviceChange
from sayso.client.devices.device_choice import DeviceChoice, NotRemembered, recall, remember
from sayso.client.devices.sound import find_sound
from sayso.protocol.home import Home
from tests.audio.cards_double import Cards, device, speaking, until
from tests.client.programs import sayso
from tests.pulse import SoundCard


def cards() -> Cards:
    plugged = [device("Built-in", "input"), device("USB Desk", "input"), device("Box", "output")]
    return Cards(lambda: 0.0, plugged)


def test_a_choice_is_remembered_and_can_be_taken_back() -> None:
    home = Home.find()
    assert recall(home) == DeviceChoice()
    remember(home, microphone='the "blue" one\\')
    remember(home, loudspeaker="box\n")
    assert recall(home) == DeviceChoice('the "blue" one\\', "box")
    remember(home, microphone="")
    assert recall(home) == DeviceChoice("", "box")


def test_a_file_that_cannot_be_read_is_told_in_a_sentence() -> None:
    home = Home.find()
    (home.config / "client.toml").write_text("microphone = [")
    with pytest.raises(NotRemembered, match=r"Mend it, or delete it\."):
        recall(home)


async def test_what_was_chosen_is_used() -> None:
    plugged = cards()
    sound = await find_sound(
        "", "", "real", print, lambda: plugged, chosen=DeviceChoice("usb", "box")
    )
    assert isinstance(sound.microphone, DeviceMicrophone)
    assert isinstance(sound.speaker, DeviceSpeaker)
    assert (sound.microphone.name, sound.speaker.name, sound.notes) == ("usb", "box", ())


async def test_a_name_given_now_goes_before_what_was_chosen() -> None:
    plugged = cards()
    sound = await find_sound(
        "built", "", "real", print, lambda: plugged, chosen=DeviceChoice("usb")
    )
    assert sound.microphone is not None
    assert sound.microphone.name == "built"


@pytest.mark.virtual_time
async def test_without_devices_that_is_told_and_both_may_still_come() -> None:
    nothing = Cards(asyncio.get_running_loop().time)
    changes: list[DeviceChange] = []
    sound = await find_sound("", "", "real", changes.append, lambda: nothing)
    assert isinstance(sound.microphone, DeviceMicrophone)
    assert isinstance(sound.speaker, DeviceSpeaker)
    assert (sound.wants_speech, sound.hears) == (False, False)
    async with speaking(sound.speaker):
        sound.speaker.start(16_000)
        await until(lambda: changes)
        nothing.plugged.append(device("Box", "output"))
        await until(lambda: len(changes) == 2)
    assert [change.state for change in changes] == ["lost", "back"]


@pytest.mark.sound
async def test_devices_are_listed_and_chosen(sound_card: SoundCard, tmp_path: Path) -> None:
    ended = await sayso("devices", environment=sound_card.environment)
    assert ended.out.count("* default") == 2
    ended = await sayso("devices", "--mic", "def", "--json", environment=sound_card.environment)
    assert all(found["used"] for found in json.loads(ended.out))
    assert recall(Home.find()).microphone == "def"
    ended = await sayso("devices", "--speaker", "nonsense", environment=sound_card.environment)
    assert ended.code == 1
    assert ended.sentence == "There is no loudspeaker called nonsense; there are: default."
    assert recall(Home.find()).loudspeaker == ""
