"""On a fresh machine without keys or network the embedded model talks, computes and answers."""

from pathlib import Path

import pytest

from tests.e2e.speech import Voice
from tests.rig import Server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(180),
    pytest.mark.needs("libgomp.so.1", "libgomp1"),
]


def test_the_pocket_model_computes_by_running_code(home: Path) -> None:
    with Server(home, flags=("--set=language_model.look_for_local=false",)) as server:
        assert "pocket" in server.health()["models"]["language model"]
        client = server.ask("Sort the numbers 5, 3, 9 and 1.", "--approve", "yes")
        assert "sort" in client.first("code.start")["code"]
        assert "[1, 3, 5, 9]" in client.output
        assert "1, 3, 5, 9" in client.reply


def test_the_pocket_model_knows_a_capital_by_voice(home: Path, voice: Voice) -> None:
    question, answer = home / "question.wav", home / "answer.wav"
    voice.speak("What is the capital of France?", question)
    with Server(home, flags=("--set=language_model.look_for_local=false",)) as server:
        client = server.talk(question, answer)
        assert "Paris" in client.reply
        assert "paris" in voice.listen(answer).lower()


def test_what_needs_no_language_model_works_without_one(home: Path) -> None:
    with Server(home, flags=("--model", "none")) as server:
        assert server.ask("What time is it?").reply.startswith("It's")
        assert "two seconds" in server.ask("Set a timer for two seconds.").reply
        assert "language model" in server.ask("Who was Ada Lovelace?").first("error")["message"]
