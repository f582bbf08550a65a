"""Without a key: a wake word, a question, a "stop" over the answer, all through a real sound card
whose microphone hears its loudspeaker."""

import asyncio
from pathlib import Path

import pytest

from tests.client.programs import window
from tests.e2e.speech import Voice
from tests.pulse import SoundCard
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.thorough, pytest.mark.sound, pytest.mark.timeout(180)]

LONG_ANSWER = (
    "The tide comes in at seven in the evening. It goes out again at one in the night, and comes "
    "back at half past seven in the morning, so there is time enough for a long walk on the beach, "
    "to look for shells, and to sit in the sun until the water has come back."
)


async def test_the_wake_word_a_question_and_a_stop_over_the_answer(
    server: Server, model: ScriptedModel, voice: Voice, sound_card: SoundCard, tmp_path: Path
) -> None:
    question, stop, answer = (tmp_path / f"{name}.wav" for name in ("question", "stop", "answer"))
    await asyncio.to_thread(
        voice.speak, "Hey Jarvis, when does the tide come in today?", question, 0.2
    )
    await asyncio.to_thread(voice.speak, "Stop it.", stop, 0.2)
    model.add(says(LONG_ANSWER))
    environment = server.variables | sound_card.environment
    sound_card.hear_the_loudspeaker(60)

    async with window(
        "talk", "--hands-free", "--server", server.url, environment=environment
    ) as terminal:
        await terminal.sees("waiting for the wake word")
        with sound_card.recording(answer):
            await asyncio.to_thread(sound_card.speak_into_microphone, question)
            await terminal.sees("speaking")
            # It hears itself for a while, and does not take that for a person.
            await terminal.sees("comes in at seven")
            await asyncio.sleep(3)
            assert len(model.requests) == 1
            await asyncio.to_thread(sound_card.speak_into_microphone, stop)
            terminal.type("")
            await terminal.sees("go on, or be silent", "waiting for the wake word", "ready")
        assert await asyncio.to_thread(sound_card.listened_to) == 1
        terminal.type("\x14")
        await terminal.sees("muted")
        async with asyncio.timeout(20):
            while True:
                if await asyncio.to_thread(sound_card.listened_to) == 0:
                    break
                await asyncio.sleep(0.2)
        terminal.type("/quit\r")
        assert await terminal.ends() == 0

    assert len(model.requests) == 1, "it took its own voice, or the stop, for a question"
    assert "come in today" in model.requests[0].last
    heard = " ".join(await asyncio.to_thread(voice.words, answer))
    assert "seven" in heard
    assert "water has come back" not in heard


def test_a_recording_is_listened_to_without_a_key(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Hey Jarvis, when does the tide come in today?", question)
    model.add(says("The tide comes in at seven in the evening."))
    client = server.talk(question, answer, "--hands-free", "--wake", "hey jarvis")
    assert client.code == 0, client.stderr
    assert client.first("listen.start")["mode"] == "hands_free"
    assert client.first("listen.start")["pre_roll"] <= 16_000
    assert client.first("listen.end")["reason"] == "ended"
    assert "come in today" in client.first("stt.final")["text"]
    states = [event["state"] for event in client.all("hands_free")]
    assert states[:2] == ["waiting", "listening"]
    assert voice.understands(answer, "The tide comes in at seven in the evening.")


def test_a_recording_without_the_wake_word_stays_here(
    server: Server, voice: Voice, tmp_path: Path
) -> None:
    question = tmp_path / "question.wav"
    voice.speak("When does the tide come in today?", question)
    client = server.talk(question, None, "--hands-free")
    assert client.code == 1
    assert "The wake word was not heard" in client.stderr
    assert not client.all("listen.start")
