"""Microphones and loudspeakers that come and go."""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from sayso.audio.devices import DEAD_SECONDS, DeviceMicrophone, DeviceSpeaker
from sayso.audio.looking import LOOK_AGAIN_SECONDS
from sayso.audio.microphone import DeviceChange
from sayso.audio.pcm import FRAME_BYTES, FRAME_SAMPLES
from tests.audio.cards_double import Cards, OpenStream, device

pytestmark = pytest.mark.virtual_time

DESK = device("Desk microphone", "input")
LAPTOP = device("Laptop microphone", "input", 48_000)
HEADSET = device("Headset", "output")
BUILT_IN = device("Built-in loudspeaker", "output")


def pcm(samples: int, value: int = 7) -> bytes:
    return struct.pack("<h", value) * samples


async def until(condition: Callable[[], object]) -> None:
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never happened")


def cards(*plugged: object) -> Cards:
    found = Cards(asyncio.get_running_loop().time)
    found.plugged = [card for card in plugged if card is not None]  # type: ignore[misc]
    return found


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


@asynccontextmanager
async def speaking(speaker: DeviceSpeaker) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await speaker.close()


async def opened(plugged: Cards, count: int = 1) -> OpenStream:
    await until(lambda: len(plugged.opened) == count)
    await asyncio.sleep(0.01)
    return plugged.opened[-1]


async def test_what_the_card_took_counts_as_heard_only_when_it_sounds() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(1_000))
        assert speaker.played() == 0
        stream = await opened(plugged)
        assert stream.take(500) == pcm(500)
        assert speaker.played() == 0
        await asyncio.sleep(0.04 + 0.02)
        assert speaker.played() == 200
        await asyncio.sleep(1)
        assert speaker.played() == 500
        assert stream.take(600) == pcm(500) + bytes(200)
        await asyncio.sleep(1)
        assert speaker.played() == 1_000


async def test_after_a_flush_the_card_gets_silence_and_the_position_stays() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(5_000))
        stream = await opened(plugged)
        stream.take(1_000)
        await asyncio.sleep(0.09)
        assert speaker.flush() == 500
        assert stream.take(100) == bytes(200)
        await asyncio.sleep(1)
        assert speaker.played() == 500
        speaker.write(pcm(100, 9))
        assert stream.take(100) == pcm(100, 9)
        await asyncio.sleep(1)
        assert speaker.played() == 600


async def test_what_the_card_holds_is_thrown_away_by_a_flush_and_nothing_else_is() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.flush()
        speaker.write(pcm(1_000))
        stream = await opened(plugged)
        assert stream.drops == 0
        stream.take(1_000)
        speaker.flush()
        speaker.write(pcm(100, 9))
        taken = stream.take(100)  # the card may ask before it has thrown away what it held
        await until(lambda: stream.drops == 1)
        await asyncio.sleep(0.01)
        assert pcm(100, 9) in (taken, stream.take(100))
        await asyncio.sleep(1)
        speaker.flush()
        await asyncio.sleep(0.01)
        assert stream.drops == 1


async def test_a_card_that_does_not_begin_again_after_a_flush_is_opened_anew() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged, changed=lambda _: None)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(1_000))
        stream = await opened(plugged)
        stream.stubborn = True
        stream.take(1_000)
        speaker.flush()
        await until(lambda: len(plugged.opened) == 2)


async def test_a_card_that_cannot_play_the_rate_gets_it_converted_and_positions_stay_true() -> None:
    plugged = cards(BUILT_IN)
    plugged.rates = (16_000,)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(8_000)
        speaker.write(pcm(8_000))
        stream = await opened(plugged)
        taken = 0
        while taken < 24_000:
            stream.take(800)
            taken += 800
            await asyncio.sleep(0.05)
            speaker.played()
        assert speaker.played() == 8_000
        loud = sum(abs(value) > 3 for value in struct.unpack("<24000h", stream.heard))
        assert loud == pytest.approx(16_000, abs=40)


async def test_another_rate_opens_the_card_again_and_counts_from_nought() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(8_000)
        await opened(plugged)
        speaker.start(16_000)
        speaker.write(pcm(100))
        stream = await opened(plugged, 2)
        assert plugged.opened[0].closed
        assert stream.rate == 16_000
        stream.take(100)
        await asyncio.sleep(1)
        assert speaker.played() == 100


async def test_without_a_loudspeaker_time_goes_on_and_what_comes_later_is_heard() -> None:
    changes: list[DeviceChange] = []
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker("head", changes.append, lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(10_000))
        stream = await opened(plugged)
        stream.take(1_000)
        await asyncio.sleep(0.14)
        plugged.plugged.clear()
        stream.pull_out()
        await until(lambda: changes)
        await asyncio.sleep(0.5)
        assert 5_000 < speaker.played() < 8_000
        plugged.plugged.append(BUILT_IN)
        stream = await opened(plugged, 2)
        await until(lambda: len(changes) == 2)
        speaker.write(pcm(100, 9))
        assert pcm(100, 9) in stream.take(2_000)
        await asyncio.sleep(1)
        assert speaker.played() == 10_100
    assert [change.state for change in changes] == ["lost", "fallback"]


async def test_a_loudspeaker_that_stands_in_gives_way_and_what_plays_is_not_waited_for() -> None:
    changes: list[DeviceChange] = []
    plugged = cards(BUILT_IN)
    speaker = DeviceSpeaker("head", changes.append, lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(100_000))
        stream = await opened(plugged)
        plugged.plugged.append(HEADSET)
        while len(plugged.opened) == 1:
            stream.take(1_000)
            await asyncio.sleep(0.1)
        assert (await opened(plugged, 2)).device == HEADSET
        assert speaker.played() == 100_000
        speaker.write(pcm(100, 9))
        assert pcm(100, 9) in plugged.opened[1].take(2_000)
    assert [change.state for change in changes] == ["fallback", "back"]


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


async def test_a_loudspeaker_that_was_never_there_is_told_and_the_talk_goes_on() -> None:
    changes: list[DeviceChange] = []
    plugged = cards()
    speaker = DeviceSpeaker("", changes.append, lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(1_000))
        await asyncio.sleep(1)
        assert speaker.played() == 1_000
    assert [change.state for change in changes] == ["lost"]


async def test_a_buffer_that_runs_dry_all_the_time_is_doubled() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        stream = await opened(plugged)
        stream.underflows = 50
        wider = await opened(plugged, 2)
        assert wider.latency == 2 * stream.latency
