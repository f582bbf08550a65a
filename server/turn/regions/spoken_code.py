"""Words code so that the ear can tell it from other code: signs by name, capitals and blanks said.

What reads answers aloud passes over signs, which are what code turns on: `rm ~/*` would be heard
as `rm`. What cannot be told by ear at all is not read.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

LONGEST_SAID = 600
"""Characters of what is said: three quarters of a minute."""

_PARTS = re.compile(r"[^\W\d_]+|\d+| +|.", re.DOTALL)
_HUMPS = re.compile(r"[A-Z][a-z]+|[A-Z]+|[^A-Z]+")


@dataclass(frozen=True, slots=True)
class _Names:
    signs: Mapping[str, str]
    capital: str
    blank: str
    blanks: str


def _names(signs: str, capital: str, blank: str, blanks: str) -> _Names:
    named = dict(zip(_SIGNS, signs.split(","), strict=True))
    return _Names(named, capital, blank, blanks)


_SIGNS = "-/\\.,;:|&<>*?!~$`'\"()[]{}#%^@=+_"
_EN = _names(
    "dash,slash,backslash,dot,comma,semicolon,colon,pipe,ampersand,less than,greater than,star,"
    "question mark,exclamation mark,tilde,dollar,backtick,quote,double quote,open parenthesis,"
    "close parenthesis,open bracket,close bracket,open brace,close brace,hash,percent,caret,at,"
    "equals,plus,underscore",
    "capital",
    "blank",
    "{count} blanks",
)
_DE = _names(
    "Strich,Schrägstrich,Backslash,Punkt,Komma,Semikolon,Doppelpunkt,senkrechter Strich,"
    "Und-Zeichen,kleiner als,größer als,Stern,Fragezeichen,Ausrufezeichen,Tilde,Dollar,Backtick,"
    "Hochkomma,Anführungszeichen,Klammer auf,Klammer zu,eckige Klammer auf,eckige Klammer zu,"
    "geschweifte Klammer auf,geschweifte Klammer zu,Raute,Prozent,Zirkumflex,At,gleich,plus,"
    "Unterstrich",
    "groß",
    "Leerzeichen",
    "{count} Leerzeichen",
)


def said(line: str, language: str) -> str:
    """How this line of code is said; empty if the ear cannot tell it."""
    names = _DE if language.partition("-")[0].lower() == "de" else _EN
    parts = _PARTS.findall(unicodedata.normalize("NFC", line))
    if not all(part.isspace() or _is_sayable(part, names) for part in parts):
        return ""
    words = ""
    for number, part in enumerate(parts):
        if part.isspace():
            before = parts[number - 1] if number else ""
            after = parts[number + 1] if number + 1 < len(parts) else ""
            words += _gap(len(part), before, after, names)
        else:
            words += " " + " ".join(_word(part, names))
    found = " ".join(words.split()).replace(" ,", ",")
    return found if len(found) <= LONGEST_SAID else ""


def _is_sayable(part: str, names: _Names) -> bool:
    if part in names.signs or (part.isascii() and part.isdigit()):
        return True
    return part.isalpha() and all(
        unicodedata.name(letter, "").startswith("LATIN") for letter in part
    )


def _word(part: str, names: _Names) -> Iterator[str]:
    if part in names.signs:
        yield names.signs[part]
        return
    if part.isdigit():
        yield " ".join(part) if part.startswith("0") else part
        return
    for hump in _HUMPS.findall(part):
        if hump[0].isascii() and hump[0].isupper():
            letters = hump if len(hump) > 1 and hump[1].islower() else " ".join(hump)
            yield f"{names.capital} {letters}"
        else:
            yield hump


def _gap(count: int, before: str, after: str, names: _Names) -> str:
    """A blank between words is a pause; beside signs it is said, for `rm x*` is not `rm x *`."""
    if count > 1:
        return f" {names.blanks.format(count=count)}"
    return "," if before.isalnum() and after.isalnum() else f" {names.blank}"
