"""Microphones that come and go, alone and with a loudspeaker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.devices.hotplug import DEAD_SECONDS, LOOK_AGAIN_SECONDS
from sayso.audio.devices.microphone import DeviceChange
from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES
from tests.audio.cards_double import cards, device, pcm, speaking, until

pytestmark = pytest.mark.virtual_time

DESK = device("Desk microphone", "input")
LAPTOP = device("Laptop microphone", "input", 48_000)
HEADSET = device("Headset", "output")


Heard = list[bytes | DeviceChange]


@asynccontextmanager
async def listening(microphone: DeviceMicrophone) -> AsyncIterator[Heard]:
    heard: Heard = []

    async def listen() -> None:
        async for frame in microphone.frames():
            heard.append(frame)

    task = asyncio.create_task(listen())
    try:
        yield heard
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_frames_of_20_ms_come_whatever_the_card_gives() -> None:
    plugged = cards(DESK)
    async with listening(DeviceMicrophone(cards=lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        for _ in range(10):
            plugged.opened[0].say(pcm(100))
        await until(lambda: len(heard) == 3)
    assert all(isinstance(frame, bytes) and len(frame) == FRAME_BYTES for frame in heard)
    assert plugged.opened[0].closed


async def test_a_card_with_another_rate_is_converted() -> None:
    plugged = cards(LAPTOP)
    async with listening(DeviceMicrophone(cards=lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        for _ in range(100):
            plugged.opened[0].say(pcm(960))
            await asyncio.sleep(0.02)
        assert 95 <= len(heard) <= 100


async def test_a_microphone_that_is_not_there_is_told_at_once_and_used_when_it_comes() -> None:
    plugged = cards(HEADSET)
    async with listening(DeviceMicrophone("studio", lambda: plugged)) as heard:
        await until(lambda: heard)
        await asyncio.sleep(600)
        looked = plugged.refreshes
        plugged.plugged.append(device("Studio", "input"))
        came = asyncio.get_running_loop().time()
        await until(lambda: plugged.opened)
        assert asyncio.get_running_loop().time() - came < 2 * LOOK_AGAIN_SECONDS
    changes = [change for change in heard if isinstance(change, DeviceChange)]
    assert [change.state for change in changes] == ["lost", "back"]
    assert looked < 45, "who only types pays for three looks a minute"


async def test_another_microphone_stands_in_from_the_beginning_and_gives_way() -> None:
    plugged = cards(LAPTOP)
    async with listening(DeviceMicrophone("desk", lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        plugged.plugged.append(DESK)
        for _ in range(600):
            plugged.opened[0].say(pcm(960))
            if plugged.opened[0].closed:
                break
            await asyncio.sleep(0.02)
        await until(lambda: len(plugged.opened) == 2)
        plugged.opened[1].say(pcm(FRAME_SAMPLES))
        await until(lambda: isinstance(heard[-1], bytes))
        assert plugged.opened[1].device == DESK
    changes = [change for change in heard if isinstance(change, DeviceChange)]
    assert [change.state for change in changes] == ["fallback", "back"]


async def test_an_unplugged_microphone_is_told_and_another_one_stands_in() -> None:
    plugged = cards(DESK, LAPTOP)
    async with listening(DeviceMicrophone("desk", lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        plugged.opened[0].say(pcm(FRAME_SAMPLES))
        await until(lambda: heard)
        plugged.plugged.remove(DESK)
        plugged.opened[0].pull_out()
        await until(lambda: len(heard) == 3)
        plugged.opened[1].say(pcm(960))
        plugged.opened[1].say(pcm(960))
        await until(lambda: len(heard) == 4)
    changes = [change for change in heard if isinstance(change, DeviceChange)]
    assert [(change.state, change.name) for change in changes] == [
        ("lost", "Desk microphone"),
        ("fallback", "Laptop microphone"),
    ]
    assert "stands in for desk" in changes[1].detail


async def test_a_microphone_that_is_plugged_in_again_is_used_again() -> None:
    plugged = cards(DESK)
    async with listening(DeviceMicrophone("desk", lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        plugged.plugged.clear()
        plugged.opened[0].pull_out()
        await until(lambda: plugged.refreshes >= 5)
        plugged.plugged.append(DESK)
        await until(lambda: len(heard) == 2)
        plugged.opened[1].say(pcm(FRAME_SAMPLES))
        await until(lambda: len(heard) == 3)
    states = [change.state for change in heard if isinstance(change, DeviceChange)]
    assert states == ["lost", "back"]
    assert [stream.closed for stream in plugged.opened] == [True, True]


async def test_a_microphone_that_falls_silent_without_a_word_counts_as_gone() -> None:
    plugged = cards(DESK)
    async with listening(DeviceMicrophone(cards=lambda: plugged)) as heard:
        await until(lambda: plugged.opened)
        await asyncio.sleep(DEAD_SECONDS + 2)
        states = [change.state for change in heard if isinstance(change, DeviceChange)]
    assert states == ["lost", "back"]


async def test_two_devices_that_go_together_come_back_together() -> None:
    changes: list[DeviceChange] = []
    plugged = cards(DESK, HEADSET)
    plugged.ends_by_looks = True
    speaker = DeviceSpeaker("", changes.append, lambda: plugged)
    async with speaking(speaker), listening(DeviceMicrophone(cards=lambda: plugged)) as heard:
        speaker.start(10_000)
        await until(lambda: len(plugged.opened) == 2)
        plugged.plugged.clear()
        for stream in plugged.opened:
            stream.pull_out()
        await until(lambda: plugged.refreshes > 1)
        plugged.plugged += [DESK, HEADSET]
        await until(lambda: len(plugged.opened) >= 4)
        before = len(plugged.opened)
        for _ in range(100):
            for stream in plugged.opened:
                if stream.closed:
                    continue
                if stream.hear:
                    stream.say(pcm(FRAME_SAMPLES))
                else:
                    stream.take(1_000)
            await asyncio.sleep(0.1)
        assert len(plugged.opened) <= before + 2, "they end each other for ever"
    told = changes + [change for change in heard if isinstance(change, DeviceChange)]
    assert sorted(change.state for change in told) == ["back", "back", "lost", "lost"]
