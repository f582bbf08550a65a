"""Sound cards as they are: of any rate, or in the hands of another program."""

import asyncio
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.sound_cards import PortAudio
from sayso.audio.errors import DeviceUnavailable
from tests.audio.cards_double import cards, device, until
from tests.audio.devices.test_hotplug import listening


@pytest.mark.virtual_time
@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 96_000, 192_000])
async def test_a_microphone_of_any_rate_is_heard_at_its_pitch(rate: int) -> None:
    plugged = cards(device("Odd microphone", "input", rate))
    tone = 12_000 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)
    async with listening(DeviceMicrophone(cards=lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        block = rate // 50
        for start in range(0, rate, block):
            plugged.opened[0].say(tone[start : start + block].astype("<i2").tobytes())
            await asyncio.sleep(0.02)
    sound = np.frombuffer(b"".join(each for each in heard if isinstance(each, bytes)), "<i2")
    assert 14_000 <= len(sound) <= 16_000
    spectrum = np.abs(np.fft.rfft(sound))
    assert np.argmax(spectrum) * 16_000 / len(sound) == pytest.approx(440, abs=3)


def test_a_microphone_that_another_program_holds_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy(Exception):
        pass

    def refuse(**_: object) -> None:
        raise Busy("Device unavailable [PaErrorCode -9985]")

    library = SimpleNamespace(
        PortAudioError=Busy, RawInputStream=refuse, check_input_settings=lambda **_: None
    )
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    microphone = device("USB microphone", "input")

    with pytest.raises(DeviceUnavailable, match="is another program using it"):
        PortAudio().capture(microphone, lambda _: None, lambda: None)
