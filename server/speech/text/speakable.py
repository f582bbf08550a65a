"""Written text as a person would say it. Pure.

    written   It's  25 km  to   the  café (3.5 stars).
    spoken    It's  twenty-five kilometers  to  the  café  three point five stars.

The text falls into pieces, so that the time of a spoken word is also that of the written one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sayso.server.speech.text import (
    identifiers,
    money_and_measures,
    numbers,
    special_numbers,
    symbols,
    times,
)
from sayso.server.speech.text.rule import Rule

ENGLISH: list[Rule] = [
    *symbols.FIRST_RULES,
    *special_numbers.RULES,
    *times.RULES,
    *identifiers.RULES,
    *money_and_measures.RULES,
    *numbers.RULES,
    *symbols.LAST_RULES,
]

REPEATED_MARKS = re.compile(r"([,;:!?])[,;:]+|(?<=[!?;:]),|([.!?])[.]+")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word or a few as written, and how they are said."""

    written: str
    spoken: str
    """Empty if nothing is said."""


def spoken(text: str, language: str = "en") -> str:
    """The whole text as it is said."""
    return " ".join(piece.spoken for piece in spoken_pieces(text, language) if piece.spoken)


def spoken_pieces(text: str, language: str = "en") -> list[Spoken]:
    """The text piece by piece, in order."""
    pieces: list[Spoken] = []
    for written, words in _clusters(" ".join(text.split()), language):
        said = _tidy(words)
        if any(character.isalnum() for character in said):
            pieces.append(Spoken(written, said.lstrip(",;:")))
            continue
        if said and pieces and pieces[-1].spoken[-1:].isalnum():
            pieces[-1] = Spoken(pieces[-1].written, pieces[-1].spoken + said[0])
        pieces.append(Spoken(written, ""))
    return pieces


def _clusters(text: str, language: str) -> list[tuple[str, str]]:
    """What stands together without a space, or is matched together, and how it is said."""
    clusters: list[tuple[str, str]] = []
    written = said = ""
    for part, words in _matches(text, language):
        if words is not None:
            written += part
            said += words
            continue
        for word in re.findall(r"\S+|\s+", part):
            if not word.isspace():
                written += word
                said += word
            elif written.strip():
                clusters.append((written.strip(), said))
                written = said = ""
    return [*clusters, (written.strip(), said)] if written.strip() else clusters


def _matches(text: str, language: str) -> Iterator[tuple[str, str | None]]:
    """The text in parts: what a rule matches with its words, what lies between with None.

    The first place where any rule matches counts; of several rules there, the first.
    """
    rules = ENGLISH if language.startswith("en") else symbols.LIGHT_RULES
    found = [rule.pattern.search(text) for rule in rules]
    at = 0
    while True:
        for number, match in enumerate(found):
            if match is not None and match.start() < at:
                found[number] = rules[number].pattern.search(text, at)
        ahead = [(match.start(), number) for number, match in enumerate(found) if match is not None]
        if not ahead:
            break
        start, number = min(ahead)
        match = found[number]
        if match is None:
            break
        if start > at:
            yield text[at:start], None
        yield match[0], rules[number].say(match)
        at = match.end()
    if at < len(text):
        yield text[at:], None


def _tidy(said: str) -> str:
    """No mark twice, no space before one."""
    said = re.sub(r"\s+(?=[,;:.!?])", "", " ".join(said.split()))
    return REPEATED_MARKS.sub(r"\1\2", said)
