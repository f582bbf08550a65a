"""Cut a stream of prose into chunks that are spoken one by one. Pure.

    "Well, if you ask me, it depends. On Mr. Smith, e.g., and on version 3.2."
     └───────first──────┘└───second──┘└─────────────────third───────────────┘

Chunks are sentences, as a voice speaks them best. Only the first may end at a clause, if the rest
of its sentence is not written yet: then speech begins early. And where the voice would run dry, an
unfinished sentence gives up its clauses (`hurry`). Else whether a mark ends a chunk depends on the
text alone, never on how it was fed: byte by byte gives the same chunks. A cut in the wrong place is
heard, a missing one hardly, so in doubt there is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

CLAUSE_AFTER = 12
"""Characters from which the first chunk may end at a clause, while its sentence goes on."""

FIRST_LONGEST = 100
"""Characters from which the first chunk ends at a clause though its sentence is all there. Up to so
many a voice that is computed in windows begins about as early as with a few words."""

HURRIED_AFTER = (12, 24, 40)
"""Characters that a hurried chunk has at least if it ends at a clause, before a word like "and", or
at any word: the worse the place, the rarer."""

LONGEST = 180
"""Characters. A longer sentence is cut at a clause, else at a word: half a second of synthesis."""

LOOK_PAST = 40
"""Characters after the longest chunk that are looked at to judge the last mark in it."""

SHORTEST_CUT = 40
"""Characters that a cut inside of a long sentence leaves at least on its left."""

STOPS = ".!?\u2026\u3002\uff01\uff1f"
"""Ends of sentences; the last three are Chinese and Japanese."""

CLAUSE_MARKS = ",;:\u2014\u2013\uff0c\u3001\uff1b\uff1a"
"""Ends of clauses: with dashes, and the Chinese and Japanese ones."""

WIDE = "\u3002\uff01\uff1f\uff0c\u3001\uff1b\uff1a"
"""Marks that no space follows."""

CLOSERS = "\"')]}\u201d\u2019\u00bb\u300d\u300f"
"""What may stand between a mark and the space after it."""


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


NEVER_ENDING = _words(
    "mr mrs ms dr prof st sr jr rev hon gen col capt lt sgt maj gov sen rep pres messrs mme mlle"
    " vs e.g i.e eg ie cf viz al approx ca fig figs eq eqs sec ch chap vol vols ed eds pp pg nr"
    " no nos art par dept univ assn bros bzw z.b d.h u.a usw"
)
"""Abbreviations that are followed by what they belong to."""

SOMETIMES_ENDING = _words(
    "etc inc ltd co corp a.m p.m am pm u.s u.k u.n e.u d.c b.c a.d ph.d m.d b.a m.a jan feb mar"
    " apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun ave blvd rd"
    " mt ft in oz lb lbs hr hrs min mins"
)
"""Abbreviations that may stand last in a sentence: what follows decides."""

BREAKS_BEFORE = re.compile(
    r"\s(?=(?:and|or|but|because|which|that|when|where|while|so|if|with|for|after|before)\s)"
)
"""Where a long sentence without any mark is cut with the least harm."""

Ending = Literal["sentence", "clause", "none", "unknown"]


@dataclass(frozen=True, slots=True)
class _Mark:
    """A possible end."""

    at: int
    """The position after it and its closing quotes."""
    ending: Ending
    is_stop: bool
    """Of those that end sentences."""


class ClauseSplitter:
    """Feed it prose as it comes; it gives the chunks that are complete."""

    def __init__(self) -> None:
        self._text = ""
        self._given = 0
        """Chunks given so far."""

    def feed(self, text: str) -> list[str]:
        """More prose. A newline ends a paragraph."""
        self._text += text
        return self._take(final=False)

    @property
    def likely(self) -> str:
        """The next chunk, if it ends with what is undecided at the end of the text; else empty."""
        text = self._text.lstrip()
        if len(text) > LONGEST or "\n" in text:
            return ""
        *_, last = [None, *_marks(text, final=False)]
        if last is None or last.ending != "unknown":
            return ""
        return (
            text[: last.at].strip() if last.is_stop or self._may_begin_with(last.at, None) else ""
        )

    def finish(self) -> list[str]:
        """No more will come: the rest."""
        chunks = self._take(final=True)
        rest, self._text = self._text.strip(), ""
        return [*chunks, rest] if rest else chunks

    def hurry(self) -> list[str]:
        """The voice runs dry: what can be spoken of the unfinished sentence, if there is enough."""
        marks = _marks(self._text, final=False)
        ends = [mark.at for mark in marks if mark.ending in {"sentence", "clause"}]
        breaks = [match.end() for match in BREAKS_BEFORE.finditer(self._text)]
        spaces = [match.end() for match in re.finditer(r"\s", self._text)]
        for places, least in zip((ends, breaks, spaces), HURRIED_AFTER, strict=True):
            if places and places[-1] >= least:
                return self._cut(places[-1])
        return []

    def _take(self, *, final: bool) -> list[str]:
        chunks: list[str] = []
        while (cut := self._next_cut(final=final)) is not None:
            chunks += self._cut(cut)
        return chunks

    def _cut(self, at: int) -> list[str]:
        chunk, self._text = self._text[:at].strip(), self._text[at:]
        if not chunk:
            return []
        self._given += 1
        return [chunk]

    def _next_cut(self, *, final: bool) -> int | None:
        self._text = self._text.lstrip()
        # What lies further on than a chunk may reach decides nothing, but what follows a mark may.
        text = self._text[: LONGEST + LOOK_PAST]
        newline = text.find("\n")
        final = final or len(text) < len(self._text)
        clause: int | None = None
        end: int | None = newline + 1 if -1 < newline <= LONGEST else None
        for mark in _marks(text, final=final):
            if mark.at > LONGEST or -1 < newline < mark.at:
                break
            if mark.ending == "clause" and self._may_begin_with(mark.at, clause):
                clause = mark.at
            if mark.ending == "unknown":
                # A stop is most likely the end, which the next letter tells.
                return None if mark.is_stop and mark.at <= FIRST_LONGEST else clause
            if mark.ending == "sentence":
                end = mark.at
                break
        if clause and (end is None or end > FIRST_LONGEST):
            return clause
        return _cut_long(text) if end is None and len(text) > LONGEST + 1 else end

    def _may_begin_with(self, at: int, earlier: int | None) -> bool:
        """May the reply's first chunk end here? The later the better, up to a point."""
        return not self._given and at >= CLAUSE_AFTER and (at <= FIRST_LONGEST or earlier is None)


