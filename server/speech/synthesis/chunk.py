"""A piece of a reply in sound, and what is done to it: another rate, the words as written. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import soxr

from sayso.protocol.messages import Word
from sayso.server.speech.synthesis.synthesizer import Sound
from sayso.server.speech.text.speakable import Spoken


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the reply, ready to be played, or the beginning of one."""

    text: str
    """As written, without markup."""
    sound: Sound
    """Its words are those of `text`, each with its time."""
    begun_at: float = 0.0
    """When its words were complete, on the event loop's clock."""
    samples: int = 0
    """Of all of its sound, as far as that is known; 0 if it is all here."""
    more: bool = False
    """The rest of its sound follows, in `MoreSound`."""

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return max(self.samples, len(self.sound.pcm) // 2) / self.sound.rate


@dataclass(frozen=True, slots=True)
class MoreSound:
    """The sound of a chunk goes on."""

    pcm: bytes
    more: bool
    """And there is still more of it."""


def best_rate(made: int, taken: tuple[int, ...]) -> int:
    """The rate that loses least among those that a loudspeaker takes."""
    if not taken or made in taken:
        return made
    return min((rate for rate in taken if rate > made), default=max(taken))


def at_rate(sound: Sound, rate: int) -> Sound:
    """The whole sound at another rate: all of a reply is one stream, whichever voice speaks."""
    if sound.rate == rate:
        return sound
    samples = soxr.resample(np.frombuffer(sound.pcm, "<i2"), sound.rate, rate)
    words = scaled(sound.words, sound.rate, rate)
    if words:
        words = (*words[:-1], replace(words[-1], end=len(samples)))
    return Sound(samples.astype("<i2").tobytes(), rate, words)


def scaled(words: Sequence[Word], made: int, rate: int) -> tuple[Word, ...]:
    """The same times counted in samples of another rate."""
    return tuple(
        Word(word.text, samples_at(word.start, made, rate), samples_at(word.end, made, rate))
        for word in words
    )


def samples_at(samples: int, made: int, rate: int) -> int:
    """As many samples as these are at another rate."""
    return round(samples * rate / made)


def written_words(pieces: Sequence[Spoken], heard: Sequence[Word]) -> tuple[Word, ...]:
    """Times of the written words from those of the spoken: "25" lasts as long as "twenty-five"."""
    if len(heard) != sum(len(piece.spoken.split()) for piece in pieces):
        return ()
    words: list[Word] = []
    at = 0
    for piece in pieces:
        own = heard[at : at + len(piece.spoken.split())]
        at += len(own)
        if own:
            words.append(Word(piece.written, own[0].start, own[-1].end))
        elif words:
            last = words.pop()
            words.append(Word(f"{last.text} {piece.written}", last.start, last.end))
    return tuple(words)
