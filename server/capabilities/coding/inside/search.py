"""Searches files for a pattern, and reads parts of one with numbers before its lines.

A pattern comes from a model and files come from anybody, so a search is bounded: by time, which a
signal ends in the middle of a line, by what it returns, and by memory.
"""

import contextlib
import fnmatch
import re
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

from .folders import Folders, PlaceError
from .patch_plan import hash_of
from .text_file import MOST_BYTES, NoTextError, read_text
from .walk import Found, Walk, walk

SEARCH_S: Final = 10.0
LINES_MOST: Final = 100
"""Found ones, in all."""
LINES_OF_ONE_FILE: Final = 12
LINE_CHARS: Final = 200
PATTERN_CHARS: Final = 1_000
SEARCHED_BYTES: Final = 2 * 1024**2
"""Of one file; more is data."""
READ_LINES: Final = 400
READ_CHARS: Final = 24_000


class SearchError(Exception):
    """It can't be searched so; the message says what to write instead."""


class _OutOfTimeError(Exception):
    pass


@dataclass(slots=True)
class _Result:
    lines: list[str] = field(default_factory=list)
    shown: int = 0
    files: int = 0
    more: int = 0
    """Lines that are not shown."""


def search(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """The lines that a pattern is found in, file by file."""
    pattern = _compiled(str(request["pattern"]), whole=bool(request.get("literal")))
    start = folders.find(str(request.get("path") or "."))
    glob = str(request.get("files") or "")
    state = Walk(time.monotonic() + SEARCH_S)
    found = _Result()
    try:
        with _bounded(SEARCH_S):
            for file in walk(folders, start, state):
                if glob and not _fits(file.name, glob):
                    continue
                _search_file(file, pattern, folders, found)
    except _OutOfTimeError:
        state.stopped = "there was no more time; search a smaller folder, or for something simpler"
    return {"text": _told(found, state, str(request["pattern"]))}


def _compiled(text: str, *, whole: bool) -> re.Pattern[str]:
    if not text or len(text) > PATTERN_CHARS:
        raise SearchError(f"Give a pattern of 1 to {PATTERN_CHARS:,} characters.")
    try:
        return re.compile(re.escape(text) if whole else text)
    except (re.error, RecursionError, OverflowError) as error:
        why = f"That is no regular expression ({error}); set literal to search for it as it is."
        raise SearchError(why) from None


def _fits(name: str, glob: str) -> bool:
    return fnmatch.fnmatch(name.rpartition("/")[2], glob) or fnmatch.fnmatch(name, glob)


def _search_file(file: Found, pattern: re.Pattern[str], folders: Folders, found: _Result) -> None:
    if file.size > SEARCHED_BYTES:
        return
    try:
        data, _ = folders.read(file.place, SEARCHED_BYTES)
    except PlaceError:
        return
    if b"\0" in data[:8_192]:
        return
    hits = list(_hits(data.decode(errors="replace"), pattern))
    if not hits:
        return
    found.files += 1
    room = min(LINES_OF_ONE_FILE, LINES_MOST - found.shown)
    if room > 0:
        found.lines += [file.name, *hits[:room]]
        found.shown += len(hits[:room])
    found.more += max(0, len(hits) - max(0, room))


def _hits(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.search(line):
            shown = line if len(line) <= LINE_CHARS else f"{line[:LINE_CHARS]}…"
            yield f"{number}|{shown}"


def _told(found: _Result, state: Walk, pattern: str) -> str:
    lines = found.lines or [f"{pattern} is found nowhere in {state.files:,} files."]
    if found.more:
        lines.append(f"[{found.more:,} more lines in {found.files:,} files are not shown]")
    if state.stopped:
        lines.append(f"[only a part was looked at, because {state.stopped}]")
    return "\n".join(lines)


@contextlib.contextmanager
def _bounded(seconds: float) -> Iterator[None]:
    """End what goes on for longer; the only way out of a regular expression that never ends."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def read(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """A part of a file, with the number of each line before it; or what is in a folder."""
    place = folders.find(str(request["path"]))
    if folders.is_folder(place):
        return {"text": _folder(folders, str(request["path"]))}
    data, _ = folders.read(place, MOST_BYTES)
    try:
        file = read_text(data)
    except NoTextError as problem:
        raise PlaceError(f"{place.shown} {problem}; run code to look at it.") from None
    first = max(1, int(request.get("from") or 1))
    last = min(len(file.lines), int(request.get("to") or first + READ_LINES - 1))
    last = min(last, first + READ_LINES - 1)
    lines = list[str]()
    room = READ_CHARS
    for number in range(first, last + 1):
        text = f"{number}|{file.lines[number - 1].text}"
        room -= len(text) + 1
        if room < 0 and lines:
            last = number - 1
            break
        lines.append(text[:READ_CHARS])
    whole = len(file.lines)
    if first > 1 or last < whole:
        lines.append(f"[lines {first} to {last} of {whole}]")
    name = folders.name_of(place)
    text = "\n".join(lines) or f"{name} is empty."
    return {"text": text, "seen": {name: hash_of(data)}}


def _folder(folders: Folders, named: str) -> str:
    place = folders.find(named)
    state = Walk(time.monotonic() + SEARCH_S)
    names = []
    for file in walk(folders, place, state):
        names.append(file.name)
        if len(names) >= READ_LINES:
            names.append(f"[more than {READ_LINES} files]")
            break
    return "\n".join(names) or f"There are no files in {named}."
