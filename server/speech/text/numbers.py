"""Numbers as words: counted, ordered, in fractions, digit by digit."""

import re
from functools import lru_cache

from sayso.server.speech.text.rule import ENDS, NOT_INSIDE, NUMBER, Rule, rule

LONGEST_EXACT = 12
"""Digits. A longer number is on the screen; nobody can follow it by ear, so it is rounded."""

SCALES = {
    12: "trillion",
    15: "quadrillion",
    18: "quintillion",
    21: "sextillion",
    24: "septillion",
    27: "octillion",
    30: "nonillion",
    33: "decillion",
}

FRACTION_NAMES = {2: "half", 3: "third", 4: "quarter"}

GLYPHS = {
    "½": (1, 2),
    "⅓": (1, 3),
    "⅔": (2, 3),
    "¼": (1, 4),
    "¾": (3, 4),
    "⅕": (1, 5),
    "⅛": (1, 8),
    "⅜": (3, 8),
    "⅝": (5, 8),
    "⅞": (7, 8),
}

FAMILIAR_FRACTION = 10
"""Up to this denominator a fraction has a name ("three eighths"); above it is "over"."""


@lru_cache(maxsize=2048)
def words_for(number: int, kind: str = "cardinal") -> str:
    """A whole number as people say it: without the commas and the "and" of formal writing."""
    from num2words import num2words  # brings in all its languages

    return str(num2words(number, lang="en", to=kind)).replace(",", "").replace(" and ", " ")


