"""Numbers that are said in a way of their own: of houses, calls, kings, spoons and stopwatches."""

import re

from sayso.server.speech.text.money_and_measures import UNITS
from sayso.server.speech.text.numbers import (
    ROMAN,
    cardinal,
    decimal,
    digits,
    fraction,
    from_roman,
    ordinal,
)
from sayso.server.speech.text.rule import ENDS, NOT_INSIDE, Rule, rule

STREETS = {
    "St": "Street",
    "Ave": "Avenue",
    "Rd": "Road",
    "Blvd": "Boulevard",
    "Ln": "Lane",
    "Sq": "Square",
    "Hwy": "Highway",
}
STREET = "|".join(STREETS)

RULERS = (
    "Henry|Louis|Charles|George|Edward|William|James|Elizabeth|Richard|John|Pius|Benedict|Paul|Leo"
    "|Gregory|Nicholas|Alexander|Catherine|Frederick|Philip|Ferdinand|Peter|Ivan|Napoleon|Wilhelm"
    "|Friedrich|Otto|Heinrich|Ludwig|Karl|Ramses|Rameses|Ptolemy|Margaret|Christian|Gustav|Felipe|Juan"
)
"""Whose namesakes are counted. Elsewhere a Roman numeral may as well be letters."""

CALLED = "[Cc]all|[Dd]ial|[Rr]ing|[Pp]hone|[Tt]ext"
SERVICES = r"[2-9]11|112|999|110|119|988|000|101|111"
"""Numbers of three digits that people call."""

SPOONS = {name: UNITS[name] for name in ("tsp", "tbsp", "oz", "lb", "ml", "l", "kg", "g")}
WHOLE = 100
"""Of two shares that are said together: 60/40."""
HUNDRED = 100
TENS = 10


def house_number(number: int) -> str:
    """221 → two twenty-one, 1204 → twelve oh four, 1600 → sixteen hundred."""
    hundreds, rest = divmod(number, HUNDRED)
    if not hundreds:
        return cardinal(number)
    if not rest:
        return f"{cardinal(hundreds)} hundred" if hundreds % TENS else cardinal(number)
    return f"{cardinal(hundreds)} {'oh ' if rest < TENS else ''}{cardinal(rest)}"


def _address(match: re.Match[str]) -> str:
    number, letter, street, kind = match.groups()
    said = f"{house_number(int(number))} {letter.upper()}".strip()
    return f"{said} {street} {STREETS[kind]}"


def _shares(match: re.Match[str]) -> str:
    one, other = int(match[1]), int(match[2])
    if one + other != WHOLE:
        return fraction(one, other)
    return f"{cardinal(one)}{'-' if one == other else ' '}{cardinal(other)}"


def _spoon(match: re.Match[str]) -> str:
    whole, above, below, unit = match[1], int(match[2]), int(match[3]), SPOONS[match[4]]
    if whole:
        said = fraction(above, below).replace("one half", "a half")
        return f"{cardinal(int(whole))} and {said} {unit}s"
    article = "an" if unit[0] in "aeiou" else "a"
    if (above, below) == (1, 2):
        return f"half {article} {unit}"
    return f"{fraction(above, below)} of {article} {unit}"


def _stopwatch(match: re.Match[str]) -> str:
    minutes, seconds = int(match[1]), decimal(f"{int(match[2])}.{match[3]}")
    return f"{cardinal(minutes)} minute{'' if minutes == 1 else 's'} {seconds} seconds"


def _after_midnight(match: re.Match[str]) -> str:
    minute = int(match[1])
    if not minute:
        return "midnight"
    return f"twelve {'oh ' if minute < TENS else ''}{cardinal(minute)} A.M"


RULES: list[Rule] = [
    rule(
        NOT_INSIDE + rf"(\d{{1,4}})([A-Za-z]?) ((?:[A-Z][\w']*\.? ){{1,3}}?)({STREET})\b\.?",
        lambda m: _address(m).replace("  ", " "),
    ),
    rule(
        rf"\b([A-Z][a-z]+) ({STREET})\.(?=$|[,;:.!?]| [a-z]|\n)",
        lambda m: f"{m[1]} {STREETS[m[2]]}",
    ),
    rule(
        NOT_INSIDE + r"(\d{3})-(0\d{3})" + ENDS + r"|" + NOT_INSIDE + r"(555)-(\d{4})" + ENDS,
        lambda m: ", ".join(digits(group) for group in m.groups() if group),
    ),
    rule(
        rf"\b({CALLED}) (\d{{3}})-(\d{{4}})" + ENDS,
        lambda m: f"{m[1]} {digits(m[2])}, {digits(m[3])}",
    ),
    rule(rf"\b({CALLED}) ({SERVICES})\b(?![-.,]\d)", lambda m: f"{m[1]} {digits(m[2])}"),
    rule(NOT_INSIDE + r"(?<!/)(\d{2})/(\d{2})(?!/)" + ENDS, _shares),
    rule(r"(?<!\S)(?<!\d )\u2013 ?(?=\d)", "minus "),
    rule(
        rf"\b({RULERS}) ([{''.join(ROMAN)}]{{2,5}}|V|X)\b(?!\.\w)",
        lambda m: f"{m[1]} the {ordinal(from_roman(m[2]))}",
    ),
    rule(
        NOT_INSIDE + rf"(?:(\d{{1,3}}) )?(\d{{1,2}})/(\d{{1,2}}) ?({'|'.join(SPOONS)})\b\.?",
        _spoon,
    ),
    rule(NOT_INSIDE + r"(\d{1,3}):([0-5]\d)\.(\d{1,3})" + ENDS, _stopwatch),
    rule(NOT_INSIDE + r"00:([0-5]\d)(?![:.]?\d)(?! ?[AaPp]\.?[Mm])", _after_midnight),
]
