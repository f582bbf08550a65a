"""Money, percentages, temperatures and units as words."""

import re

from sayso.server.speech.text.numbers import decimal, plural, signed
from sayso.server.speech.text.rule import ENDS, NOT_INSIDE, NUMBER, Rule, rule

CURRENCIES = {
    "$": ("dollar", "dollars", "cent"),
    "€": ("euro", "euros", "cent"),
    "£": ("pound", "pounds", "penny"),
    "¥": ("yen", "yen", ""),
    "₹": ("rupee", "rupees", "paisa"),
    "USD": ("US dollar", "US dollars", "cent"),
    "EUR": ("euro", "euros", "cent"),
    "GBP": ("pound", "pounds", "penny"),
    "JPY": ("yen", "yen", ""),
    "CHF": ("Swiss franc", "Swiss francs", "centime"),
    "CAD": ("Canadian dollar", "Canadian dollars", "cent"),
}
CENT_DIGITS = 2
MANY_SMALL = {"penny": "pence", "paisa": "paise"}

AMOUNTS = {
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "m": "million",
    "mn": "million",
    "B": "billion",
    "b": "billion",
    "bn": "billion",
    "T": "trillion",
}

UNITS = {
    "km": "kilometer",
    "m": "meter",
    "cm": "centimeter",
    "mm": "millimeter",
    "\u00b5m": "micrometer",
    "\u03bcm": "micrometer",
    "nm": "nanometer",
    "mi": "mile",
    "yd": "yard",
    "ft": "foot",
    "kg": "kilogram",
    "g": "gram",
    "mg": "milligram",
    "lb": "pound",
    "lbs": "pound",
    "oz": "ounce",
    "l": "liter",
    "L": "liter",
    "ml": "milliliter",
    "mL": "milliliter",
    "gal": "gallon",
    "tsp": "teaspoon",
    "tbsp": "tablespoon",
    "h": "hour",
    "hr": "hour",
    "hrs": "hour",
    "min": "minute",
    "mins": "minute",
    "s": "second",
    "sec": "second",
    "secs": "second",
    "ms": "millisecond",
    "\u00b5s": "microsecond",
    "\u03bcs": "microsecond",
    "ns": "nanosecond",
    "Hz": "hertz",
    "kHz": "kilohertz",
    "MHz": "megahertz",
    "GHz": "gigahertz",
    "W": "watt",
    "kW": "kilowatt",
    "MW": "megawatt",
    "Wh": "watt hour",
    "kWh": "kilowatt hour",
    "V": "volt",
    "mV": "millivolt",
    "A": "amp",
    "mA": "milliamp",
    "mAh": "milliamp hour",
    "J": "joule",
    "kJ": "kilojoule",
    "kcal": "kilocalorie",
    "cal": "calorie",
    "N": "newton",
    "Pa": "pascal",
    "hPa": "hectopascal",
    "kPa": "kilopascal",
    "psi": "P.S.I",
    "B": "byte",
    "KB": "kilobyte",
    "kB": "kilobyte",
    "MB": "megabyte",
    "GB": "gigabyte",
    "TB": "terabyte",
    "PB": "petabyte",
    "KiB": "kibibyte",
    "MiB": "mebibyte",
    "GiB": "gibibyte",
    "TiB": "tebibyte",
    "bit": "bit",
    "kbit": "kilobit",
    "Mbit": "megabit",
    "Gbit": "gigabit",
    "px": "pixel",
    "dB": "decibel",
    "ha": "hectare",
    "ac": "acre",
    "pt": "point",
    "in": "inch",
}
IRREGULAR = {"foot": "feet", "inch": "inches"}
UNCHANGING = {"hertz", "kilohertz", "megahertz", "gigahertz", "P.S.I"}

