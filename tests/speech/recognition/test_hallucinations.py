"""Loops and inventions are not believed; what people say is."""

import pytest

from sayso.server.speech.recognition.hallucinations import (
    Pass,
    Verdict,
    collapse,
    is_urgent,
    judge,
    judge_last,
    loop_length,
    repeats,
    surer,
)


@pytest.mark.parametrize(
    ("text", "log_probability", "no_speech", "verdict"),
    [
        ("What is the weather like?", -0.3, 0.01, "believe"),
        ("No, no, no, no.", -0.3, 0.01, "believe"),
        ("Thank you.", -0.2, 0.02, "believe"),
        ("Thank you.", -0.8, 0.13, "believe"),
        ("Thank you.", -1.25, 0.1, "nothing"),
        ("Thanks for watching!", -0.3, 0.5, "nothing"),
        ("You", -0.5, 0.7, "nothing"),
        ("Quite sure, but nobody spoke", -0.1, 0.9, "nothing"),
        ("Something long and wrong", -1.4, 0.8, "nothing"),
        ("Something mumbled", -1.4, 0.1, "again"),
        ("Stop Stop Stop Stop Stop Stop Stop", -0.2, 0.01, "again"),
        ("go on and go on and go on and go on and go on and", -0.2, 0.01, "again"),
        ("I know who sent it. I know who sent it.", -0.2, 0.01, "again"),
        ("(wind blowing) [music]", -0.2, 0.01, "nothing"),
        ("\u266a la la \u266a", -0.2, 0.01, "nothing"),
        ("...", -0.2, 0.01, "nothing"),
        ("", -0.2, 0.01, "nothing"),
    ],
)
def test_a_pass_is_judged(
    text: str, log_probability: float, no_speech: float, verdict: Verdict
) -> None:
    assert judge(Pass(text, log_probability, no_speech)) == verdict


@pytest.mark.parametrize(
    ("text", "log_probability", "verdict"),
    [
        ("Something mumbled", -1.2, "believe"),
        ("Something mumbled", -1.4, "nothing"),
        ("Stop stop stop stop stop stop", -0.3, "believe"),
        ("I'm going to go back to the next one. " * 5, -0.3, "nothing"),
    ],
)
def test_the_second_pass_is_the_last_word(
    text: str, log_probability: float, verdict: Verdict
) -> None:
    assert judge_last(Pass(text, log_probability, 0.1)) == verdict


@pytest.mark.parametrize(
    ("text", "log_probability", "no_speech", "urgent"),
    [
        ("Stop.", -1.1, 0.1, True),
        ("Stop!", -0.3, 0.5, True),
        ("Never mind.", -0.9, 0.0, True),
        ("Stopp.", -0.9, 0.0, True),
        ("Stop.", -1.4, 0.1, False),
        ("Stop.", -0.9, 0.7, False),
        ("Stop the container.", -0.3, 0.0, False),
        ("Start.", -0.3, 0.0, False),
    ],
)
def test_a_short_word_that_ends_something_is_decided_from_the_first_pass(
    text: str, log_probability: float, no_speech: float, *, urgent: bool
) -> None:
    assert is_urgent(Pass(text, log_probability, no_speech)) == urgent


def test_a_text_that_was_cut_off_is_heard_again() -> None:
    assert judge(Pass("One two three", -0.1, 0.0, cut_short=True)) == "again"


@pytest.mark.parametrize(
    "text",
    [
        "I want to go to the shop and to the park and to the lake",
        "One, two, three, four, five, six, seven, eight, nine, ten.",
        "very very very good",
        "Row, row, row your boat, gently down the stream",
        "bye bye bye bye",
    ],
)
def test_speech_that_repeats_itself_a_little_is_no_loop(text: str) -> None:
    assert loop_length(text) == 0


def test_what_loops_to_the_end_is_said_once() -> None:
    assert (
        collapse("Please stop it. Stop it. Stop it. Stop it. Stop it. Now") == "Please stop it. Now"
    )
    assert collapse("Go " * 50) == "Go"
    assert collapse("nothing to do here") == "nothing to do here"


@pytest.mark.parametrize(
    ("short", "whole", "taken"),
    [
        (Pass("Town key.", -0.6, 0.0), Pass("Pound key.", -0.5, 0.0), "Pound key."),
        (Pass("Pound key.", -0.5, 0.0), Pass("Town key.", -0.6, 0.0), "Pound key."),
        (Pass("Pound key.", -0.5, 0.0), Pass("", -0.1, 0.0), "Pound key."),
        (Pass("Stop.", -0.5, 0.0), Pass("Stop stop stop stop stop stop.", -0.1, 0.0), "Stop."),
    ],
)
def test_of_two_texts_the_likelier_is_taken(short: Pass, whole: Pass, taken: str) -> None:
    assert surer(short, whole).text == taken


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("We talked about the old school. And then we talked about the old school.", "again"),
        ("Turn on the light. Turn on the light.", "again"),
        ("We talked about the old school. And then we talked about the river.", "believe"),
        ("Yes, yes, I know, I know.", "believe"),
    ],
)
def test_a_text_that_ends_with_what_it_said_before_is_heard_again(text: str, verdict: str) -> None:
    assert judge(Pass(text, -0.2, 0.0)) == verdict


def test_a_text_that_begins_with_the_last_word_before_it_is_seen() -> None:
    assert repeats("She asked me.", "Me, twice, about that.")
    assert repeats("And she asked me.", "She asked me twice, about that.")
    assert not repeats("She asked me.", "Twice, about that.")
    assert not repeats("", "")
    assert not repeats("She asked me.", "")
