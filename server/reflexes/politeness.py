"""Politeness and fillers, taken away before matching. Pure.

    said             "Hey, um, could you please set a 10-minute timer? Thanks."
    without fillers  "Hey, could you please set a 10-minute timer? Thanks."
    without opening  "could you please set a 10-minute timer? Thanks."
    without preface  "set a 10-minute timer? Thanks."
    to the point     "set a 10-minute timer"

and then all of them once more with words apart that a language writes in one ("Nudel timer").

What is taken away may be part of the request ("remind me in an hour to say thanks"), so matching
tries the fuller text first.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from sayso.server.reflexes import language

_SPACE: Final = re.compile(r"\s+")
_COMMA_PAIR: Final = re.compile(r"(?:\s*,)+(?=\s*,|\s*$)|^\s*,\s*")
"""Commas that stood around a word that is gone."""
_CLAUSE_END: Final = re.compile(r"[.,;!?]+ ")
_NOTHING: Final = re.compile(r"(?!)")


Tone = Literal["said", "asked"]
"""`asked`: as a question, with a "could you" before it, or with a "perhaps" taken out of it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that may be all that was meant."""

    text: str
    tone: Tone


class Politeness:
    """The manners of one language, ready for use."""

    def __init__(self, words: language.Manners) -> None:
        anywhere, asking, after = map(_either, (words.anywhere, words.asking, words.after))
        before = _either((*words.before, *words.asking))
        self._fillers = _pattern(anywhere, rf"(?<!\w)(?:{anywhere})(?!['\w])")
        softening = _either(words.softening)
        self._softening = _pattern(softening, rf"(?<!\w)(?:{softening})(?!['\w])")
        around = {word.casefold() for word in (*words.before, *words.after)}
        hedges = _either(word for word in words.softening if word.casefold() not in around)
        self._hedges = _pattern(hedges, rf"(?<!\w)(?:{hedges})(?!['\w])")
        self._before = _pattern(before, rf"^(?:\W*(?<!\w)(?:{before})(?!['\w]))+\W*")
        opening = _either(words.before)
        self._opening = _pattern(opening, rf"^(?:\W*(?<!\w)(?:{opening})(?!['\w]))+\W*")
        self._asking = _pattern(asking, rf"(?<!\w)(?:{asking})(?!['\w])")
        self._after = _pattern(after, rf"(?:\W*(?<!\w)(?:{after})(?!['\w]))+\W*$")
        self._remark = _pattern(_either(words.remarks), rf"(?:{_either(words.remarks)})(?!\w)")
        compounds = _either(words.compounds)
        self._compound = _pattern(compounds, rf"(?<=\w\w\w)(?=(?:{compounds})(?!\w))")
        short = _either(words.after_what)
        self._after_comma = _pattern(after, rf"(?:\W*[,.!?;](?:\W*(?<!\w)(?:{after}))+)\W*$")
        self._after_what = _pattern(short, rf"(?:\s+(?:{short}))+\W*$")

    def readings(self, text: str) -> list[Reading]:
        """The text without what means nothing, the fullest first, none twice."""
        plain = self._plain(text)
        begun = self._before.sub("", plain)
        point = _tidy(self._softening.sub("", self._after.sub("", begun)))
        # What opens a request may be soft in the middle of it and only now stand at its beginning.
        point = self._before.sub("", point)
        preface = plain[: len(plain) - len(begun)]
        asked = plain.endswith("?") or self._asking.search(preface) is not None
        # "Perhaps yes" is less than a yes, and what the softening is taken from is not all.
        hedged = self._hedges.search(plain) is not None
        # "Oh, and lemons" goes on from something else by its "and".
        opened = self._opening.sub("", plain)
        ended = self._after.sub("", plain)
        whole = (plain, opened, begun, ended, point)
        apart = (self._compound.sub(" ", reading) for reading in whole)
        texts = dict.fromkeys((*whole, *apart))
        softer = {reading for reading in texts if self._hedges.search(reading) is None}
        return [
            Reading(reading, "asked" if asked or (hedged and reading in softer) else "said")
            for reading in texts
            if reading
        ]

    def without_remark(self, text: str) -> list[str]:
        """The request behind a remark, or before it: "I've taken my pills, delete the reminder"."""
        plain = self._plain(text)
        parted = list(_CLAUSE_END.finditer(plain))
        if not parted:
            return []
        found = []
        if self._remark.match(self._opening.sub("", plain)):
            found.append(plain[parted[-1].end() :])
        if self._remark.match(plain[parted[-1].end() :]):
            found.append(plain[: parted[-1].end()].rstrip(" .,;"))
        return found

    def asks(self, text: str) -> bool:
        """Whether it begins with what is said to whoever listens."""
        return self._before.match(text) is not None

    def object_of(self, text: str) -> str:
        """What to remind of, without the politeness that follows it."""
        for pattern in (self._after_comma, self._after_what):
            text = pattern.sub("", text) or text
        return text.strip(" \t,.;:!?")

    def _plain(self, text: str) -> str:
        text = _SPACE.sub(" ", unicodedata.normalize("NFC", text)).replace("\u2019", "'")
        return _tidy(self._fillers.sub("", text))


def _tidy(text: str) -> str:
    return _SPACE.sub(" ", _COMMA_PAIR.sub("", text)).strip()


def _either(words: Iterable[str]) -> str:
    """The longest first, so that "thank you very much" goes as a whole. Spaces are elastic."""
    ordered = sorted(words, key=len, reverse=True)
    return "|".join(r"[\s,]+".join(map(re.escape, word.split())) for word in ordered)


def _pattern(words: str, pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE) if words else _NOTHING
