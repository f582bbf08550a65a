"""Works out sums that are said: "15 percent of 80", "the square root of 144". Pure.

    "what's"  twelve plus seven times three
                12    +    7    *    3          words become signs and figures
                         33                     and these are worked out with the usual precedence

Only what is a sum from end to end has a value; all else is for the language model. A percentage
must be of something: "100 plus 10 percent" means two things.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from typing import Final

from sayso.server.reflexes.figures.numbers import Numbers
from sayso.server.reflexes.figures.sum_words import Sums

MOST_POWER: Final = 64
"""An exponent beyond it gives a number that nobody wants to hear."""

LARGEST: Final = Decimal(10) ** 15
"""A result beyond it cannot be told in one breath."""

PLACES: Final = Decimal("0.01")
"""To which a result is rounded that is not whole …"""

SMALL_DIGITS: Final = 3
"""… and how many digits are kept of one that would be rounded to nothing."""

_SIGNS: Final[Mapping[str, str]] = {
    "\u00d7": "*",
    "\u00b7": "*",
    "x": "*",
    "\u00f7": "/",
    ":": "/",
    "\u2212": "-",
}
_TOKEN: Final = re.compile(r"\d[\d.,]*|[-+*/^%()@]|[^\s\d+*/^%()@]+")


class NotASumError(Exception):
    """These words are no sum."""


class SumReader:
    """The sums of one language."""

    def __init__(self, words: Sums, numbers: Numbers) -> None:
        self._numbers = numbers
        self._percent = words.percent[0].casefold()
        signs: dict[str, Sequence[str]] = {
            "+": words.plus,
            "-": words.minus,
            "*": words.times,
            "/": words.over,
            "^": words.power,
            "% *": [f"{each} {of}" for each in words.percent for of in words.of],
            "%": words.percent,
            "^ 2": words.squared,
            "@": words.root,
        }
        parts = [(of, f" {part.replace('/', ' / ')} * ") for of, part in words.parts_of.items()]
        said = [(word.casefold(), sign) for sign, some in signs.items() for word in some]
        said += [(of.casefold(), sign) for of, sign in parts]
        ordered = sorted(said, key=lambda pair: len(pair[0]), reverse=True)
        self._said = dict(ordered)
        either = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word, _ in ordered)
        self._words = re.compile(rf"(?<!\w)(?:{either})(?!\w)")

    def value(self, text: str) -> Decimal | None:
        """What a sum comes to; None if the text is none."""
        text = re.sub(r"\s+", " ", text.casefold()).replace("%", f" {self._percent} ")
        text = re.sub(r"\s+", " ", text)
        text = self._words.sub(lambda found: f" {self._said[found[0]]} ", text)
        for sign, plain in _SIGNS.items():
            text = re.sub(rf"(?<=[\d\s)]){re.escape(sign)}(?=[\d\s(])", plain, text)
        try:
            with localcontext() as context:
                context.traps[Overflow] = True
                tokens = self._tokens(text)
                numbers = sum(isinstance(token, Decimal) for token in tokens)
                is_sum = numbers > 1 or "@" in tokens  # a mere number is none
                return _Expression(tokens).whole() if is_sum else None
        except (NotASumError, InvalidOperation, DivisionByZero, Overflow):
            return None

    def _tokens(self, text: str) -> list[str | Decimal]:
        """Signs and numbers, number words in a row being one."""
        tokens: list[str | Decimal] = []
        words: list[str] = []
        for token in [*_TOKEN.findall(text), ""]:
            if token[:1].isalpha():
                words.append(token)
                continue
            if words:
                tokens.append(self._number(" ".join(words)))
                words.clear()
            if token[:1].isdigit():
                tokens.append(self._number(token))
            elif token:
                tokens.append(token)
        return tokens

    def _number(self, text: str) -> Decimal:
        number = self._numbers.read(text)
        if number is None:
            raise NotASumError
        return number


class _Expression:
    """A sum in signs and numbers, read from left to right."""

    def __init__(self, tokens: Sequence[str | Decimal]) -> None:
        self._tokens = tokens
        self._at = 0

    def whole(self) -> Decimal:
        value = self._terms()
        if self._next is not None or abs(value) > LARGEST:
            raise NotASumError
        return value

    @property
    def _next(self) -> str | Decimal | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *signs: str) -> str | None:
        found = self._next
        if isinstance(found, str) and found in signs:
            self._at += 1
            return found
        return None

    def _terms(self) -> Decimal:
        value = self._factors()
        while sign := self._take("+", "-"):
            right = self._factors()
            value = value + right if sign == "+" else value - right
        return value

    def _factors(self) -> Decimal:
        value = self._power()
        while sign := self._take("*", "/"):
            right = self._power()
            value = value * right if sign == "*" else value / right
        return value

    def _power(self) -> Decimal:
        base = self._single()
        if not self._take("^"):
            return base
        exponent = self._single()
        if abs(exponent) > MOST_POWER or exponent != exponent.to_integral_value():
            raise NotASumError
        return base**exponent

    def _single(self) -> Decimal:
        if self._take("-"):
            return -self._single()
        if self._take("@"):
            return self._single().sqrt()
        if self._take("("):
            value = self._terms()
            if not self._take(")"):
                raise NotASumError
            return value
        found = self._next
        if not isinstance(found, Decimal):
            raise NotASumError
        self._at += 1
        if not self._take("%"):
            return found
        if self._next != "*":
            raise NotASumError
        return found / 100


def rounded(value: Decimal) -> Decimal:
    """A result as it is told."""
    told = value.quantize(PLACES)
    if not told and value:
        told = Decimal(f"{value:.{SMALL_DIGITS}g}")
    return told.to_integral_value() if told == told.to_integral_value() else told.normalize()
