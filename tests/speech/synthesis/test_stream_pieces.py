"""Sound that still comes is cut into pieces, and each word is in one of them."""

import random

import pytest

from sayso.server.speech.synthesis.stream_pieces import LEAST_LETTERS, Piece, PieceCutter
from sayso.server.speech.text.speakable import spoken_pieces

RATE = 24_000

TEXTS = (
    "It took 25 km, i.e. 3.5 hours, from A to B — and back again, of course!",
    "May I run it now, or would you like to see all of it first, yes or no?",
    "Internationalisierungsausschussvorsitzender sagt er zu der Versammlung.",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
)


def cut(text: str, seconds: float, *, rate: int = RATE, seed: int = 1) -> list[Piece]:
    """All pieces of a sound of this length that comes in blocks of any size."""
    chance = random.Random(seed)
    cutter = PieceCutter(spoken_pieces(text), RATE, rate)
    pcm = bytes(2 * round(seconds * RATE))
    found = []
    while pcm:
        size = 2 * chance.randint(1, RATE)
        found.append(cutter.feed(pcm[:size]))
        pcm = pcm[size:]
    found.append(cutter.finish())
    return [piece for piece in found if piece]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seconds", [0.0, 0.2, 2.0, 5.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_all_words_and_all_sound_are_there_once_and_in_order(
    text: str, seconds: float, seed: int
) -> None:
    pieces = cut(text, seconds, seed=seed)
    assert " ".join(piece.text for piece in pieces) == " ".join(text.split())
    assert sum(len(piece.sound.pcm) for piece in pieces) == 2 * round(seconds * RATE)
    for piece in pieces:
        words = piece.sound.words
        assert " ".join(word.text for word in words) == piece.text
        assert [word.start for word in words] == [0, *(word.end for word in words)][:-1]
        assert words[-1].end == len(piece.sound.pcm) // 2


@pytest.mark.parametrize("seed", range(5))
def test_no_piece_is_so_short_that_it_could_be_one_of_something_else(seed: int) -> None:
    pieces = cut(TEXTS[1], 6.0, seed=seed)
    assert len(pieces) > 1
    assert all(len(piece.text) + 1 >= LEAST_LETTERS for piece in pieces)


def test_a_fast_voice_has_no_word_counted_as_heard_too_early() -> None:
    """Of 70 letters in three seconds, less than half is laid along the first half."""
    pieces = cut(TEXTS[1], 3.0)
    words = [word.text for piece in pieces[:-1] for word in piece.sound.words]
    heard = sum(len(piece.sound.pcm) for piece in pieces[:-1]) / (2 * 3.0 * RATE)
    assert len(" ".join(words)) <= heard * len(TEXTS[1])


def test_another_rate_loses_nothing() -> None:
    pieces = cut(TEXTS[0], 4.0, rate=16_000)
    assert {piece.sound.rate for piece in pieces} == {16_000}
    assert sum(len(piece.sound.pcm) for piece in pieces) == pytest.approx(128_000, abs=640)
