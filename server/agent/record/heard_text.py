"""Finds where an answer was cut: which part of its text the person heard.

Playback reports what was played as text, which need not equal the answer letter for
letter: white space moves, code and tables are left out. So words are compared, not characters.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

_WORD: Final = re.compile(r"\w+(?:['\u2019]\w+)*")
_CLOSING: Final = re.compile(r"[^\s\w]+")
_FENCED: Final = re.compile(
    r"^([ \t]*)(`{3,}|~{3,}).*?(?:^[ \t]*\2[^\n]*$|\Z)", re.MULTILINE | re.DOTALL
)

_SLACK_WORDS: Final = 8
"""How many words longer than the heard text its counterpart may be: numbers and signs are spoken in
more or fewer words than they are written in. Further on a common word would match too late."""


def cut_to_heard(said: Sequence[str], heard: str) -> list[str]:
    """What was heard of each of the texts that were said one after the other."""
    whole = "".join(said)
    end = _end_of_heard(whole, heard)
    kept, start = [], 0
    for text in said:
        kept.append(text[: max(0, end - start)])
        start += len(text)
    return kept


def _end_of_heard(said: str, heard: str) -> int:
    spoken = _FENCED.sub(lambda block: " " * len(block.group()), said)
    heard_words = [word.group().lower() for word in _WORD.finditer(heard)]
    if not heard_words:
        return 0
    words = list(_WORD.finditer(spoken))[: len(heard_words) + _SLACK_WORDS]
    matcher = SequenceMatcher(
        None, [word.group().lower() for word in words], heard_words, autojunk=False
    )
    ends = [block.a + block.size for block in matcher.get_matching_blocks() if block.size]
    if not ends:
        return 0
    last = max(ends)
    end = words[last - 1].end()
    if not _WORD.search(spoken, end):
        return len(said)
    # The punctuation after a word belongs to it.
    closing = _CLOSING.match(said, end)
    return closing.end() if closing else end