def _cut_long(text: str) -> int:
    """Where to cut a sentence that is longer than a chunk may be."""
    head = text[:LONGEST]
    clauses = [mark.at for mark in _marks(head, final=False) if mark.ending == "clause"]
    breaks = [match.end() for match in BREAKS_BEFORE.finditer(head)]
    spaces = [match.end() for match in re.finditer(r"\s", head)]
    for places in (clauses, breaks, spaces):
        good = [place for place in places if place >= SHORTEST_CUT]
        if good:
            return good[-1]
    return LONGEST


def _marks(text: str, *, final: bool) -> Iterator[_Mark]:
    """Every mark in the text and what it ends. The last may be undecided until more comes."""
    at = 0
    while at < len(text):
        if text[at] not in STOPS and text[at] not in CLAUSE_MARKS:
            at += 1
            continue
        end = at + 1
        while end < len(text) and text[end] in STOPS:
            end += 1
        while end < len(text) and text[end] in CLOSERS:
            end += 1
        yield _Mark(end, _ending(text, at, end, final=final), text[at] in STOPS)
        at = end


def _ending(text: str, at: int, end: int, *, final: bool) -> Ending:
    """What the mark at `at` ends, whose closing quotes reach to `end`."""
    if end == len(text):  # more stops or quotes may follow, or a digit: 3.14, 1,000, example.com
        return "sentence" if final else "unknown"
    wide = any(character in WIDE for character in text[at:end])
    if not wide and not text[end].isspace():
        if text[at] in "\u2014\u2013":
            return "clause"
        return "none"
    if text[at] in CLAUSE_MARKS:
        return "none" if text[at] == "\u2013" and not text[at - 1 : at].isspace() else "clause"
    if wide:
        return "sentence"
    return _full_stop(text, at, end, final=final)


def _full_stop(text: str, at: int, end: int, *, final: bool) -> Ending:
    """Does a stop before a space end the sentence?"""
    if text[at] in "!?":
        return "sentence"
    word = re.split(r"[\s(\[\"'\u201c]", text[:at])[-1].lower()
    dots = "\u2026" in text[at:end] or ".." in text[at:end]
    if not dots:
        if word in NEVER_ENDING or (len(word) == 1 and word.isalpha() and word != "i"):
            return "none"
        if word.isdigit() and not text[: at - len(word)].strip():
            return "none"  # "1. Open the door"
        if word not in SOMETIMES_ENDING and not word.isdigit() and "." not in word:
            return "sentence"
    following = text[end:].lstrip(" \t" + CLOSERS)
    if not following:
        return "sentence" if final else "unknown"
    if following[0] == "\n":
        return "sentence"
    return "none" if following[0].islower() or (following[0].isdigit() and not dots) else "sentence"
