"""Takes off the silence that piper puts before some words, as sound comes. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from sayso.protocol.messages import Word
from sayso.server.speech.synthesis.synthesizer import Sound

AUDIBLE: Final = 150
"""Of 32767: a sample above it (-47 dB) belongs to speech."""

LEAD_S: Final = 0.04
"""Kept before the first audible sample, for soft beginnings."""


def without_lead(
    sounds: Iterable[bytes], rate: int, words: tuple[Word, ...], left_out: int = 0
) -> Iterator[Sound]:
    """The sound without up to 0.4 s that one would wait; the first piece has all words, whose times
    are those of what is left. `left_out`: samples before the first piece that were not made."""
    waiting = bytearray()
    begun = False
    for pcm in sounds:
        if begun:
            yield Sound(pcm, rate)
            continue
        waiting += pcm
        heard = np.flatnonzero(np.abs(np.frombuffer(waiting, "<i2").astype(np.int32)) > AUDIBLE)
        if heard.size:
            begun = True
            cut = max(0, int(heard[0] - LEAD_S * rate))
            yield Sound(bytes(waiting[2 * cut :]), rate, _earlier(words, cut + left_out))
    if not begun:
        yield Sound(bytes(waiting), rate, _earlier(words, left_out))


def _earlier(words: tuple[Word, ...], samples: int) -> tuple[Word, ...]:
    return tuple(
        Word(word.text, max(0, word.start - samples), max(0, word.end - samples)) for word in words
    )
