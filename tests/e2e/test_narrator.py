"""What is said by itself during long work is understood: by real ears, from a real voice."""

import asyncio
import wave
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.device import Device, device, recorded
from tests.e2e.speech import Voice
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(300)]

STEPS = 2
STEP_S = 28
"""Longer than a step has to take to be told of, and than two words of ours are apart."""
APART_S = 20.0

CODE = """
import time
time.sleep({})
print('/srv/data/x_1.csv: {{"loss": 0.25}}', flush=True)
"""
LATE_S = 3.0
"""By so much a busy machine may be."""


async def test_long_steps_are_told_aloud_apart_from_each_other_and_without_code(
    voice: Voice, tmp_path: Path
) -> None:
    words = "Please count all the files."
    question = await asyncio.to_thread(recorded, voice, words, tmp_path)
    lend_kernels(tmp_path)
    steps = [runs(CODE.format(STEP_S + number)) for number in range(STEPS + 1)]
    flags = ("--set=approvals.mode=workspace",)
    with (
        ScriptedModel([*steps, says("It is done.")]) as model,
        Server(tmp_path, model, flags) as server,
    ):
        async with device(server) as here:
            await here.listen(question)
            told = [await _next_narration(here) for _ in range(STEPS)]
        for number, (_, pcm) in enumerate(told):
            path = tmp_path / f"told{number}.wav"
            _write(path, pcm, here.rate)
            heard = await asyncio.to_thread(voice.words, path)
            assert {"that", "step", "took", "seconds"} <= set(heard), heard
            assert not {"slash", "data", "csv", "loss", "zero"} & set(heard), heard
    assert told[1][0] - told[0][0] >= APART_S - LATE_S


async def _next_narration(here: Device) -> tuple[float, bytes]:
    """When it began, and its sound."""
    before = len(here.messages)
    async with asyncio.timeout(2 * STEP_S + APART_S), here.came:
        await here.came.wait_for(lambda: _told(here, before))
    at = asyncio.get_running_loop().time()
    await here.until("speech.stop", before, stream=_told(here, before)[0]["stream"])
    return at, bytes(here.pcm)


def _told(here: Device, after: int) -> list[dict[str, Any]]:
    starts = (each for each in here.messages[after:] if each["t"] == "speech.start")
    return [each for each in starts if "step took" in each.get("text", "")]


def _write(path: Path, pcm: bytes, rate: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)
