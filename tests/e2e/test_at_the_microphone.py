"""The talking client in a terminal, with a sound card: what a person does at their desk."""

import asyncio
from pathlib import Path

import pytest

from tests.client.programs import window
from tests.e2e.speech import Voice
from tests.pulse import SoundCard
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.slow, pytest.mark.sound, pytest.mark.timeout(120)]


async def test_a_question_spoken_into_the_microphone_is_answered_by_the_loudspeaker(
    server: Server, model: ScriptedModel, voice: Voice, sound_card: SoundCard, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    await asyncio.to_thread(voice.speak, "When does the tide come in today?", question)
    model.add(says("The tide comes in ", "at seven in the evening."))
    environment = server.variables | sound_card.environment

    async with window("talk", "--server", server.url, environment=environment) as terminal:
        await terminal.sees("ready")
        with sound_card.recording(answer):
            terminal.type(" ")
            await terminal.sees("space to send")
            await asyncio.to_thread(sound_card.speak_into_microphone, question)
            terminal.type(" ")
            await terminal.sees("speaking")
            terminal.type("")
            await terminal.sees("ready")
        terminal.type("/quit\r")
        assert await terminal.ends() == 0
        assert terminal.as_before

    assert "come in today" in model.requests[0].last
    assert await asyncio.to_thread(
        voice.understands, answer, "The tide comes in at seven in the evening."
    )
