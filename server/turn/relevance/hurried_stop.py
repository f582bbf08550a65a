"""Recognises a hurried "stop" that a small model heard as "start" or "star" over Sayso's voice.

Said over an answer, and alone, these words ask for nothing else; anywhere else they are themselves.
"""

import re

HURRIED = frozenset({"start", "star"})
_WORD = re.compile(r"\w+")


def is_hurried_stop(text: str) -> bool:
    """Whether the whole of it is what a hurried "stop" is taken for."""
    words = _WORD.findall(text.lower())
    return len(words) == 1 and words[0] in HURRIED
