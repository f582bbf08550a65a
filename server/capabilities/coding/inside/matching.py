"""Finds where the lines of a hunk stand in a file: exactly, or else in one of a few ways in which a
model writes what it read a little differently. Pure.

A place counts only if it is the only one of its kind, so nothing is ever changed that may not have
been meant. How a hunk was matched decides how its new lines are written: as the file is.
"""

import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .patch_parser import Hunk

How = Literal["exactly", "but for blanks at line ends", "but for indentation", "but for its signs"]

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u3000", " "),
        "\u2026": "...",
    }
)
"""Signs that models put for those of a keyboard, and the other way round."""

_TAB = 8
"""Columns, where it is not known how wide a file's tabs are meant."""


class AmbiguousError(Exception):
    """It stands at several places, whose first lines these are, counted from 0."""

    def __init__(self, places: Sequence[int]) -> None:
        super().__init__()
        self.places = list(places)


class UnclearIndentError(Exception):
    """It stands at one place, but how its added lines are to be indented there can't be told."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place


@dataclass(frozen=True, slots=True)
class Found:
    """Where a hunk stands."""

    start: int
    """Its first line, counted from 0."""
    how: How
    new: tuple[str, ...]
    """Its new lines, as this file is written."""


def find(hunk: Hunk, lines: Sequence[str], taken: Sequence[range] = ()) -> Found | None:
    """Where the hunk stands among the lines of a file; None if nowhere. `taken` are lines that
    other hunks change. Raises AmbiguousError and UnclearIndentError."""
    regions = _regions(hunk.below, lines)
    ways: tuple[tuple[How, Callable[[str], str]], ...] = (
        ("exactly", str),
        ("but for blanks at line ends", str.rstrip),
        ("but for indentation", str.strip),
        ("but for its signs", _plain),
    )
    for how, plain in ways:
        wanted, there = [plain(text) for text in hunk.old], [plain(text) for text in lines]
        if not any(wanted):  # empty lines stand everywhere
            return None
        places = [
            place
            for place in _places(wanted, there)
            if _is_free(range(place, place + len(wanted)), taken)
            and (not hunk.at_end or place + len(wanted) == len(lines))
            and any(place in region for region in regions)
        ]
        if how == "but for indentation":
            places = [one for one in places if _indents(hunk.old, lines[one:]) is not None]
        if len(places) > 1:
            raise AmbiguousError(places)
        if places:
            return Found(places[0], how, tuple(_written(hunk, lines, places[0])))
    return None


def find_at(hunk: Hunk, lines: Sequence[str]) -> Found | None:
    """Where it stands exactly, if that is the line that the patch names."""
    start = max(0, hunk.at - 1)
    if hunk.at and list(lines[start : start + len(hunk.old)]) == hunk.old:
        return Found(start, "exactly", tuple(hunk.new))
    return None


def _is_free(place: range, taken: Sequence[range]) -> bool:
    return not any(
        place.start < other.stop and other.start < place.stop for other in taken if len(other)
    )


def _places(wanted: Sequence[str], there: Sequence[str]) -> Iterator[int]:
    """Every place where these lines stand one after the other."""
    rare = max(range(len(wanted)), key=lambda number: len(wanted[number]))
    for number in range(rare, len(there) - len(wanted) + rare + 1):
        if there[number] == wanted[rare]:
            start = number - rare
            if list(there[start : start + len(wanted)]) == list(wanted):
                yield start


def _regions(below: Sequence[str], lines: Sequence[str]) -> list[range]:
    """Where a hunk may stand: in the block of the line that it names, and that in the block of the
    one before. A line that is named and not there names none."""
    regions = [range(len(lines) + 1)]
    for named in below:
        heads = [
            number
            for region in regions
            for number in region
            if number < len(lines) and lines[number].strip() == named.strip()
        ] or [
            number
            for region in regions
            for number in region
            if number < len(lines) and lines[number].strip().startswith(named.strip())
        ]
        if not heads:
            continue
        regions = [range(head, _end_of_block(head, lines)) for head in heads]
    return regions


def _end_of_block(head: int, lines: Sequence[str]) -> int:
    """The line after the block that begins with a line, by indentation."""
    own = _width(lines[head])
    for number in range(head + 1, len(lines)):
        text = lines[number]
        if text.strip() and _width(text) <= own and text.strip()[0] not in ")]}":
            return number
    return len(lines) + 1


def _width(text: str) -> int:
    return len(_indent(text).expandtabs(_TAB))


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip(" \t"))]


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).translate(_SIGNS).strip()


def _written(hunk: Hunk, lines: Sequence[str], place: int) -> Iterator[str]:
    """The new lines: those that are kept as the file has them, the others indented like it."""
    indents = _indents(hunk.old, lines[place:])
    if indents is None:
        raise UnclearIndentError(place)
    units = _unit((*hunk.old, *hunk.new)), _unit(lines)
    for text, kept in zip(hunk.new, hunk.kept, strict=True):
        if kept >= 0:
            yield lines[place + kept]
        elif not text.strip():
            yield text
        else:
            indent = _translated(_indent(text), indents, units)
            if indent is None:
                raise UnclearIndentError(place)
            yield indent + text.lstrip(" \t")


def _indents(old: Sequence[str], there: Sequence[str]) -> Mapping[str, str] | None:
    """What each indentation of the hunk is in the file; None if one of them is several, or several
    are one."""
    found: dict[str, str] = {}
    for wanted, text in zip(old, there, strict=False):
        if wanted.strip() and found.setdefault(_indent(wanted), _indent(text)) != _indent(text):
            return None
    return found if len(set(found.values())) == len(found) else None


def _translated(indent: str, known: Mapping[str, str], units: tuple[int, int]) -> str | None:
    """An indentation of the hunk's as the file writes it, by what is known of others; None if that
    can't be told. `units`: spaces of one level, in the hunk and in the file."""
    if indent in known:
        return known[indent]
    if all(one == other for one, other in known.items()):
        return indent
    rules: list[_Rule] = []
    if units[0] == units[1] or not units[1]:
        one, other = next(iter(known.items()))
        rules.append(_shift(one, other))
    else:
        rules.append(_scale(*units))
    rules += [_to_tabs(width) for width in _TABS] + [_to_spaces(width) for width in _TABS]
    fitting = (rule for rule in rules if all(rule(one) == other for one, other in known.items()))
    written = {rule(indent) for rule in fitting}
    return written.pop() if len(written) == 1 else None


