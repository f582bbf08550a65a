"""Spoken turns in a server whose recognition and synthesis are exact in time."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.turn import events
from tests.server.running_server import Device, Echo, RunningServer, running_server, until
from tests.speech.sounds import voice
from tests.speech_doubles import TONE_RATE, ScriptedRecognizer, ToneSynthesizer

pytestmark = pytest.mark.virtual_time

IDLE = m.TurnState("idle", "idle", "silent")


def what_was_said(seconds: float) -> str:
    """One second of sound is half a request, two are the rest of it."""
    return "tell me about" if seconds < 1.5 else "the sea"


def server_that_talks(folder: Path) -> AbstractAsyncContextManager[RunningServer]:
    return running_server(folder, ears=ScriptedRecognizer(what_was_said), voice=ToneSynthesizer())


async def device(server: RunningServer) -> Device:
    return await server.device(speaks=True)


def say(device: Device, stream: int, seconds: int) -> None:
    """Press, speak and release, all at once."""
    heard = device.seat.happened
    heard(events.ListenStarted(device.name, stream))
    heard(events.AudioHeard(device.name, stream, 0, voice(seconds)))
    heard(events.ListenStopped(device.name, stream, seconds * 16_000))


def reply(device: Device) -> str:
    return "".join(each.text for each in device.told if isinstance(each, m.ReplyDelta))


async def hear_out(device: Device) -> float:
    """Play the answer to its end; returns its length in seconds."""
    await until(lambda: device.sounds)
    played = 0
    while True:
        await asyncio.sleep(0.05)
        latest = device.sounds[-1]
        end = latest.first_sample + len(latest.pcm) // 2
        played = min(end, played + TONE_RATE // 20)
        done = latest.last and played == end
        device.seat.happened(events.Played(device.name, latest.stream, played, done))
        if done or device.told[-1] == IDLE:
            await until(lambda: device.told[-1] == IDLE)
            device.sounds.clear()
            return end / TONE_RATE


async def test_half_a_request_that_was_taken_back_is_not_told_to_the_model(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        say(desk, 1, seconds=1)
        await until(lambda: desk.all(m.SttFinal))
        say(desk, 2, seconds=2)
        await hear_out(desk)
        # This model says how much it was told before: nothing but what the server itself says.
        assert reply(desk).endswith("1: tell me about the sea")


async def test_it_is_not_told_after_a_restart_either(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        say(desk, 1, seconds=1)
        await until(lambda: desk.all(m.SttFinal))
        say(desk, 2, seconds=2)
        await hear_out(desk)
    async with server_that_talks(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("and now?") == "3: and now?"


async def test_a_device_is_spoken_to_as_fast_as_it_likes_and_that_is_remembered(
    tmp_path: Path,
) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        say(desk, 1, seconds=2)
        usual = await hear_out(desk)
        desk.seat.happened(events.Preferred(desk.name, speed=2.0))
        say(desk, 2, seconds=2)
        assert await hear_out(desk) == pytest.approx(usual / 2, rel=0.2)
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        say(desk, 3, seconds=2)
        assert await hear_out(desk) == pytest.approx(usual / 2, rel=0.2)
        desk.seat.happened(events.Preferred(desk.name, speed=0.0))
        say(desk, 4, seconds=2)
        assert await hear_out(desk) == pytest.approx(usual, rel=0.2)


async def test_one_devices_liking_is_not_anothers(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        artifacts = await server.device("shelf", speaks=True)
        say(desk, 1, seconds=2)
        usual = await hear_out(desk)
        artifacts.seat.happened(events.Preferred("shelf", speed=2.0))
        say(desk, 2, seconds=2)
        assert await hear_out(desk) == pytest.approx(usual, rel=0.2)


class Slow(Echo):
    """A model that thinks for three seconds."""

    takes_s = 3.0


@pytest.mark.parametrize(("language", "filler"), [("", 1), ("en-GB", 1), ("de", 0)])
async def test_a_long_silence_is_filled_if_there_is_a_voice_for_the_language(
    tmp_path: Path, language: str, filler: int
) -> None:
    ears, tones = ScriptedRecognizer(what_was_said), ToneSynthesizer()
    async with running_server(tmp_path, ears=ears, voice=tones, model=Slow()) as server:
        desk = await device(server)
        desk.seat.happened(events.Preferred(desk.name, language=language))
        say(desk, 1, seconds=2)
        await hear_out(desk)
        spoken = [each.text for each in desk.told if isinstance(each, m.SpeechStart)]
        assert spoken.count("One moment.") == filler


async def test_a_log_that_takes_nothing_any_more_is_said_and_is_no_fault_of_the_program(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await device(server)
        await server.log.close()
        desk.seat.happened(events.Typed(desk.name, "tell me about the sea"))
        assert await hear_out(desk) > 0
        (error,) = [each for each in desk.told if isinstance(each, m.Error)]
        assert error.code == "store_failed"
    assert not [record.getMessage() for record in caplog.records if record.exc_info]
