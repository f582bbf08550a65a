"""Reads the free words of a sentence that must be a number, a sum or a place. Pure."""

from datetime import tzinfo
from decimal import Decimal
from functools import cached_property
from typing import Final

from sayso.server.reflexes.figures.numbers import Numbers
from sayso.server.reflexes.figures.places import Places
from sayso.server.reflexes.figures.sums import SumReader
from sayso.server.reflexes.language import Language

FIGURES: Final = frozenset({"place", "sum", "amount", "left", "right"})
"""Slots whose words have a value, or are not what the sentence is about."""


class Figures:
    """Of one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._places = Places(language.places)

    def value(self, slot: str, words: str) -> Decimal | tzinfo | None:
        """What these words stand for; None if they are nothing of the kind."""
        words = words.strip(" \t,;:!?")
        match slot:
            case "place":
                return self._places.zone(words)
            case "sum":
                return self._sums.value(words)
            case _:
                return self._numbers.read(words)

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers(self._language.code, self._language.sums)

    @cached_property
    def _sums(self) -> SumReader:
        return SumReader(self._language.sums, self._numbers)
