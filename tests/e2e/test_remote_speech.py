"""A spoken turn whose hearing and speaking are both done by another server."""

import wave
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig import Server
from tests.scripted_model import ScriptedModel, says
from tests.speech_server import SpeechServer, said, tone

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

KEY = "a-speech-key-for-tests"
QUESTION = "How deep is the sea at its deepest place?"
ANSWER = "About eleven kilometers and that is more than the highest mountain is high."


@pytest.fixture
def speech() -> Iterator[SpeechServer]:
    with SpeechServer(hears=[QUESTION], says=[said(*[tone(0.25)] * 12)], key=KEY) as running:
        yield running


@pytest.fixture
def server(home: Path, model: ScriptedModel, speech: SpeechServer) -> Iterator[Server]:
    flags = [
        f"--set={kind}.{name}={value}"
        for kind in ("ears", "voice")
        for name, value in {
            "engine": "remote",
            "api_base": speech.url,
            "api_key_variable": "SPEECH_KEY",
        }.items()
    ]
    with Server(home, model, flags, {"SPEECH_KEY": KEY}) as running:
        yield running


def test_a_question_is_understood_and_answered_by_speech_from_elsewhere(
    server: Server, model: ScriptedModel, speech: SpeechServer, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    with wave.open(str(question), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(tone(2.0, 16_000))
    model.add(says(ANSWER))

    client = server.talk(question, answer)

    assert client.code == 0, client.stderr
    assert client.first("stt.final")["text"] == QUESTION
    assert QUESTION in model.requests[0].last
    assert client.reply == ANSWER
    with wave.open(str(answer)) as file:
        assert file.getnframes() / file.getframerate() >= 3.0
    asked = [one.fields["input"] for one in speech.requests if one.path.endswith("/speech")]
    pieces = [
        one for one in asked if one in ANSWER
    ]  # the fillers of a slow machine lie between them
    assert " ".join(pieces) == ANSWER
    health = server.health()
    assert not {"ears", "voice"} & set(health["degraded"])
    assert f"127.0.0.1:{speech.port}" in health["models"]["ears"]
    assert KEY not in server.said + str(health) + server.get("/metrics")


def test_where_the_other_server_is_gone_a_turn_says_so_and_text_still_works(
    server: Server, model: ScriptedModel, speech: SpeechServer, tmp_path: Path
) -> None:
    speech.key = "another-key-for-tests"
    question = tmp_path / "question.wav"
    with wave.open(str(question), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(tone(2.0, 16_000))
    model.add(says(ANSWER))

    told = server.talk(question).first("error")
    typed = server.ask("How deep is the sea?")

    assert "put a valid one into SPEECH_KEY" in told["message"]
    assert typed.reply == ANSWER
    assert "ears" in server.health()["degraded"]
