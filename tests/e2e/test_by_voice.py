"""The whole path with real parts: a spoken question, code on your say-so, a spoken answer."""

from pathlib import Path

import pytest

from tests.e2e.speech import Voice, words_of
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def test_a_spoken_question_is_computed_and_the_answer_is_heard(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Please print twenty five times forty.", question)
    model.add(
        runs("print(25 * 40)", "Let me work that out. "),
        says("The answer is ", "1000. It is one thousand, ", "neither more nor less."),
    )

    client = server.talk(question, answer, "--approve", "yes")

    assert client.code == 0, client.stderr
    asked = words_of(client.first("stt.final")["text"])
    assert {"twenty", "five", "times", "forty"} <= set(asked)
    assert "1000" in client.output
    assert client.first("code.end")["status"] == "ok"
    assert "1000" in model.requests[1].last
    assert "one thousand" in " ".join(voice.words(answer))


def test_what_is_shown_and_what_is_spoken_come_while_the_answer_is_still_written(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Tell me something about the sea.", question)
    sentences = ["The sea is deep. ", "It is blue. ", "It is cold. ", "It is very wide."]
    model.add(Reply(sentences, between_s=0.6))

    client = server.talk(question, answer)

    deltas = client.all("reply.delta")
    assert client.first("audio.first_received")["at"] < deltas[-1]["at"]
    assert client.first("metrics")["marks"]["final"] >= 0


def test_the_answer_can_be_refused(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    voice.speak("Delete all my files.", question)
    model.add(runs("import shutil"), says("Then your files will stay where they are."))

    client = server.talk(question, answer, "--approve", "no")

    assert client.first("approval.done")["decision"] == "no"
    assert not client.all("code.start")
    assert "said no" in model.requests[1].last
    assert voice.understands(answer, "Then your files will stay where they are.")


def test_silence_is_not_a_question(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = tmp_path / "silence.wav"
    voice.keep_quiet(2.0, question)

    client = server.talk(question)

    assert client.first("stt.final").get("text", "") == ""
    assert not model.requests
