"""A stream of prose is cut where a speaker would breathe, and nowhere else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.server.speech.synthesis.clauses import FIRST_LONGEST, LONGEST, ClauseSplitter


def chunks(text: str, *, size: int | None = None) -> list[str]:
    splitter = ClauseSplitter()
    found: list[str] = []
    for at in range(0, len(text), size or max(1, len(text))):
        found += splitter.feed(text[at : at + (size or len(text))])
    return found + splitter.finish()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello there. How are you?", ["Hello there.", "How are you?"]),
        ("Yes. It is.", ["Yes.", "It is."]),
        ("Well, if you ask me, it rains.", ["Well, if you ask me, it rains."]),
        ("No, it is not.", ["No, it is not."]),
        ("Wait! What? Really?! Yes.", ["Wait!", "What?", "Really?!", "Yes."]),
        (
            "I saw Mr. Smith and Dr. Who today. Nice.",
            ["I saw Mr. Smith and Dr. Who today.", "Nice."],
        ),
        ("It costs 3.14 or 1,000 coins. Fine.", ["It costs 3.14 or 1,000 coins.", "Fine."]),
        ("J. R. R. Tolkien wrote it. Good.", ["J. R. R. Tolkien wrote it.", "Good."]),
        ("See www.example.com/a.b?c=d. Then go.", ["See www.example.com/a.b?c=d.", "Then go."]),
        ("Hm... maybe. Hm... Yes.", ["Hm... maybe.", "Hm...", "Yes."]),
        ("Hm\u2026 maybe. Right.", ["Hm\u2026 maybe.", "Right."]),
        ("Use version 3.2. Or 3.3.", ["Use version 3.2.", "Or 3.3."]),
        ("Be there at 5 p.m. today. Yes.", ["Be there at 5 p.m. today.", "Yes."]),
        ("Be there at 5 p.m. Then eat.", ["Be there at 5 p.m.", "Then eat."]),
        ("It starts at 12:30. Hurry.", ["It starts at 12:30.", "Hurry."]),
        ("Fruit, e.g. apples, i.e. food, etc. are good. Eat.", None),
        ("The U.S. is big. So is the U.K. I know.", None),
        ("1. Open the door. 2. Close it.", ["1. Open the door.", "2. Close it."]),
        ('"Go." she said. "Now!" He went.', None),
        ("No. 5 is alive. Yes.", ["No. 5 is alive.", "Yes."]),
        ("one\n\ntwo three\nfour", ["one", "two three", "four"]),
        ("\u4ed6\u8bf4\u4f60\u597d\u3002\u7136\u540e\u8d70\u4e86\u3002", None),
        ("", []),
        ("   \n \n", []),
        ("no end at all", ["no end at all"]),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str] | None) -> None:
    if expected is None:
        expected = {
            "F": ["Fruit, e.g. apples, i.e. food, etc. are good.", "Eat."],
            "T": ["The U.S. is big.", "So is the U.K.", "I know."],
            '"': ['"Go."', "she said.", '"Now!"', "He went."],
            "\u4ed6": ["\u4ed6\u8bf4\u4f60\u597d\u3002", "\u7136\u540e\u8d70\u4e86\u3002"],
        }[text[0]]
    assert chunks(text) == expected


def test_the_first_chunk_is_ready_before_its_sentence_is() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("If you look out of the window, ") == ["If you look out of the window,"]


def test_a_sentence_is_ready_as_soon_as_the_space_after_it_came() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("It rains.") == []
    assert splitter.feed(" ") == ["It rains."]


def test_a_sentence_that_is_all_there_is_spoken_in_one() -> None:
    assert chunks("If it rains, take a coat, and a hat. ") == [
        "If it rains, take a coat, and a hat."
    ]


def test_a_first_sentence_that_would_begin_late_ends_at_its_last_early_clause() -> None:
    text = "It is late, " * 11 + "and it is time to go. "
    first, *_ = chunks(text)
    assert first == ("It is late, " * 8).strip()
    assert len(first) <= FIRST_LONGEST


def test_later_sentences_are_cut_at_no_clause_while_the_voice_has_something_to_say() -> None:
    splitter = ClauseSplitter()
    assert splitter.feed("Good. If you look out of the window, and then ") == ["Good."]
    assert splitter.hurry() == ["If you look out of the window,"]


def test_a_sentence_without_end_is_cut_where_it_grows_too_long() -> None:
    found = chunks("This is first, " + "and one more, " * 30)
    assert len(found[0]) <= FIRST_LONGEST < len(found[1])
    assert all(len(chunk) <= LONGEST + 1 for chunk in found)


def test_an_endless_sentence_is_cut_at_a_word() -> None:
    found = chunks("word " * 200)
    assert len(found) > 4
    assert all(set(chunk.split()) == {"word"} for chunk in found)


def test_wide_space_after_an_abbreviation_holds_nothing_back() -> None:
    found = chunks("Nuts etc." + " " * 400 + "word " * 200)
    assert found[0] == "Nuts etc."
    assert all(len(chunk) <= LONGEST + 1 for chunk in found)


@pytest.mark.parametrize("piece", ["ok. ", "! ", "a. ", "x.y."])
def test_a_long_answer_that_comes_at_once_keeps_nobody_waiting(piece: str) -> None:
    text = piece * (60_000 // len(piece))
    began = time.process_time()
    chunks(text)
    assert time.process_time() - began < 1.5


def test_when_the_voice_runs_dry_an_unfinished_sentence_gives_its_clauses() -> None:
    splitter = ClauseSplitter()
    splitter.feed("Good. One two three four. And so on. ")
    splitter.feed("A long sentence begins, and goes on")
    assert splitter.hurry() == ["A long sentence begins,"]
    assert splitter.hurry() == []
    assert splitter.finish() == ["and goes on"]


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("It rains.", "It rains."),
        ('He said: "Go."', 'He said: "Go."'),
        ("It costs 3.", "It costs 3."),
        ("If you ask me,", "If you ask me,"),
        ("Well,", ""),
        ("It rains", ""),
        ("Mr. Smith", ""),
        ("", ""),
    ],
)
def test_it_tells_what_comes_next_if_the_sentence_is_over(text: str, likely: str) -> None:
    splitter = ClauseSplitter()
    assert splitter.feed(text) == []
    assert splitter.likely == likely
    if likely:
        assert splitter.feed(" And so on") == [likely]


PROSE = some.text(
    alphabet=some.sampled_from("abc DE.,;:!?\u2026\n\"')( 0123456789-\u2014\u3002\uff0c\u4f60/"),
    max_size=300,
)


@given(PROSE, some.integers(1, 7))
def test_once_it_speaks_how_it_is_fed_makes_no_difference(text: str, size: int) -> None:
    text = f"Yes. {text}"
    assert chunks(text, size=size) == chunks(text)


@given(PROSE)
def test_nothing_is_lost_doubled_or_moved(text: str) -> None:
    assert "".join("".join(chunks(text, size=1)).split()) == "".join(text.split())
