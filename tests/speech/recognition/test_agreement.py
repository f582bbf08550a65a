"""Partial transcripts: a stable part that only grows, and a tail that may change."""

from hypothesis import given
from hypothesis import strategies as some

from sayso.server.speech.recognition.agreement import Agreement, Partial


def test_two_passes_must_agree_before_a_word_is_stable() -> None:
    agreement = Agreement()
    assert agreement.hear("open the") == Partial("", "open the")
    assert agreement.hear("Open the window in") == Partial("Open the", "window in")
    assert agreement.hear("open the window in the kitchen") == Partial(
        "Open the window in", "the kitchen"
    )


def test_the_newest_word_is_never_stable() -> None:
    agreement = Agreement()
    agreement.hear("play some")
    assert agreement.hear("play some") == Partial("play", "some")


def test_a_pass_that_disagrees_leaves_the_stable_part_alone() -> None:
    agreement = Agreement()
    agreement.hear("set a timer for")
    assert agreement.hear("set a timer for ten").stable == "set a timer for"
    assert agreement.hear("said her time are four ten minutes").stable == "set a timer for"


def test_a_settled_part_stays_before_what_follows() -> None:
    agreement = Agreement()
    agreement.hear("one two three")
    assert agreement.settle("One, two, three.") == Partial("One, two, three.", "")
    assert agreement.hear("four") == Partial("One, two, three.", "four")


WORDS = some.lists(some.sampled_from(["a", "b", "c.", "D"]), max_size=6).map(" ".join)


@given(some.lists(WORDS, max_size=8))
def test_the_stable_part_only_grows(passes: list[str]) -> None:
    agreement = Agreement()
    before = ""
    for text in passes:
        stable = agreement.hear(text).stable
        assert [word.strip(".,").lower() for word in stable.split()][: len(before.split())] == [
            word.strip(".,").lower() for word in before.split()
        ]
        before = stable
