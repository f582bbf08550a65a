"""Written text is spoken as a person would say it."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sayso.server.speech.text.speakable import spoken, spoken_pieces
from tests.speech.text.spoken_table import TABLE


@pytest.mark.parametrize(("written", "said"), TABLE)
def test_it_is_said_as_a_person_would(written: str, said: str) -> None:
    assert spoken(written) == said


def test_the_table_is_not_small() -> None:
    assert len({written for written, _ in TABLE}) >= 120


def test_every_written_word_keeps_its_place() -> None:
    pieces = spoken_pieces("It's 25 km to the caf\u00e9 \u2014 (3.5 stars)!")
    assert [piece.written for piece in pieces if piece.spoken] == [
        "It's",
        "25 km",
        "to",
        "the",
        "caf\u00e9",
        "(3.5",
        "stars)!",
    ]


def test_other_languages_keep_their_numbers_for_the_voice_to_say() -> None:
    assert spoken("Es sind 25 km \U0001f600 *wirklich*.", "de") == "Es sind 25 km wirklich."


ANYTHING = some.text(
    alphabet=some.sampled_from(
        "aB1 0.,:;/\\-+*=<>()[]{}#$%&@_~^|!?\"'\u20ac\u00b0\u00b2\u2192\U0001f600\n"
    ),
    max_size=80,
)


@given(ANYTHING)
def test_nothing_written_makes_it_stumble_or_read_signs(text: str) -> None:
    said = spoken(text)
    assert not set(said) & set('*#_|\\^`~{}[]<>()\U0001f600"')


@given(ANYTHING)
def test_the_pieces_together_are_the_text(text: str) -> None:
    pieces = spoken_pieces(text)
    assert "".join("".join(piece.written.split()) for piece in pieces) == "".join(text.split())
    for piece in pieces:
        assert piece.spoken == "" or any(character.isalnum() for character in piece.spoken)
