"""Every word of a chunk has its time, however the voice groups its phonemes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as some

from sayso.protocol.messages import Word
from sayso.server.speech.synthesis.word_times import Group, place


def group(phonemes: str, length: int = 100) -> Group:
    return Group(tuple(phonemes), (length,) * len(phonemes))


def test_one_group_for_each_word() -> None:
    words = place(["open", "the", "door"], [tuple("open"), tuple("th"), tuple("dor")],
                  [group("open"), group("th"), group("dor")])  # fmt: skip
    assert words == (Word("open", 0, 400), Word("the", 400, 600), Word("door", 600, 900))


def test_words_that_are_run_together_share_the_time_of_their_group() -> None:
    words = place(
        ["from", "the", "sea"],
        [tuple("from"), tuple("th"), tuple("si")],
        [group("fromth"), group("si")],
    )
    assert words == (Word("from", 0, 400), Word("the", 400, 600), Word("sea", 600, 800))


def test_a_word_that_is_said_as_several_has_the_time_of_all() -> None:
    words = place(
        ["at", "25", "o'clock"],
        [tuple("at"), tuple("twentifaiv"), tuple("oklok")],
        [group("at"), group("twenti"), group("faiv"), group("oklok")],
    )
    assert [(word.text, word.end - word.start) for word in words] == [
        ("at", 200),
        ("25", 1000),
        ("o'clock", 500),
    ]


def test_a_voice_without_groups_tells_nothing() -> None:
    assert place(["one"], [tuple("wan")], []) == ()


PHONEMES = some.text("abcde", min_size=1, max_size=5)


@given(
    some.lists(PHONEMES, min_size=1, max_size=9),
    some.lists(some.tuples(PHONEMES, some.integers(0, 900)), min_size=1, max_size=9),
)
def test_the_words_fill_the_sound_exactly(alone: list[str], spoken: list[tuple[str, int]]) -> None:
    groups = [group(phonemes, length) for phonemes, length in spoken]
    words = place(
        [f"w{number}" for number in range(len(alone))], [tuple(word) for word in alone], groups
    )
    assert [word.text for word in words] == [f"w{number}" for number in range(len(alone))]
    assert words[0].start == 0
    assert words[-1].end == sum(one.samples for one in groups)
    assert all(one.end == other.start for one, other in pairwise(words))
    assert all(word.start <= word.end for word in words)
