"""Counts wrong words, and finds texts that repeat themselves."""

import re
from collections.abc import Sequence

from num2words import num2words

from sayso.server.speech.recognition.hallucinations import (
    MAX_COMPRESSION,
    compression,
    loop_length,
    plain,
)

SAME = {
    "ok": "okay",
    "voicemail": "voice mail",
    "mailbox": "mail box",
    "callback": "call back",
    "cannot": "can not",
    "can't": "can not",
    "i'm": "i am",
    "it's": "it is",
    "that's": "that is",
    "you've": "you have",
    "you're": "you are",
    "we're": "we are",
    "don't": "do not",
    "isn't": "is not",
}
"""Two ways to write the same words. Both texts are compared in the second."""


def words(text: str) -> list[str]:
    """The words as they are compared: small, bare, numbers spelled out."""
    spelled = re.sub(r"\d+", lambda number: f" {num2words(int(number[0]))} ", text)
    bare = plain(spelled.replace("-", " ").replace("'ve", " have")).split()
    return " ".join(SAME.get(word, word) for word in bare).split()


def wrong(said: Sequence[str], heard: Sequence[str]) -> int:
    """Words that differ, are missing or were added: the least number."""
    row = list(range(len(heard) + 1))
    for at, word in enumerate(said, 1):
        before, row[0] = row[0], at
        for other, theirs in enumerate(heard, 1):
            change = before + (word != theirs)
            before, row[other] = row[other], min(row[other] + 1, row[other - 1] + 1, change)
    return row[-1]


def circles(said: str, heard: str) -> bool:
    """Does the text repeat itself where the speaker did not?"""
    looping = loop_length(heard) > 0 or compression(heard) > MAX_COMPRESSION
    return looping and not (loop_length(said) > 0 or compression(said) > MAX_COMPRESSION)
