"""Recognises Sayso's own voice: words that a microphone brings back just as they were said."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

ALIKE = 0.75
"""A word of the echo is at least so like the one that was said: rooms and small models blur."""
SHARE = 0.7
"""Of what was heard, so much must have been said in the same order. A person who takes up words of
an answer ("what about the beach?") puts others around them."""
LONGEST = 120
"""Words of the latest speech that are compared: more than a microphone hears of it at a time."""

SHORT = 2
"""Words of which all must match: few tell little."""
LEAST = 4
"""Letters of a word that is compared by likeness; shorter ones are the same or others."""

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


def is_own_voice(heard: str, spoken: Iterable[str]) -> bool:
    """Whether `heard` is a piece of what was just `spoken`."""
    words = _words(heard)[:LONGEST]
    said = _words(" ".join(spoken))[-LONGEST:]
    if not words or not said:
        return False
    needed = len(words) if len(words) <= SHORT else SHARE * len(words)
    return _in_order(words, said) >= needed


def is_short(heard: str) -> bool:
    """Whether it may as well be a choice among words of a question."""
    return len(_words(heard)) <= SHORT


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'"))


def _in_order(heard: list[str], said: list[str]) -> int:
    """How many of the heard words stand among the said ones in the same order, close together."""
    step, reach = max(1, len(heard) // 2), 2 * len(heard)
    windows = (said[first : first + reach] for first in range(0, len(said), step))
    return max(_longest(heard, window) for window in windows)


def _longest(heard: list[str], said: list[str]) -> int:
    """The longest common subsequence."""
    row = [0] * (len(said) + 1)
    for word in heard:
        before = 0
        for at, other in enumerate(said, 1):
            kept = row[at]
            row[at] = before + 1 if _alike(word, other) else max(row[at], row[at - 1])
            before = kept
    return row[-1]


def _alike(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < LEAST:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= ALIKE
