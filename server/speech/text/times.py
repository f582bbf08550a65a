"""Dates, years and times of day as words, in American English."""

import re

from sayso.server.speech.text.numbers import cardinal, decimal, ordinal, year
from sayso.server.speech.text.rule import ENDS, NOT_INSIDE, Rule, rule

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
MONTH = (
    r"(Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
CENTURY = 100
NOON = 12
LAST_MONTH = 12
LAST_DAY = 31
PIVOT = 70
"""Two-digit years below it are of this century."""

SCORE = 10
"""Minutes below it are said "oh five"."""


def clock(hours: int, minutes: int, half: str = "") -> str:
    """A time of day; `half` is "a.m.", "p.m." or nothing."""
    if minutes == 0:
        said = cardinal(hours) if half else f"{cardinal(hours)} o'clock"
        if not half and (hours == 0 or hours > NOON):
            said = f"{cardinal(hours)} hundred"
    elif minutes < SCORE:
        said = f"{cardinal(hours)} oh {cardinal(minutes)}"
    else:
        said = f"{cardinal(hours)} {cardinal(minutes)}"
    return f"{said} {half}".strip()


def full_year(text: str) -> str:
    """A year as written, with two digits or four."""
    number = int(text)
    if number < CENTURY:
        number += 2000 if number < PIVOT else 1900
    return year(number)


def date(day: int, month: int, year_written: str = "") -> str:
    """May fifth, twenty twenty-four."""
    said = f"{MONTHS[month - 1]} {ordinal(day)}"
    return f"{said}, {full_year(year_written)}" if year_written else said


def _half(text: str | None) -> str:
    return f"{text.strip()[0].lower()}.m." if text else ""


def _clock(match: re.Match[str]) -> str:
    said = clock(int(match[1]), int(match[2]), _half(match[4]))
    if match[3]:
        said += f" and {cardinal(int(match[3]))} seconds"
    return said


def _hour(match: re.Match[str]) -> str:
    return f"{cardinal(int(match[1]))} {_half(match[2])}"


def _iso(match: re.Match[str]) -> str:
    month, day = int(match[2]), int(match[3])
    if not (1 <= month <= LAST_MONTH and 1 <= day <= LAST_DAY):
        return " ".join(decimal(match[group]) for group in (1, 2, 3))
    said = date(day, month, match[1])
    if match[4]:
        said += f" at {clock(int(match[4]), int(match[5]))}"
    return said + (" UTC" if match[6] == "Z" else "")


def _numeric(match: re.Match[str]) -> str:
    """5/6/2024 is May sixth; with dots, or where no month comes first, the day does."""
    first, second = int(match[1]), int(match[3])
    day, month = (first, second) if match[2] == "." or first > LAST_MONTH else (second, first)
    if not (1 <= month <= LAST_MONTH and 1 <= day <= LAST_DAY):
        return " ".join(decimal(match[group]) for group in (1, 3, 4))
    return date(day, month, match[4])


def _month(text: str) -> int:
    return next(at for at, name in enumerate(MONTHS, 1) if name.startswith(text[:3]))


def _month_first(match: re.Match[str]) -> str:
    return date(int(match[2]), _month(match[1]), match[3] or "")


def _day_first(match: re.Match[str]) -> str:
    said = f"the {ordinal(int(match[1]))} of {MONTHS[_month(match[2]) - 1]}"
    return f"{said}, {full_year(match[3])}" if match[3] else said


def _month_and_year(match: re.Match[str]) -> str:
    return f"{MONTHS[_month(match[1]) - 1]} {full_year(match[2])}"


def _decade(match: re.Match[str]) -> str:
    said = full_year(match[1])
    return f"{said[:-1]}ies" if said.endswith("y") else f"{said}s"


def _short_decade(match: re.Match[str]) -> str:
    return f"{cardinal(int(match[1]))[:-1]}ies"


def _years(match: re.Match[str]) -> str:
    return f"{full_year(match[1])} to {full_year(match[2])}"


HALF = r"(\s?[aApP]\.?[mM]\b\.?)"

RULES: list[Rule] = [
    rule(
        NOT_INSIDE
        + r"(\d{4})-(\d{2})-(\d{2})"
        + r"(?:[T ](\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
        + ENDS,
        _iso,
    ),
    rule(NOT_INSIDE + r"(\d{1,2})(/)(\d{1,2})/(\d{4}|\d{2})" + ENDS, _numeric),
    rule(NOT_INSIDE + r"(\d{1,2})(\.)(\d{1,2})\.(\d{4})" + ENDS, _numeric),
    rule(rf"\b{MONTH} (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?" + ENDS, _month_first),
    rule(
        rf"(?:\b[Tt]he )?\b(\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?{MONTH}(?:,? (\d{{4}})\b)?",
        _day_first,
    ),
    rule(rf"\b{MONTH} (\d{{4}})" + ENDS, _month_and_year),
    rule(
        NOT_INSIDE + r"(\d{1,2}):(\d{2}) ?[-\u2013] ?(\d{1,2}):(\d{2})" + ENDS,
        lambda m: f"{clock(int(m[1]), int(m[2]))} to {clock(int(m[3]), int(m[4]))}",
    ),
    rule(NOT_INSIDE + rf"([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?{HALF}?" + ENDS, _clock),
    rule(NOT_INSIDE + rf"(\d{{1,2}}){HALF}", _hour),
    rule(NOT_INSIDE + r"((?:1[1-9]|20)\d0)'?s\b", _decade),
    rule(r"(?:(?<!\w)['\u2019]|(?<=\bthe ))([2-9]0)s\b", _short_decade),
    rule(
        NOT_INSIDE + r"((?:19|20)\d{2}) ?[-\u2013] ?((?:19|20)\d{2}|\d{2})(?![\w-])",
        _years,
    ),
    rule(
        r"(?:(?<=\bin )|(?<=\bIn )|(?<=since )|(?<=until )|(?<=before )|(?<=after )|(?<=by ))"
        r"(1[1-9]\d{2})" + ENDS + r"(?![.,]\d)",
        lambda m: year(int(m[1])),
    ),
    rule(r"(?<=year )(\d{3,4})" + ENDS, lambda m: year(int(m[1]))),
    rule(NOT_INSIDE + r"((?:19|20)\d{2})" + ENDS + r"(?![.,]\d)", lambda m: year(int(m[1]))),
]
