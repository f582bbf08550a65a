"""What a person teaches by voice: told and shown, kept on a yes, and used tomorrow."""

import json
from pathlib import Path

import pytest

from tests.e2e.speech import Voice
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(480)]

BODY = "1. Number it by year: 2026-1, 2026-2.\n2. Add 19 percent tax.\n3. Put it into invoices.txt."
TAUGHT = {
    "name": "invoices",
    "description": "Write an invoice. Use it when the person wants to bill somebody.",
    "body": BODY,
}
TEACHES = Reply(calls=[{"name": "teach_skill", "arguments": json.dumps(TAUGHT)}])


def test_what_is_taught_aloud_is_kept_on_a_yes_and_used_tomorrow(
    home: Path, model: ScriptedModel, voice: Voice, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = home / "skills" / "invoices" / "SKILL.md"
    with Server(home, model) as today:

        def hears(text: str, *flags: str) -> tuple[str, str]:
            """What was understood, and what was answered."""
            question = home / "question.wav"
            voice.speak(text, question)
            client = today.talk(question, home / "answer.wav", *flags)
            assert client.code == 0, client.stderr
            return str(client.first("stt.final")["text"]), client.reply

        model.add(says("Gladly. What is the first step?"))
        _, reply = hears("Let me teach you how to do my invoices.")
        assert "first step" in reply
        model.add(runs("print(round(100 * 1.19, 2))", "Like this?"), says("119 it is. What else?"))
        said, reply = hears(
            "Number them by year, and add nineteen percent tax.", "--approve", "yes"
        )
        assert "What else?" in reply
        assert said.lower().startswith("number")
        model.add(TEACHES, says("Then I keep nothing."))
        hears("That is all. Please keep it.", "--approve", "no")
        assert not kept.exists()
        model.add(TEACHES, says("I know how to do your invoices."))
        hears("Yes, please keep it as a skill.", "--approve", "yes")
        assert BODY in kept.read_text()
        told = str(model.requests[-1].messages)
        assert "119" in told
        assert "nineteen" in told or "19" in told

    with Server(home, model) as tomorrow:
        model.requests.clear()
        reads = Reply(calls=[{"name": "skill", "arguments": '{"name": "invoices"}'}])
        model.add(reads, says("Invoice 2026-1 for Ann is written."))
        question = home / "question.wav"
        elsewhere = ("--folder", str(tmp_path_factory.mktemp("bills")))  # another conversation
        voice.speak("Please write an invoice for Ann.", question)
        client = tomorrow.talk(question, home / "answer.wav", *elsewhere)
        assert "2026-1" in client.reply
        first, second = model.requests
        assert f"- invoices: {TAUGHT['description']}" in str(first.messages[0]["content"])
        assert "What is the first step?" not in str(first.messages)
        assert "Add 19 percent tax." in second.last
        model.add(says("Done."))
        voice.speak("Use the invoices skill for Bob, please.", question)
        tomorrow.talk(question, home / "answer.wav", *elsewhere)
        assert "Add 19 percent tax." in model.requests[-1].last
