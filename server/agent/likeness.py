"""Which worked examples a small model is shown: those most like the question. Pure.

A model of a hundred million parameters follows no instructions to speak of, but continues a pattern
well when the pattern is near. So it is shown a few examples, the likest last.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, TypeVar

Item = TypeVar("Item")

_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]+|[+*/%=^-]")
_NUMBER_WORD: Final = re.compile(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    "fifty|hundred|thousand|million|(four|six|seven|eigh|nine)(teen|ty)|thirteen|fifteen"
)
_ENDINGS: Final = ("ing", "ed", "es", "s")
_SHORTEST_STEM: Final = 3


def most_alike(question: str, candidates: Sequence[tuple[str, Item]], count: int) -> list[Item]:
    """The items whose texts share the rarest words with the question, the likest last."""
    bags = [_bag(text) for text, _ in candidates]
    known = Counter(token for bag in bags for token in bag)
    wanted = _bag(question)

    def likeness(index: int) -> float:
        bag = bags[index]
        shared = sum(math.log((1 + len(bags)) / known[token]) for token in sorted(wanted & bag))
        # Of two that share as much the shorter is closer; of two as close the earlier wins.
        return shared / math.sqrt(1 + len(bag | wanted))

    order = sorted(range(len(candidates)), key=lambda index: (-likeness(index), index))
    return [candidates[index][1] for index in reversed(order[:count])]


def _bag(text: str) -> frozenset[str]:
    """Words, and pairs of neighbours: "Celsius to Fahrenheit" is not its reverse."""
    words = [_plain(token) for token in _TOKEN.findall(text.lower())]
    return frozenset(words) | frozenset(map(" ".join, pairwise(words)))


def _plain(token: str) -> str:
    """Numbers are all alike, and so are the forms of a word, roughly."""
    if token[0].isdigit() or _NUMBER_WORD.fullmatch(token):
        return "#"
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= _SHORTEST_STEM:
            return token.removesuffix(ending)
    return token
