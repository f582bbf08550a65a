"""Loudspeakers that come and go, and the positions that they tell."""

import asyncio
import logging
import struct
from dataclasses import replace

import pytest

from sayso.audio.devices.device_speaker import DeviceSpeaker
from sayso.audio.devices.microphone import DeviceChange
from tests.audio.cards_double import Cards, OpenStream, cards, device, pcm, speaking, until

pytestmark = pytest.mark.virtual_time

HEADSET = device("Headset", "output")
BUILT_IN = device("Built-in loudspeaker", "output")
SERVED = replace(device("pulse", "output"), latency=0.03, served=True)


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


async def test_the_buffer_of_a_bare_card_is_not_lengthened_for_two_underflows() -> None:
    plugged = cards(HEADSET)
    speaker = DeviceSpeaker(cards=lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        stream = await opened(plugged)
        stream.underflows = 2
        for _ in range(20):
            stream.take(1_000)
            await asyncio.sleep(0.1)
        assert len(plugged.opened) == 1


async def test_underflows_lengthen_a_sound_servers_buffer_once_nothing_is_heard(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    plugged = cards(SERVED)
    changes: list[DeviceChange] = []
    speaker = DeviceSpeaker("", changes.append, lambda: plugged)
    async with speaking(speaker):
        speaker.start(10_000)
        speaker.write(pcm(30_000))
        stream = await opened(plugged)
        stream.underflows = 2
        for _ in range(20):
            stream.take(1_000)
            await asyncio.sleep(0.1)
        assert len(plugged.opened) == 1, "a person listens"
        loop = asyncio.get_running_loop()
        plugged.opening = lambda: loop.call_soon_threadsafe(speaker.write, pcm(100, 9))
        stream.take(10_000)
        steady = await opened(plugged, 2)
        assert steady.latency > stream.latency
        plugged.opening = None
        assert pcm(100, 9) in steady.take(1_000), "what came meanwhile is heard"
        await asyncio.sleep(1)
        assert speaker.played() == 30_100
        steady.underflows = 2
        for _ in range(20):
            steady.take(1_000)
            await asyncio.sleep(0.1)
        assert len(plugged.opened) == 2, "a longer one is not the remedy for a hiccup"
    assert changes == []
    assert "pulse runs dry; buffer set to 44 ms" in caplog.text
