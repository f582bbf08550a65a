"""Draws a map of a project: the files and symbols that the others use most, as far as a page holds;
and outlines of single files and folders.

A file counts by the weight of those that use what it defines, as pages of the web are ranked; what
the request speaks of weighs more. What was read of a file is kept for as long as it stays as it is.
"""

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .folders import Folders, PlaceError
from .symbols import MOST_BYTES, Symbol, is_code, symbols
from .walk import Found, Walk, walk

MAP_S: Final = 20.0
MAP_CHARS: Final = 3_200
"""Some 1,000 tokens of code."""
OUTLINE_LINES: Final = 300
SYMBOLS_OF_ONE_FILE: Final = 8
"""In the map: a page is for all."""
DEFINED_MOST: Final = 5
"""Files that define a name: one that more define (`main`, `run`) tells nothing."""
ROUNDS: Final = 12
_DAMPING: Final = 0.85
_HIDDEN, _INNER = 0.3, 0.5
"""What a name of the file's own weighs against others, and what a method against its class: names
of methods are often those of others."""
SHORT: Final = 3
"""Letters: a word of fewer is in too many names."""
_KEPT_FILES: Final = 20_000

_IDENTIFIER: Final = re.compile(rb"[A-Za-z_][A-Za-z0-9_]{2,}")
_WORDS: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read of one file."""

    modified: int
    size: int
    defines: Sequence[Symbol]
    uses: frozenset[bytes]


_known: dict[tuple[int, str, str], _Known] = {}
"""By root, the name of that, and path."""
_maps: dict[object, str] = {}


def outline(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """What a file, or each file of a folder, defines."""
    start = folders.find(str(request.get("path") or "."))
    state = Walk(time.monotonic() + MAP_S)
    lines: list[str] = []
    for file in walk(folders, start, state):
        if not is_code(file.name):
            continue
        known = _read(file, folders)
        if known and known.defines:
            lines += [file.name, *map(_line, known.defines)]
        if len(lines) > OUTLINE_LINES:
            lines = [
                *lines[:OUTLINE_LINES],
                "[more is not shown: give one file]",
            ]
            break
    if state.stopped:
        lines.append(f"[only a part was looked at, because {state.stopped}]")
    return {"text": "\n".join(lines) or "Nothing is defined there that a grammar here can read."}


def repo_map(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """The map."""
    start = folders.find(str(request.get("path") or "."))
    words = map(str.lower, _WORDS.findall(str(request.get("about") or "")))
    about = tuple(sorted({word for word in words if len(word) >= SHORT}))
    state = Walk(time.monotonic() + min(MAP_S, float(request.get("seconds", MAP_S))))
    files: dict[str, _Known] = {}
    others: Counter[str] = Counter()
    for file in walk(folders, start, state):
        if is_code(file.name) and file.size <= MOST_BYTES:
            if known := _read(file, folders):
                files[file.name] = known
        else:
            others[file.name.rpartition(".")[2] if "." in file.name else "others"] += 1
    key = (folders.roots[start.root], start.path, about, _fingerprint(files))
    if key not in _maps:
        _maps.clear()
        _maps[key] = _drawn(files, about)
    told = _maps[key]
    if others:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.most_common(6))
        told += f"\n[beside {len(files)} files of code: {kinds}]"
    if state.stopped:
        told += f"\n[only a part was looked at, because {state.stopped}]"
    text = told.strip() or "There is no code that a grammar here can read."
    return {"text": text, "files": len(files)}


def _fingerprint(files: Mapping[str, _Known]) -> int:
    return hash(tuple((name, known.modified, known.size) for name, known in files.items()))


def _read(file: Found, folders: Folders) -> _Known | None:
    key = (file.place.root, folders.roots[file.place.root], file.place.path)
    known = _known.get(key)
    if known and (known.modified, known.size) == (file.modified, file.size):
        return known
    try:
        data, status = folders.read(file.place, MOST_BYTES)
    except PlaceError:
        return None
    known = _Known(
        status.st_mtime_ns,
        status.st_size,
        symbols(file.name, data),
        frozenset(_IDENTIFIER.findall(data)),
    )
    if len(_known) >= _KEPT_FILES:
        _known.clear()
    _known[key] = known
    return known


def _drawn(files: Mapping[str, _Known], about: Sequence[str]) -> str:
    where = _definitions(files)
    weights = _ranks(files, where, about)
    used = Counter(
        name for known in files.values() for use in known.uses if (name := use.decode()) in where
    )
    chosen: dict[str, list[Symbol]] = {}
    room = MAP_CHARS
    for name, _ in sorted(weights.items(), key=lambda each: (-each[1], each[0])):
        best = sorted(
            files[name].defines,
            key=lambda one: (-_worth(one, used, about), one.depth, one.line),
        )[:SYMBOLS_OF_ONE_FILE]
        if not files[name].size:  # such as an empty __init__.py, which all imports go through
            continue
        best.sort(key=lambda one: one.line)
        length = len(name) + 1 + sum(len(_line(one)) + 1 for one in best)
        if length > room:
            continue
        room -= length
        chosen[name] = best
        if room < len("a.py 1|x"):
            break
    return "\n".join(line for name in sorted(chosen) for line in (name, *map(_line, chosen[name])))


def _line(one: Symbol) -> str:
    return f"{one.line:>4}|{'  ' * one.depth}{one.signature}"


def _worth(one: Symbol, used: Counter[str], about: Iterable[str]) -> float:
    spoken = 20.0 if any(word in one.name.lower() for word in about) else 0.0
    hidden = _HIDDEN if one.name.startswith("_") else 1.0
    return (math.sqrt(used[one.name]) * _INNER**one.depth + spoken) * hidden


def _definitions(files: Mapping[str, _Known]) -> dict[str, list[str]]:
    """By name, the files that define it, where these are few."""
    where: dict[str, list[str]] = defaultdict(list)
    for name, known in files.items():
        for symbol in {one.name for one in known.defines if len(one.name) >= SHORT}:
            where[symbol].append(name)
    return {symbol: several for symbol, several in where.items() if len(several) <= DEFINED_MOST}


def _ranks(
    files: Mapping[str, _Known], where: Mapping[str, Sequence[str]], about: Sequence[str]
) -> dict[str, float]:
    bytes_of = {symbol.encode(): several for symbol, several in where.items()}
    edges: dict[str, Counter[str]] = {}
    for name, known in files.items():
        to: Counter[str] = Counter()
        for use in known.uses & bytes_of.keys():
            several = bytes_of[use]
            for target in several:
                if target != name:
                    to[target] += 1 / len(several)  # type: ignore[assignment]
        edges[name] = to
    start = {name: 1.0 + 30.0 * _speaks_of(name, files[name], about) for name in files}
    whole = sum(start.values()) or 1.0
    start = {name: value / whole for name, value in start.items()}
    weights = dict(start)
    for _ in range(ROUNDS):
        fresh = {name: (1 - _DAMPING) * value for name, value in start.items()}
        for name, to in edges.items():
            total = sum(to.values())
            if not total:
                continue
            share = _DAMPING * weights[name] / total
            for target, count in to.items():
                fresh[target] += share * count
        weights = fresh
    return weights


def _speaks_of(name: str, known: _Known, about: Sequence[str]) -> float:
    if not about:
        return 0.0
    lowered = name.lower()
    in_name = sum(word in lowered for word in about)
    defined = {one.name.lower() for one in known.defines}
    return in_name + 2.0 * sum(word in defined for word in about)
