"""Cuts the sound of a chunk that still comes into pieces that can be played, each with its words.

    sound   ▁▂▅▇▅▂▇▅▁▂▅▇│▅▂▇▅▁▂▅▇▅▂▇▅▁▂▅▇│▅▂▇▅▁
    words   The sea is   deep and very    cold today.

Where a word lies is not known before the sound is complete, so words are laid along it as a slow
voice would say them; the last piece has all that are left, and at least one. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sayso.audio.convert import Soxr
from sayso.protocol.messages import Word
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.synthesis.word_times import shared_out
from sayso.server.speech.text.speakable import Spoken

FIRST_PIECE_S: Final = 0.3
"""Played as soon as there is so much, …"""

PIECE_S: Final = 0.8
"""… and then piece by piece of at least so much: each costs a message."""

KEPT_BACK_S: Final = 0.15
"""Of what has come, so that the last piece has a sound for its words."""

SLOW_LETTERS_PER_S: Final = 12.0
"""Of a slow voice at its natural speed. Words that were laid too late are only shown a little late;
too early, they would count as heard before they are."""


LEAST_LETTERS: Final = 10
"""Of a piece: what is shorter could not be told from a piece of something else."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What can be played next."""

    text: str
    """As written."""
    sound: Sound


class PieceCutter:
    """Of one chunk of speech. `rate` is that of its pieces, `made` of what is fed."""

    def __init__(self, pieces: Sequence[Spoken], made: int, rate: int, speed: float = 1.0) -> None:
        self._left = list(pieces)
        self._rate = rate
        self._resampler = Soxr(made, rate) if made != rate else None
        self._letters_per_sample = SLOW_LETTERS_PER_S * speed / rate
        self._waiting = b""
        self._samples = 0
        """Given out so far."""
        self._letters = 0
        """Given out so far, of the words as they are spoken."""

    def feed(self, pcm: bytes) -> Piece | None:
        """The next piece, if there is one now."""
        self._waiting += self._resampler.feed(pcm) if self._resampler else pcm
        wanted = PIECE_S if self._samples else FIRST_PIECE_S
        ready = len(self._waiting) // 2 - int(KEPT_BACK_S * self._rate)
        if ready < wanted * self._rate:
            return None
        words = self._words_until(self._samples + ready)
        if not words:
            return None
        return self._cut(words, ready)

    def finish(self) -> Piece | None:
        """What is left, when all has come."""
        if self._resampler:
            self._waiting += self._resampler.finish()
        words, self._left = self._left, []
        return self._cut(words, len(self._waiting) // 2) if words or self._waiting else None

    def _words_until(self, sample: int) -> list[Spoken]:
        """The words that were surely said by then; none if they, or those after, are too few."""
        letters, count = 0, 0
        left = sum(map(_letters, self._left))
        for word in self._left:
            after = letters + _letters(word)
            surely = self._letters + after <= sample * self._letters_per_sample
            if not surely or left - after < LEAST_LETTERS:
                break
            letters, count = after, count + 1
        if letters < LEAST_LETTERS:
            return []
        words, self._left = self._left[:count], self._left[count:]
        self._letters += letters
        return words

    def _cut(self, words: list[Spoken], samples: int) -> Piece:
        pcm, self._waiting = self._waiting[: 2 * samples], self._waiting[2 * samples :]
        self._samples += samples
        return Piece(
            " ".join(word.written for word in words),
            Sound(pcm, self._rate, _times(words, samples)),
        )


def _letters(word: Spoken) -> int:
    return len(word.spoken) + 1 if word.spoken else 0


def _times(words: Sequence[Spoken], samples: int) -> tuple[Word, ...]:
    """Of the written words; what is not spoken goes with the word before it."""
    joined: list[list[str]] = []
    for word in words:
        if word.spoken or not joined:
            joined.append([word.written, word.spoken])
        else:
            joined[-1][0] += f" {word.written}"
    timed = shared_out([spoken for _, spoken in joined], samples)
    return tuple(
        Word(written, time.start, time.end)
        for (written, _), time in zip(joined, timed, strict=True)
    )
