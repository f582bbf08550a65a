"""Two devices in a house: neither waits for the other. A real server and real speech."""

import asyncio
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.e2e.device import Device, device, recorded
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(240)]

STORY = " ".join(f"This is sentence number {one}." for one in ("one", "two", "three", "four")) * 4
SLEEPER = "import time\nfor _ in range(600):\n    time.sleep(0.1)"
AT_ONCE_S = 0.3
"""Longest from the last of a person's words to the first sound, on a machine with time."""
BUSY = 10
"""How many times longer a busy machine may take: what waits for another device takes minutes."""


async def _asks_the_day(study: Device, question: bytes) -> float:
    """Seconds from the end of the words to the answer's sound."""
    before, loop = len(study.messages), asyncio.get_running_loop()
    await study.listen(question)
    ended = loop.time()
    await study.until("speech.start", before)
    took = loop.time() - ended
    reply = "".join(one["text"] for one in study.messages[before:] if one["t"] == "reply.delta")
    assert "It's" in reply
    await study.until("turn.state", before, mouth="silent", work="idle", ears="idle")
    return took


async def test_a_second_device_is_answered_whatever_the_first_one_does(
    voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What day is it today?", tmp_path)
    home = Home(tmp_path, tmp_path, tmp_path)
    lend_kernels(tmp_path)
    devices = Devices(home.state / "devices.json")
    _, kitchens = devices.add("Kitchen", "", ("talk", "approve"))
    _, studys = devices.add("Study", "", ("talk", "approve"))
    replies = (says(STORY), runs(SLEEPER), says("Two and two is four."))
    with ScriptedModel([*replies]) as model, Server(tmp_path, model) as server:
        async with device(server, "k", kitchens) as kitchen, device(server, "s", studys) as study:
            alone = await _asks_the_day(study, question)

            await kitchen.say("text", text="Tell me a story.")
            await kitchen.hear(0.3)
            while_told = await _asks_the_day(study, question)
            assert not [one for one in kitchen.messages if one["t"] == "speech.stop"]
            await kitchen.say("interrupt")

            await kitchen.say("text", text="Please do the long work.")
            asked = await kitchen.until("approval.request")
            while_asked = await _asks_the_day(study, question)

            yes = {"id": asked["id"], "nonce": asked["nonce"], "decision": "yes"}
            await kitchen.say("approve", **yes)
            await kitchen.until("code.start")
            while_run = await _asks_the_day(study, question)
            before = len(study.messages)
            await study.say("text", text="What is two and two?")
            await study.until("reply.delta", before)
            assert not [one for one in kitchen.messages if one["t"] == "code.end"]
            before = len(kitchen.messages)
            await kitchen.say("interrupt")
            await kitchen.until("turn.state", before, work="idle")
            assert not [one for one in study.messages if one["t"] == "code.start"]
    times = (alone, while_told, while_asked, while_run)
    assert max(times) < AT_ONCE_S * BUSY, f"alone, while told, asked, run: {times}"


async def test_of_two_devices_that_hear_the_same_words_one_acts(
    voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What day is it today?", tmp_path)
    home = Home(tmp_path, tmp_path, tmp_path)
    devices = Devices(home.state / "devices.json")
    lend_kernels(tmp_path)
    _, near = devices.add("Kitchen", "", ("talk",))
    _, far = devices.add("Hall", "", ("talk",))
    with ScriptedModel([]) as model, Server(tmp_path, model) as server:
        async with device(server, "k", near) as kitchen, device(server, "h", far) as hall:
            faint = b"".join(
                (int.from_bytes(question[at : at + 2], "little", signed=True) // 8).to_bytes(
                    2, "little", signed=True
                )
                for at in range(0, len(question), 2)
            )
            await asyncio.gather(kitchen.listen(question), hall.listen(faint))
            await kitchen.until("speech.start")
            await hall.until("stt.final", text="")
            told = await hall.until("announce")
            assert "Another device" in told["text"]
            assert not [one for one in hall.messages if one["t"] == "speech.start"]
