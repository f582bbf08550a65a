"""An hour at a microphone whose clock errs against the loudspeaker's and the machine's."""

import asyncio
from contextlib import aclosing

import pytest

from sayso.audio.devices.device_microphone import DeviceMicrophone
from sayso.audio.pcm import FRAME_BYTES, FRAME_MS
from sayso.audio.playback_reference import TRIM_ABOVE_FRAMES, PlaybackReference
from tests.audio.cards_double import Cards, device

HOUR_S = 3_600
FRAME_S = FRAME_MS / 1000


@pytest.mark.thorough
@pytest.mark.virtual_time(limit_s=2 * HOUR_S)
@pytest.mark.parametrize(("ppm", "rate"), [(-200.0, 16_000), (200.0, 48_000)])
async def test_nothing_of_an_hour_is_lost_or_late_whichever_way_the_clock_errs(
    ppm: float, rate: int
) -> None:
    clock = asyncio.get_running_loop().time
    cards = Cards(clock, [device("Desk", "input", rate)])
    far, said, heard = PlaybackReference(), 0, 0
    latest_s = 0.0
    block = b"\1\0" * (rate * FRAME_MS // 1000)

    async def speak() -> None:
        """The microphone's card gives 20 ms of its own time at a time."""
        nonlocal said
        began = clock()
        while clock() - began < HOUR_S:
            cards.opened[0].say(block)
            said += 1
            await asyncio.sleep(began + said * FRAME_S / (1 + ppm / 1e6) - clock())
        cards.opened[0].pull_out()

    async def play() -> None:
        """The loudspeaker's card takes 20 ms of everybody's time at a time."""
        began, taken = clock(), 0
        while True:
            far.played(b"\1\0" * (FRAME_BYTES // 2), 16_000)
            taken += 1
            await asyncio.sleep(began + taken * FRAME_S - clock())

    async with aclosing(DeviceMicrophone(cards=lambda: cards).frames()) as frames:
        first = asyncio.ensure_future(anext(frames))
        for _ in range(100):
            if not cards.opened:
                await asyncio.sleep(FRAME_S)
        began = clock()
        tasks = [asyncio.create_task(speak()), asyncio.create_task(play())]
        frame: object = await first
        while isinstance(frame, bytes):
            heard += 1
            latest_s = max(latest_s, clock() - began - heard * FRAME_S / (1 + ppm / 1e6))
            far.frame()
            frame = await anext(frames)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert said == pytest.approx(HOUR_S / FRAME_S * (1 + ppm / 1e6), abs=2)
    assert said - heard <= 2, "the converter holds a little back"
    assert latest_s < 0.1
    # Trimmed every five seconds, in which the clocks part by a millisecond.
    waiting = sum(1 for frame in iter(far.frame, None) if any(frame))
    assert waiting <= TRIM_ABOVE_FRAMES + 1
