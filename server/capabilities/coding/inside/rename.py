"""Works out what a computed edit or another name for a symbol changes, as a difference.

In Python jedi knows which names mean the same; elsewhere nobody here does, so the places are
listed, and the model says which it means.
"""

import keyword
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from .folders import Folders, Place, PlaceError
from .patch_plan import difference, hash_of
from .symbols import ending_of, is_code, symbols
from .text_file import MOST_BYTES, NoTextError, TextFile, read_text, split
from .walk import Walk, walk

RENAME_S: Final = 25.0
PLACES_MOST: Final = 60
_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


class RenameError(Exception):
    """Nothing is changed so; the message says why, and what to do."""


def edit(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """What replacing a text by another makes of a file."""
    place = folders.find(str(request["path"]))
    data, _ = folders.read(place, MOST_BYTES)
    name = folders.name_of(place)
    file = _text(name, data)
    old, new = (str(request[key]).replace("\r\n", "\n") for key in ("old", "new"))
    whole = "\n".join(file.texts) + ("\n" if file.ends_with_newline and file.lines else "")
    count = whole.count(old) if old else 0
    if not count:
        raise RenameError(f"{name} does not hold that text, letter by letter; read it again.")
    if count > 1 and not request.get("all"):
        lines = [
            whole[: found.start()].count("\n") + 1 for found in re.finditer(re.escape(old), whole)
        ]
        where = ", ".join(map(str, lines[:PLACES_MOST]))
        raise RenameError(
            f"{name} holds that {count} times, in lines {where}; give more of it, or all."
        )
    made = _with(file, whole.replace(old, new))
    return {"diff": difference(name, name, file, made), "seen": {name: hash_of(data)}}


def rename(request: Mapping[str, Any], folders: Folders) -> Mapping[str, Any]:
    """What another name for a symbol changes, in all files."""
    symbol, new = str(request["symbol"]), str(request["new"])
    for name in (symbol, new):
        if not _NAME.fullmatch(name) or len(name) > 200:  # noqa: PLR2004 - nobody writes a longer one
            raise RenameError(f"{name[:60]!r} is no name of a symbol.")
    found = _definitions(symbol, request, folders)
    python = [each for each in found if ending_of(each[0].path) in (".py", ".pyi")]
    if not python or len(python) < len(found):
        raise RenameError(_listed(symbol, folders))
    if keyword.iskeyword(new):
        raise RenameError(f"{new} is a word of Python's own.")
    if len(python) > 1:
        places = ", ".join(f"{folders.name_of(place)}:{line}" for place, line in python)
        raise RenameError(f"{symbol} is defined at {places}: give path and line of the one meant.")
    return _renamed(*python[0], symbol, new, folders)


def _definitions(
    symbol: str, request: Mapping[str, Any], folders: Folders
) -> list[tuple[Place, int]]:
    start = folders.find(str(request.get("path") or "."))
    line = int(request.get("line") or 0)
    if line and not folders.is_folder(start):
        return [(start, line)]
    found = []
    for file in walk(folders, start, Walk(time.monotonic() + RENAME_S)):
        if is_code(file.name):
            try:
                data, _ = folders.read(file.place, MOST_BYTES)
            except PlaceError:
                continue
            if symbol.encode() in data:
                defined = symbols(file.name, data)
                found += [(file.place, one.line) for one in defined if one.name == symbol]
    return found


def _renamed(place: Place, line: int, symbol: str, new: str, folders: Folders) -> Mapping[str, Any]:
    import jedi

    shown = Path(folders.roots[place.root])
    root = shown.resolve()  # as the paths are that come back
    text = _text(place.shown, folders.read(place, MOST_BYTES)[0])
    if line > len(text.lines):
        raise RenameError(f"{place.shown} has no line {line}.")
    at = re.search(rf"\b{re.escape(symbol)}\b", text.lines[line - 1].text)
    if at is None:
        raise RenameError(f"{symbol} does not stand in line {line} of {place.shown}.")
    project = jedi.Project(str(root), load_unsafe_extensions=False)
    script = jedi.Script(
        path=str(root / place.path), project=project, environment=jedi.InterpreterEnvironment()
    )
    try:
        changed = script.rename(line, at.start(), new_name=new).get_changed_files()
    except jedi.RefactoringError as problem:
        raise RenameError(f"{symbol} can't be renamed: {problem}.") from None
    parts, seen = [], {}
    for path, file in sorted(changed.items()):
        named = folders.find(str(shown / path.relative_to(root)))
        name = folders.name_of(named)
        data, _ = folders.read(named, MOST_BYTES)
        before = _text(name, data)
        parts.append(difference(name, name, before, _with(before, file.get_new_code())))
        seen[name] = hash_of(data)
    return {"diff": "".join(parts), "seen": seen}


def _listed(symbol: str, folders: Folders) -> str:
    """Where a name stands, for who knows what is meant."""
    pattern, lines = re.compile(rf"\b{re.escape(symbol)}\b"), list[str]()
    for file in walk(folders, folders.find("."), Walk(time.monotonic() + RENAME_S)):
        if not is_code(file.name):
            continue
        try:
            text = _text(file.name, folders.read(file.place, MOST_BYTES)[0])
        except PlaceError:
            continue
        lines += [
            f"{file.name}:{number}|{line.text.strip()[:120]}"
            for number, line in enumerate(text.lines, 1)
            if pattern.search(line.text)
        ]
    if not lines:
        return f"{symbol} is defined nowhere here."
    more = [f"and {len(lines) - PLACES_MOST} more"] if len(lines) > PLACES_MOST else []
    told = (
        f"Only names of Python are renamed by what they mean. {symbol} stands in these lines;"
        " change those that are meant with a patch:"
    )
    return "\n".join((told, *lines[:PLACES_MOST], *more))


def _text(name: str, data: bytes) -> TextFile:
    try:
        return read_text(data)
    except NoTextError as problem:
        raise PlaceError(f"{name} {problem}, so it can't be edited.") from None


def _with(file: TextFile, text: str) -> TextFile:
    """The same file with other contents, written as it is written."""
    lines = split(text.replace("\r\n", "\n"))
    same = tuple(type(line)(line.text, file.end if line.end else "") for line in lines)
    return TextFile(same, file.mark, file.encoding)
