"""Picks the worked examples that a small model is shown, and begins its reply for it. Pure.

A model of a hundred million parameters follows no instructions to speak of, but continues a pattern
well when the pattern is near. So it is shown the few examples that are most like the request, the
likest last; where that one is very like, it also decides whether this is a matter for code, and the
reply is begun with what the example's code begins with, whatever was asked.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sayso.server.agent.prompt.language_names import DEFAULT
from sayso.server.agent.prompt.profiles import Example, ModelProfile

_TOKEN: Final = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d]+|[+*/%=^-]")
_NUMBER_WORD: Final = re.compile(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
    "fifty|hundred|thousand|million|(four|six|seven|eigh|nine)(teen|ty)|thirteen|fifteen"
)
_SHORT_IS: Final = re.compile(r"['\u2019]s\b")
_NUMBER: Final = "#"
_ENDINGS: Final = ("ing", "ed", "es", "s")
_SHORTEST_STEM: Final = 3
_UNEVEN: Final = 0.5
"""A request with numbers and one without are half as like as their words make them."""


@dataclass(frozen=True, slots=True)
class ChosenExamples:
    """What a request is introduced with."""

    examples: Sequence[Example]
    """The likest last."""
    begun: str = ""
    """How the model's reply is begun; empty leaves it to the model."""


class ExampleBook:
    """A profile's examples, ready to be looked up."""

    def __init__(self, profile: ModelProfile) -> None:
        self._profile = profile
        self._words = [_words(example.asked) for example in profile.examples]
        known = Counter(word for words in self._words for word in words)
        self._rarity = {word: math.log((1 + len(self._words)) / known[word]) for word in known}

    def choose(self, asked: str, *, ran: bool) -> ChosenExamples:
        """For a request; `ran`: whether code has run for it and the answer is next."""
        profile = self._profile
        if not profile.examples_shown:
            return ChosenExamples(profile.examples)
        likeness = self._compare(asked)
        # Of two that are as like the earlier wins.
        order = sorted(range(len(likeness)), key=lambda index: (-likeness[index], index))
        ranked = [profile.examples[index] for index in order]
        sure = bool(profile.sure_likeness) and likeness[order[0]] >= profile.sure_likeness
        if ran:
            ranked = [example for example in ranked if example.code]
        elif sure:
            ranked = [example for example in ranked if bool(example.code) == bool(ranked[0].code)]
        shown = ranked[: profile.examples_shown][::-1]
        if ran or not sure or not ranked[0].code:
            return ChosenExamples(shown)
        return ChosenExamples(shown, f"```{DEFAULT}\n{ranked[0].begins}")

    def _compare(self, asked: str) -> list[float]:
        wanted = _words(asked)
        likeness = []
        for words in self._words:
            shared = sum(self._rarity[word] for word in sorted(wanted & words))
            even = (_NUMBER in wanted) == (_NUMBER in words)
            # Of two that share as much the shorter is closer.
            likeness.append(shared / math.sqrt(1 + len(words | wanted)) * (1 if even else _UNEVEN))
        return likeness


def _words(text: str) -> frozenset[str]:
    """Words, and pairs of neighbours: "Celsius to Fahrenheit" is not its reverse."""
    plain = _SHORT_IS.sub(" is", text.lower())
    words = [_plain(token) for token in _TOKEN.findall(plain)]
    return frozenset(words) | frozenset(map(" ".join, pairwise(words)))


def _plain(token: str) -> str:
    """Numbers are all alike, and so are the forms of a word, roughly."""
    if token[0].isdigit() or _NUMBER_WORD.fullmatch(token):
        return _NUMBER
    for ending in _ENDINGS:
        if token.endswith(ending) and len(token) - len(ending) >= _SHORTEST_STEM:
            return token.removesuffix(ending)
    return token
