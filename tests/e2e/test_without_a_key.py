"""A person talks without a key, and breaks in: a real server, real speech, one socket."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.e2e.device import PRE_ROLL, device, recorded
from tests.e2e.speech import Voice
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says
from tests.speech import sounds

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(120)]

STORY = " ".join(f"This is sentence number {name}." for name in ("one", "two", "three", "four"))


async def test_the_end_of_the_words_is_found_and_silence_is_left_alone(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What is the capital of France?", tmp_path)
    model.add(says("It is Paris."))
    async with device(server) as here:
        end = await here.listen(question)
        heard = await here.until("stt.final")
        await here.until("speech.start")
        await here.hear(0.3)
        await here.until("turn.state", len(here.messages), mouth="silent", work="idle")
        quiet = await here.listen(bytes(32_000))

    assert quiet["reason"] == "timeout"
    assert len([message for message in here.messages if message["t"] == "stt.final"]) == 1
    assert end["reason"] == "ended"
    assert "france" in heard["text"].lower()
    spoken, until = len(question) // 2, end["samples"]
    # 400 to 900 ms after the last word; the recording itself ends a little after it.
    assert until - spoken < 16_000 * 1.5


async def test_a_sound_before_the_words_is_not_taken_for_the_end(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What is the capital of France?", tmp_path)
    model.add(says("It is Paris."))
    async with device(server) as here:
        end = await here.listen(bytes(PRE_ROLL) + sounds.voice(0.3) + bytes(32_000) + question)
        heard = await here.until("stt.final")
    assert end["reason"] == "ended"
    assert "france" in heard["text"].lower()


async def test_a_cough_lets_the_answer_go_on_and_a_stop_ends_it(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "Please tell me a story.", tmp_path)
    murmur = await asyncio.to_thread(recorded, voice, "Okay.", tmp_path)
    stop = await asyncio.to_thread(recorded, voice, "Stop!", tmp_path)
    model.add(says(STORY), says("You are welcome."))
    async with device(server) as here:
        await here.listen(question)
        await here.hear(0.3)
        turns = len(model.requests)

        before = len(here.messages)
        await here.listen(murmur)
        await here.until("turn.state", before, mouth="ducked")
        await here.until("turn.state", before, mouth="speaking", ears="idle")
        assert not [m for m in here.messages if m["t"] == "speech.stop"]

        await here.hear(3.0)
        before = len(here.messages)
        await here.listen(stop)
        await here.until("speech.stop", before, reason="interrupted")
        await here.until("turn.state", before, ears="idle", work="idle", mouth="silent")
        assert len(model.requests) == turns

        before = len(here.messages)
        await here.listen(question)
        await here.until("reply.delta", before)

    # What was heard of the story is what the model is told that it said.
    told = json.dumps(model.requests[-1].messages)
    assert "number one" in told
    assert "number four" not in told
