"""Reads numbers as people say and write them, in any language that has number rules. Pure.

The words come from Unicode's rules for spelling numbers out, read backwards: "zweihundertvier" is
looked up with all spaces and hyphens gone, so that "two hundred and four" is found as well.
"""

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final

from sayso.server.reflexes.figures.sum_words import Sums

if TYPE_CHECKING:
    from unicode_rbnf import RbnfEngine

MOST_DIGITS: Final = 15
"""Of a number: longer ones are no sums that somebody says."""

THOUSAND: Final = 1_000
HUNDRED: Final = 100
HALF: Final = Decimal("0.5")
DECIMALS: Final = 10
"""Digits behind the point that are read one by one: "three point one four"."""


class Numbers:
    """The numbers of one language."""

    def __init__(self, code: str, words: Sums) -> None:
        from unicode_rbnf import RbnfEngine

        engine = RbnfEngine.for_language(code)
        self._decimal_point = words.decimal_point
        self._point = {word.casefold() for word in words.point}
        self._small = _spelt(engine, words)
        self._thousand = _without(_plain(engine.format_number(THOUSAND).text), _ones(engine, words))
        self._fractions = {said.casefold(): _fraction(of) for said, of in words.fractions.items()}
        self._minus = words.minus[0].casefold() + " "
        self._and_half = tuple(word.casefold() for word in words.and_half)
        self._ones = {word.casefold() for word in words.one}
        grouping = re.escape("," if words.decimal_point == "." else ".")
        point = re.escape(words.decimal_point)
        self._figures = re.compile(
            rf"-?\d{{1,3}}(?:{grouping}\d{{3}})+(?:{point}\d+)?|-?\d+(?:{point}\d+)?"
        )

    def read(self, text: str) -> Decimal | None:
        """The number that the whole text is; None if it is none."""
        text = text.strip().casefold()
        if not text or sum(map(str.isdigit, text)) > MOST_DIGITS:
            return None
        if self._figures.fullmatch(text):
            return self._figure(text)
        if (fraction := self._fractions.get(" ".join(text.split()))) is not None:
            return fraction
        if text.startswith(self._minus) and (below := self.read(text.removeprefix(self._minus))):
            return -below
        for ending in self._and_half:
            if text.endswith(ending) and (whole := self.read(text.removesuffix(ending))):
                return whole + HALF
        return self._worded(text.split())

    def _figure(self, text: str) -> Decimal | None:
        grouping = "," if self._decimal_point == "." else "."
        try:
            return Decimal(text.replace(grouping, "").replace(self._decimal_point, "."))
        except InvalidOperation:
            return None

    def _worded(self, words: list[str]) -> Decimal | None:
        at = next((i for i, word in enumerate(words) if word in self._point), None)
        if at is None:
            return self._whole(words)
        whole = self._whole(words[:at])
        digits = [self._whole([word]) for word in words[at + 1 :]]
        if whole is None or not 0 < len(digits) <= DECIMALS:
            return None
        if any(digit is None or digit >= DECIMALS for digit in digits):
            return None
        return Decimal(f"{whole}." + "".join(map(str, digits)))

    def _whole(self, words: Iterable[str]) -> Decimal | None:
        words = list(words)
        if len(words) == 1 and words[0] in self._ones:
            return Decimal(1)
        squashed = _plain("".join(words))
        before, thousand, after = squashed.partition(self._thousand)
        if not thousand:
            return self._small.get(squashed)
        thousands = self._small.get(before, Decimal(1) if not before else None)
        rest = self._small.get(after, Decimal(0) if not after else None)
        return None if thousands is None or rest is None else THOUSAND * thousands + rest


def _fraction(written: str) -> Decimal:
    above, _, below = written.partition("/")
    return Decimal(above) / Decimal(below or 1)


def _spelt(engine: "RbnfEngine", words: Sums) -> dict[str, Decimal]:
    """Zero to 999, in all ways in which they are said."""
    ones = _ones(engine, words)
    spelt: dict[str, Decimal] = {}
    usual = [_plain(engine.format_number(number).text) for number in range(THOUSAND)]
    for number, plain in enumerate(usual):
        spelt[plain] = Decimal(number)
        hundreds, rest = divmod(number, HUNDRED)
        if not hundreds:
            continue
        ways = [plain]
        if rest:
            head = usual[number - rest]
            ways += [head + _plain(link) + plain.removeprefix(head) for link in words.links]
        for way in ways:
            spelt[way] = Decimal(number)
            if hundreds == 1:
                bare = _without(way, ones)
                spelt.update({said + bare: Decimal(number) for said in (*ones, "")})
    return spelt


def _ones(engine: "RbnfEngine", words: Sums) -> list[str]:
    """All words for one, the longest first."""
    ones = [_plain(engine.format_number(1).text), *map(_plain, words.one)]
    return sorted(ones, key=len, reverse=True)


def _without(word: str, ones: list[str]) -> str:
    """Take the one off: "one hundred" is "hundred"."""
    return next((word.removeprefix(one) for one in ones if word.startswith(one)), word)


def _plain(text: str) -> str:
    return re.sub(r"[\s\u00ad\-]+", "", text).casefold()