RATES = {
    "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "mpg": ("mile per gallon", "miles per gallon"),
    "rpm": ("R.P.M", "R.P.M"),
    "fps": ("frame per second", "frames per second"),
    "dpi": ("dot per inch", "dots per inch"),
    "bps": ("bit per second", "bits per second"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
}

SQUARED = "\u00b2"

PER = {"h": "hour", "s": "second", "min": "minute", "kg": "kilogram", "m": "meter", "l": "liter"}


def _name(unit: str, count: str) -> str:
    """What a unit is called after a count as written."""
    if unit in RATES:
        return RATES[unit][0 if count == "1" else 1]
    base, _, per = unit.partition("/")
    power = {"\u00b2": "square ", "\u00b3": "cubic "}.get(base[-1:], "")
    one = UNITS[base.rstrip("\u00b2\u00b3")]
    many = one if one in UNCHANGING else IRREGULAR.get(one, f"{one}s")
    said = power + plural(count, one, many)
    if not per:
        return said
    return f"{said} per {PER[per.rstrip(SQUARED)]}" + (" squared" if per[-1] == SQUARED else "")


def _measure(match: re.Match[str]) -> str:
    return f"{signed(match[1])} {_name(match[2], match[1])}"


def _measure_span(match: re.Match[str]) -> str:
    return f"{decimal(match[1])} to {decimal(match[2])} {_name(match[3], match[2])}"


def _money(symbol: str, amount: str, scale: str) -> str:
    one, many, small = CURRENCIES[symbol]
    if scale:
        return f"{decimal(amount)} {AMOUNTS.get(scale, scale)} {many}"
    whole, _, cents = amount.partition(".")
    if len(cents) != CENT_DIGITS or not small:
        return f"{decimal(amount)} {plural(amount, one, many)}"
    said = f"{decimal(whole)} {plural(whole, one, many)}"
    if int(cents) == 0:
        return said
    count = str(int(cents))
    rest = f"{decimal(count)} {plural(count, small, MANY_SMALL.get(small))}"
    return rest if whole == "0" else f"{said} and {rest}"


def _money_before(match: re.Match[str]) -> str:
    minus = "minus " if match[1] else ""
    if match[4]:
        _, many, _ = CURRENCIES[match[2]]
        scale = f" {AMOUNTS.get(match[5], match[5])}" if match[5] else ""
        return f"{decimal(match[3])} to {decimal(match[4])}{scale} {many}"
    return minus + _money(match[2], match[3], match[5] or "")


def _money_after(match: re.Match[str]) -> str:
    return _money(match[3], match[1], match[2] or "")


def _degrees(match: re.Match[str]) -> str:
    scale = {"C": " Celsius", "F": " Fahrenheit"}.get(match[2] or "", "")
    return f"{signed(match[1])} {plural(match[1], 'degree')}{scale}"


def _percent(match: re.Match[str]) -> str:
    return f"{signed(match[1])} percent"


def _percent_span(match: re.Match[str]) -> str:
    return f"{decimal(match[1])} to {decimal(match[2])} percent"


def _feet(match: re.Match[str]) -> str:
    said = f"{decimal(match[1])} {_name('ft', match[1])}"
    return f"{said} {decimal(match[2])}" if match[2] else said


def _duration(match: re.Match[str]) -> str:
    return (
        f"{decimal(match[1])} {_name('h', match[1])} {decimal(match[2])} {_name('min', match[2])}"
    )


def _minutes(match: re.Match[str]) -> str:
    parts = zip(("h", "min", "s"), match.groups(), strict=True)
    return " ".join(f"{decimal(count)} {_name(unit, count)}" for unit, count in parts if count)


def _alternatives(names: set[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


SYMBOL = "[$€£¥₹]"
CODE = "USD|EUR|GBP|JPY|CHF|CAD"
SCALE = r" ?(k|K|M|mn|(?<! )m|B|bn|T|thousand|million|billion|trillion)\b"
SIGNED = rf"[-\u2212]?{NUMBER}"
SPACED_UNIT = _alternatives(set(UNITS) - {"in", "pt"})
PERS = _alternatives(set(PER))
RATE = _alternatives(set(RATES))
"""Whole by itself: no power of it, and nothing per anything."""
UNIT = rf"({RATE}|(?:{SPACED_UNIT})[\u00b2\u00b3]?(?:/(?:{PERS})\u00b2?)?)(?![\w\u00b2\u00b3/])"

RULES: list[Rule] = [
    rule(
        rf"(-)?({SYMBOL}) ?({NUMBER})(?: ?[-\u2013] ?{SYMBOL}?({NUMBER}))?(?:{SCALE})?" + ENDS,
        _money_before,
    ),
    rule(NOT_INSIDE + rf"({NUMBER})(?:{SCALE})? ?({SYMBOL}|(?:{CODE})\b)", _money_after),
    rule(
        rf"(?<!\w)()({CODE}) ({NUMBER})()(?:{SCALE})?" + ENDS,
        lambda m: _money(m[2], m[3], m[5] or ""),
    ),
    # With a decimal point alone: "4k" and "3M" are names, too.
    rule(
        NOT_INSIDE + r"(\d+\.\d+)(k|M|bn)\b",
        lambda m: f"{decimal(m[1])} {AMOUNTS[m[2]]}",
    ),
    rule(rf"(?<![\w.])({SIGNED}) ?\u00b0(?: ?([CF])\b)?", _degrees),
    rule(NOT_INSIDE + rf"({NUMBER})%? ?[-\u2013] ?({NUMBER}) ?%", _percent_span),
    rule(rf"(?<![\w.])({SIGNED}) ?%", _percent),
    rule(NOT_INSIDE + r"(\d+)['\u2032](?:(\d+)(?:\"|\u2033|''))?(?!\w)", _feet),
    rule(NOT_INSIDE + r"(?:(\d+) ?h ?)?(\d{1,3}) ?m(?:in)? ?(\d{1,2}) ?s(?:ec)?\b", _minutes),
    rule(NOT_INSIDE + r"(\d+) ?h ?(\d{1,2}) ?m(?:in)?\b", _duration),
    rule(NOT_INSIDE + r"(\d+) ?\u00a2", lambda m: f"{decimal(m[1])} {plural(m[1], 'cent')}"),
    rule(NOT_INSIDE + rf"({NUMBER}) ?[-\u2013] ?({NUMBER}) ?{UNIT}", _measure_span),
    rule(rf"(?<![\w.])({SIGNED}) ?{UNIT}", _measure),
]