_Rule = Callable[[str], str | None]
_TABS = (2, 3, 4, 8)
"""Spaces that a tab may stand for."""


def _shift(one: str, other: str) -> _Rule:
    """The same is put before each line, or left out."""
    put, left = "", ""
    if other.endswith(one):
        put = other[: len(other) - len(one)]
    elif one.endswith(other):
        left = one[: len(one) - len(other)]

    def rule(indent: str) -> str | None:
        if not indent.startswith(left):
            return None
        written = put + indent[len(left) :]
        return written if len(set(written)) <= 1 else None

    return rule


def _scale(from_: int, to: int) -> _Rule:
    """Levels have so many spaces instead of so many."""

    def rule(indent: str) -> str | None:
        levels, rest = divmod(len(indent), from_) if from_ else (0, 1)
        return None if rest or indent.strip(" ") else " " * (to * levels)

    return rule


def _to_tabs(width: int) -> _Rule:
    def rule(indent: str) -> str | None:
        written = indent.replace(" " * width, "\t")
        return None if " " in written else written

    return rule


def _to_spaces(width: int) -> _Rule:
    def rule(indent: str) -> str | None:
        return None if " " in indent else indent.replace("\t", " " * width)

    return rule


def _unit(texts: Sequence[str]) -> int:
    """Spaces of one level; 0 if that can't be told."""
    widths = {len(_indent(text)) for text in texts if text.strip() and text.startswith(" ")}
    unit = math.gcd(*widths)
    return unit if unit > 1 else 0
