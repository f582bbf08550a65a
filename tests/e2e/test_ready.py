"""A server that says that it is ready answers its first question as fast as its second."""

from pathlib import Path

import pytest

from tests.rig import Client, Server
from tests.scripted_model import ScriptedModel, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TIMES = 10
"""A library that is loaded only then takes a hundred times as long as a word of a model."""


def first_word_ms(client: Client) -> float:
    return float(client.first("metrics")["marks"]["first_token"])


def test_the_first_question_waits_for_nothing_that_is_loaded_once(home: Path) -> None:
    with ScriptedModel([says("Paris.")]) as model, Server(home, model) as server:
        first, *later = [first_word_ms(server.ask("What is its capital?")) for _ in range(4)]
    assert first < TIMES * max(later)