def cardinal(number: int) -> str:
    """42 → forty-two; a very long number is rounded."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    length = len(str(number))
    if length <= LONGEST_EXACT:
        return words_for(number)
    power = (length - 1) // 3 * 3
    if power not in SCALES:
        return f"a number of {words_for(length)} digits"
    scaled = round(number / 10**power, 2)
    return f"about {decimal(f'{scaled:g}')} {SCALES[power]}"


PARTS = "[Cc]hapter|[Pp]art|[Ss]ection|[Vv]olume|[Bb]ook|[Aa]ct|[Pp]hase|[Tt]ype|[Aa]rticle|War"
"""What is counted in Roman numerals: elsewhere they may as well be letters."""

ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}


def from_roman(numeral: str) -> int:
    """The number that a Roman numeral of small letters' worth stands for."""
    values = [ROMAN[letter] for letter in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def ordinal(number: int) -> str:
    """21 → twenty-first."""
    return words_for(number, "ordinal")


def year(number: int) -> str:
    """1984 → nineteen eighty-four."""
    return words_for(number, "year")


def digits(text: str) -> str:
    """007 → zero zero seven; anything but digits is left out."""
    return " ".join(words_for(int(digit)) for digit in text if digit.isdigit())


def decimal(text: str) -> str:
    """A number as written (1,234.50) in words."""
    whole, _, part = text.replace(",", "").partition(".")
    if len(whole) > 1 and whole.startswith("0"):
        said = digits(whole)
    else:
        said = cardinal(int(whole)) if whole else ""
    return f"{said} point {digits(part)}".strip() if part else said


def plural(count: str, one: str, many: str | None = None) -> str:
    """The unit's name for a count as written: exactly "1" is singular."""
    return one if count == "1" else (many or f"{one}s")


def fraction(above: int, below: int) -> str:
    """3/4 → three quarters; 17/32 → seventeen over thirty-two."""
    if below > FAMILIAR_FRACTION or below < min(FRACTION_NAMES):
        return f"{cardinal(above)} over {cardinal(below)}"
    if (above, below) == (1, 2):
        return "one half"
    name = FRACTION_NAMES.get(below) or ordinal(below)
    several = "halves" if below == min(FRACTION_NAMES) else f"{name}s"
    return f"{cardinal(above)} {name if above == 1 else several}"


def letters(text: str) -> str:
    """Letter by letter: "io" → "I.O", which a voice spells."""
    return ".".join(text.upper())


def _mixed(match: re.Match[str]) -> str:
    above, below = GLYPHS[match[2]]
    if not match[1]:
        return fraction(above, below)
    return f"{cardinal(int(match[1]))} and {fraction(above, below).replace('one half', 'a half')}"


def _written_mixed(match: re.Match[str]) -> str:
    said = fraction(int(match[2]), int(match[3])).replace("one half", "a half")
    return f"{cardinal(int(match[1]))} and {said}"


def _scientific(match: re.Match[str]) -> str:
    power = int(match[2].replace("\u2212", "-"))
    return f"{signed(match[1])} times ten to the {cardinal(power)}"


def _phone(match: re.Match[str]) -> str:
    groups = [digits(group) for group in re.findall(r"\d+", match[0])]
    return ("plus " if match[0].startswith("+") else "") + ", ".join(groups)


def signed(text: str) -> str:
    """A number that may have a sign before it."""
    if text[0] in "-\u2212":
        return f"minus {decimal(text[1:])}"
    return decimal(text.removeprefix("+"))


def _span(match: re.Match[str]) -> str:
    return f"{decimal(match[1])} to {decimal(match[2])}"


def _by(match: re.Match[str]) -> str:
    return f"{decimal(match[1])} by {decimal(match[2])}"


def _multiple(match: re.Match[str]) -> str:
    return f"{decimal(match[1])} {plural(match[1], 'time')}"


GLYPH = "[" + "".join(GLYPHS) + "]"

RULES: list[Rule] = [
    rule(r"\+\d{1,3}(?:[ \-]\(?\d{2,9}\)?){1,6}" + ENDS, _phone),
    rule(r"\(\d{3}\) ?\d{3}-\d{4}" + ENDS, _phone),
    rule(NOT_INSIDE + r"\d{3}-\d{3}-\d{4}" + ENDS, _phone),
    rule(
        NOT_INSIDE + rf"([-\u2212]?{NUMBER}) ?[\u00d7x*] ?10\^([-\u2212]?\d+)" + ENDS, _scientific
    ),
    rule(NOT_INSIDE + rf"([-\u2212]?{NUMBER})[eE]([-+\u2212]?\d+)" + ENDS, _scientific),
    rule(r"\b0x([0-9a-fA-F]+)\b", lambda m: f"hex {' '.join(m[1].upper())}"),
    rule(
        NOT_INSIDE + r"(\d+)(?:st|nd|rd|th) ?[-\u2013] ?(\d+)(?:st|nd|rd|th)\b",
        lambda m: f"{ordinal(int(m[1]))} to {ordinal(int(m[2]))}",
    ),
    rule(
        rf"\b({PARTS}) ([IVXL]+)\b(?=[\s.,;:)]|$)",
        lambda m: f"{m[1]} {words_for(from_roman(m[2]))}",
    ),
    rule(r"(?<!\S)<(?=\d)", "less than "),
    rule(r"(?<!\S)>(?=\d)", "more than "),
    rule(
        NOT_INSIDE + r"(\d[\d,]*)(?:st|nd|rd|th)\b", lambda m: ordinal(int(m[1].replace(",", "")))
    ),
    rule(NOT_INSIDE + rf"(?:(\d+) ?)?({GLYPH})", _mixed),
    rule(NOT_INSIDE + r"24/7" + ENDS, "twenty-four seven"),
    rule(NOT_INSIDE + r"(\d{1,3}) (\d{1,2})/(\d{1,3})(?!/)" + ENDS, _written_mixed),
    rule(
        NOT_INSIDE + r"(?<!/)(\d{1,3})/(\d{1,3})(?!/)" + ENDS,
        lambda m: fraction(int(m[1]), int(m[2])),
    ),
    rule(
        NOT_INSIDE + r"(\d{1,3}):(\d{1,3})(?!:)" + ENDS,
        lambda m: f"{cardinal(int(m[1]))} to {cardinal(int(m[2]))}",
    ),
    rule(NOT_INSIDE + rf"({NUMBER}) ?x(?= (?![\d+*/=\u2212-])|[,.!?]|$)", _multiple),
    rule(NOT_INSIDE + rf"({NUMBER}) ?x ?({NUMBER})" + ENDS, _by),
    rule(NOT_INSIDE + r"(\d{3,}) ?\u00d7 ?(\d{3,})" + ENDS, _by),
    rule(NOT_INSIDE + r"(\d{1,4})(x)(?= [-+*/=])", lambda m: f"{decimal(m[1])} x"),
    rule(
        NOT_INSIDE + r"(\d{1,4})([a-wyzA-Z])(?=[ =+*)^,.]|$)", lambda m: f"{decimal(m[1])} {m[2]}"
    ),
    rule(rf"(?<![\w.\u2013-])({NUMBER})[-\u2013]({NUMBER})(?![\w-])", _span),
    rule(rf"(?:#|\b[Nn]o\. ?)({NUMBER})" + ENDS, lambda m: f"number {decimal(m[1])}"),
    rule(rf"~ ?({NUMBER})" + ENDS, lambda m: f"about {decimal(m[1])}"),
    rule(rf"(?<=[A-Za-z])-({NUMBER})" + ENDS, lambda m: f" {decimal(m[1])}"),
    rule(r"(?<=[A-Za-z])-(\d)([a-z])\b", lambda m: f" {decimal(m[1])} {m[2]}"),
    rule(rf"(?<![\w.)])([-\u2212]{NUMBER})" + ENDS, lambda m: signed(m[1])),
    rule(r"(?<![\w)])\.(\d+)" + ENDS, lambda m: f"point {digits(m[1])}"),
    rule(NOT_INSIDE + rf"{NUMBER}" + ENDS, lambda m: decimal(m[0])),
]
