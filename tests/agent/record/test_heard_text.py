"""The text that was heard of an answer follows from the positions that synthesis reports."""

import pytest

from sayso.server.agent.record.heard_text import cut_to_heard

SAID = "The first planet is Mercury. The second is Venus, and the third is Earth."


@pytest.mark.parametrize(
    ("said", "heard", "kept"),
    [
        (SAID, "", ""),
        (SAID, "The first planet is Mercury.", "The first planet is Mercury."),
        (SAID, "The first planet is", "The first planet is"),
        (SAID, "the first  planet\nis mercury the second is venus",
         "The first planet is Mercury. The second is Venus,"),
        (SAID, SAID, SAID),
        ("It costs 25 dollars in all.", "It costs twenty five dollars", "It costs 25 dollars"),
        ("See:\n```python\nprint('the end')\n```\nThat is the end of it.", "See: That is",
         "See:\n```python\nprint('the end')\n```\nThat is"),
        ("Use `sum`, it's quick. And short.", "Use sum, it's quick.", "Use `sum`, it's quick."),
        ("Ja, das geht über Köln.", "Ja, das geht über", "Ja, das geht über"),
        ("Yes.", "something else entirely", ""),
    ],
)  # fmt: skip
def test_an_answer_is_cut_at_the_last_word_heard(said: str, heard: str, kept: str) -> None:
    assert cut_to_heard([said], heard) == [kept]


def test_a_cut_goes_through_the_steps_of_an_answer() -> None:
    steps = ["Let me see. ", "I have found two. ", "They are red and blue."]
    assert cut_to_heard(steps, "Let me see.\n\nI have found") == [
        "Let me see. ",
        "I have found",
        "",
    ]


def test_a_common_word_far_on_is_not_taken_for_the_last_one_heard() -> None:
    said = "One is here. " + "Another thing altogether. " * 20 + "And that is the end."
    assert len(cut_to_heard([said], "One is here the")[0]) < 60
