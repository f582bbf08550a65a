"""Work that lasts goes on to its end, whatever people say, and whichever line or client is lost.

A real server, a real terminal behind a bad line, another device beside it, and code that really
runs. It takes a minute; `SAYSO_TEST_JOB_SECONDS=300` lets the job last for five.
"""

import asyncio
import os
import signal
from itertools import cycle
from pathlib import Path

import pytest

from tests.client.programs import Window, window
from tests.e2e.device import Device, device, recorded
from tests.e2e.speech import Voice
from tests.fault_proxy import FaultProxy
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.runtimes.processes import below, until
from tests.scripted_model import ScriptedModel, runs, says

JOB_S = float(os.environ.get("SAYSO_TEST_JOB_SECONDS", "60"))

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(240 + JOB_S)]

TRAINS = f"""
import time
began, kept = time.monotonic(), []
while (passed := time.monotonic() - began) < {JOB_S}:
    kept.append(len(kept))
    print(f'{{min(99, round(100 * passed / {JOB_S}))}}%', flush=True)
    time.sleep(0.5)
print('kept everything:', kept == list(range(len(kept))))
"""
BUSY = "import subprocess, time\nleft = subprocess.Popen(['sleep', '47115'])\ntime.sleep(600)"

STATUS = ("What are you doing?", "How far is it?", "What's left?", "How much was that?")
OTHER = (
    "What time is it?",
    "What's the date?",
    "How much is 12 times 12?",
    "What day is it?",
)
ASIDES = 20
CUTS = 3
STEER = "Leave out picture p0047, please."

STATUS_S = 1.0
"""A question about the work is answered within this, without a model."""
FIRST_AUDIO_S = 0.25
"""So soon is a spoken aside answered, on a machine with time."""
STOP_S = 2.5
BUSY_MACHINE = 10
"""How many times longer a busy machine may take for sound: what waits for the job takes minutes."""


async def test_a_long_job_goes_through_asides_cuts_a_second_device_and_a_killed_client(
    voice: Voice, tmp_path: Path
) -> None:
    spoken = await asyncio.to_thread(recorded, voice, "What time is it?", tmp_path)
    lend_kernels(tmp_path)
    replies = (runs(TRAINS), says("It is trained."), runs(BUSY))
    async with FaultProxy(iter(())) as line:
        name = f"127.0.0.1:{line.port}"
        flags = ("--set=approvals.mode=workspace", f"--set=listen.names={name}")
        with ScriptedModel([*replies]) as model, Server(tmp_path, model, flags) as server:
            line.target = server.port
            async with device(server, "kitchen") as kitchen:
                await _through_a_long_job(server, model, line, kitchen, spoken)
                await _stops_at_once(kitchen)


async def _through_a_long_job(
    server: Server, model: ScriptedModel, line: FaultProxy, kitchen: Device, spoken: bytes
) -> None:
    home = {"SAYSO_HOME": str(server.home)}
    talk = ("talk", "--server", f"ws://127.0.0.1:{line.port}/ws")
    questions = zip(cycle(STATUS), cycle(OTHER), strict=False)
    waits: list[float] = []
    async with window(*talk, environment=home) as killed, window(*talk, environment=home) as desk:
        for each in (killed, desk):
            await each.sees("ready")
        killed.type("Please train the model.\r")
        await kitchen.until("code.start")
        began = asyncio.get_running_loop().time()
        for number, (status, other) in zip(range(ASIDES // 2), questions, strict=False):
            await _until(began + JOB_S * number / (ASIDES // 2 + 2))
            waits.append(await _asks(kitchen, status))
            if number % 2:
                await _types(desk, status)
            else:
                await _asks(kitchen, other)
            if number in (1, 4, 7):
                line.cut()
            if number == 3:
                killed.process.send_signal(signal.SIGKILL)
            if number == 5:
                await kitchen.say("text", text=STEER)
            if number == 6:
                waits_for_sound = await _says(kitchen, spoken)
        assert not [one for one in kitchen.messages if one["t"] == "code.end"]
        ended = await _ended(kitchen)
        await desk.sees("It is trained.")
    assert line.cuts >= CUTS
    assert (ended["status"], ended.get("job", "")) == ("ok", "")
    assert ended["seconds"] == pytest.approx(JOB_S, rel=0.2)
    output = "".join(one.get("text", "") for one in kitchen.messages if one["t"] == "code.out")
    assert "kept everything: True" in output
    assert max(waits) < STATUS_S
    assert waits_for_sound < FIRST_AUDIO_S * BUSY_MACHINE
    first, second = model.requests
    assert str(second.messages).count(STEER) == 1
    assert STEER not in str(first.messages)


async def _stops_at_once(kitchen: Device) -> None:
    before = len(kitchen.messages)
    await kitchen.say("text", text="Please train it again.")
    await kitchen.until("code.start", before)
    await until(lambda: bool(below("47115")))
    await kitchen.say("text", text="Stop.")
    await until(lambda: not below("47115"), STOP_S)
    told = await kitchen.until("announce", before)
    while "sleep 47115" not in told["text"]:
        told = await kitchen.until("announce", kitchen.messages.index(told) + 1)


async def _until(moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))


async def _asks(kitchen: Device, question: str) -> float:
    """Seconds until it is answered beside the work."""
    before, began = len(kitchen.messages), asyncio.get_running_loop().time()
    await kitchen.say("text", text=question)
    answer = await kitchen.until("announce", before, answers=True)
    assert answer["text"], question
    return asyncio.get_running_loop().time() - began


async def _types(desk: Window, question: str) -> None:
    """At the terminal, whose line may be cut just now: then it is answered after that."""
    desk.type(f"{question}\r")
    await desk.sees("percent", "step", "running", "tokens", "seconds", "minute")


async def _says(kitchen: Device, words: bytes) -> float:
    """Seconds from the end of the words to the first sound of the answer."""
    before = len(kitchen.messages)
    await kitchen.listen(words)
    began = asyncio.get_running_loop().time()
    await kitchen.until("speech.start", before)
    return asyncio.get_running_loop().time() - began


async def _ended(kitchen: Device) -> dict[str, object]:
    async with asyncio.timeout(JOB_S + 60), kitchen.came:
        await kitchen.came.wait_for(lambda: any(one["t"] == "code.end" for one in kitchen.messages))
    return next(one for one in kitchen.messages if one["t"] == "code.end")
