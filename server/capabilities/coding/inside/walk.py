"""Walks the files of a folder in reach, without those that git would ignore, and never for longer
than it may.

Links are not followed. What lies in `.git`, in packages that were installed and in what tools keep
for themselves is nobody's to look through; rules of .gitignore files hold as git has them, as far
as folders and names go.
"""

import fnmatch
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from .folders import Folders, Place, PlaceError

FILES_MOST: Final = 20_000
"""That are looked at: a tree of a million files is not searched whole, and the answer says so."""
ENTRIES_MOST: Final = 200_000
"""That are listed, ignored ones included."""
DEPTH_MOST: Final = 40

IGNORED_FOLDERS: Final = frozenset(
    {
        ".git", ".hg", ".jj", ".svn", "node_modules", "__pycache__", ".venv", "venv", ".tox",
        ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".packages", ".cache", ".gradle",
        ".idea", ".eggs", "target", ".next", ".terraform", "bower_components",
    }
)  # fmt: skip
RULES_MOST_BYTES: Final = 100_000
SINGLE_MOST_BYTES: Final = 8 * 1024**2
"""Of a file that is asked for by its name."""


_RULE_CHARS: Final = 200
_RULE_STARS: Final = 8
"""Of one rule: each more makes it take longer to tell that it does not match."""


@dataclass(frozen=True, slots=True)
class Found:
    """A plain file on the way."""

    place: Place
    name: str
    """As it is told."""
    size: int
    modified: int
    """Nanoseconds."""


@dataclass(slots=True)
class Walk:
    """What is left of it."""

    until: float
    """Monotonic seconds."""
    entries: int = 0
    files: int = 0
    stopped: str = ""
    """Why not everything was seen: words after "only a part was looked at, because"."""

    def is_over(self) -> bool:
        if not self.stopped and time.monotonic() > self.until:
            self.stopped = "there was no more time"
        return bool(self.stopped)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    keeps: bool
    folders_only: bool
    whole: bool
    """It is about the path from its own folder, and not about a name anywhere below."""


@dataclass(frozen=True, slots=True)
class _Here:
    place: Place
    depth: int
    rules: tuple[tuple[str, tuple[_Rule, ...]], ...] = field(default_factory=tuple)


def walk(folders: Folders, start: Place, state: Walk) -> Iterator[Found]:
    """The files below a place, in the order of their names; or the place itself, if it is one."""
    if not folders.is_folder(start):
        yield from _single(folders, start)
        return
    waiting = [_Here(start, 0)]
    while waiting and not state.is_over():
        here = waiting.pop()
        entries = _listed(folders, here.place, state)
        if any(name == ".gitignore" for name, _ in entries):
            rules = (*here.rules, (here.place.path, _read_rules(folders, here.place)))
            here = replace(here, rules=rules)
        inner = []
        for name, status in entries:
            path = f"{here.place.path}/{name}".lstrip("/")
            place = Place(here.place.root, path, path)
            if _is_left_out(name, path, status, here):
                continue
            if stat.S_ISDIR(status.st_mode):
                inner.append(_Here(place, here.depth + 1, here.rules))
            elif stat.S_ISREG(status.st_mode):
                if _is_too_much(state):
                    return
                yield Found(place, folders.name_of(place), status.st_size, status.st_mtime_ns)
        waiting.extend(reversed(inner))


def _is_too_much(state: Walk) -> bool:
    state.files += 1
    if state.files > FILES_MOST:
        state.stopped = f"there are more than {FILES_MOST:,} files"
    return state.is_over()


def _is_left_out(name: str, path: str, status: os.stat_result, here: _Here) -> bool:
    is_folder = stat.S_ISDIR(status.st_mode)
    if is_folder and (name in IGNORED_FOLDERS or here.depth >= DEPTH_MOST):
        return True
    return _is_ignored(path, is_folder, here.rules)


def _single(folders: Folders, place: Place) -> Iterator[Found]:
    _, status = folders.read(place, SINGLE_MOST_BYTES)
    yield Found(place, folders.name_of(place), status.st_size, status.st_mtime_ns)


def _listed(folders: Folders, place: Place, state: Walk) -> list[tuple[str, os.stat_result]]:
    found = []
    try:
        with folders.folder(place) as descriptor, os.scandir(descriptor) as entries:
            for entry in entries:
                state.entries += 1
                if state.entries > ENTRIES_MOST:
                    state.stopped = f"there are more than {ENTRIES_MOST:,} files and folders"
                    break
                try:
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
                except OSError:
                    continue
    except OSError:
        return []
    return sorted(found, key=lambda each: each[0])


def _read_rules(folders: Folders, place: Place) -> tuple[_Rule, ...]:
    path = f"{place.path}/.gitignore".lstrip("/")
    try:
        data, _ = folders.read(Place(place.root, path, path), RULES_MOST_BYTES)
    except PlaceError:
        return ()
    lines = data.decode(errors="replace").splitlines()[:1_000]
    return tuple(rule for line in lines if (rule := _rule(line)))


def _rule(line: str) -> _Rule | None:
    text = line.rstrip()
    if not text or text.startswith("#"):
        return None
    keeps = text.startswith("!")
    text = text[1:] if keeps else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    whole = "/" in text
    text = text.lstrip("/")
    if not text or len(text) > _RULE_CHARS or text.count("*") > _RULE_STARS:
        return None
    parts = (_part(part) for part in text.split("/"))
    try:
        pattern = re.compile("/".join(parts).replace("(?:.*)/", "(?:.*/)?"))
    except re.error:
        return None
    return _Rule(pattern, keeps, folders_only, whole)


def _part(part: str) -> str:
    if part == "**":
        return "(?:.*)"
    translated = fnmatch.translate(part)
    return translated.removeprefix("(?s:").removesuffix(r")\Z").replace(".*", "[^/]*")


def _is_ignored(path: str, is_folder: bool, rules: Sequence[tuple[str, tuple[_Rule, ...]]]) -> bool:
    ignored = False
    for base, several in rules:
        below = path[len(base) :].lstrip("/") if base else path
        name = below.rpartition("/")[2]
        for rule in several:
            if rule.folders_only and not is_folder:
                continue
            if rule.pattern.fullmatch(below if rule.whole else name):
                ignored = not rule.keeps
    return ignored
