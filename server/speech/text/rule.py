"""A rule: a pattern to find in a text, and the words to say for it."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and the words for what it matches."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str]


def rule(pattern: str, say: Callable[[re.Match[str]], str] | str, flags: int = 0) -> Rule:
    """A rule from a pattern, and either fixed words or a function of the match."""
    words = say
    if isinstance(words, str):
        return Rule(re.compile(pattern, flags), lambda _: words)
    return Rule(re.compile(pattern, flags), words)


NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
"""A plain number: 7, 3.14, 1,234,567.8."""

NOT_INSIDE = r"(?<![\w.])"
"""Nothing before that it would be a part of."""

ENDS = r"(?![\w])"
"""Nothing after that it would be a part of."""
