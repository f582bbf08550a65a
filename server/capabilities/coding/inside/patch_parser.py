"""Reads a patch in the forms that models write. Pure.

    *** Begin Patch                          path/of/file.py            --- a/file.py
    *** Update File: path/of/file.py         <<<<<<< SEARCH             +++ b/file.py
    @@ def name                              old lines                  @@ -1,3 +1,3 @@
     context                                 =======                     context
    -old                                     new lines                  -old
    +new                                     >>>>>>> REPLACE            +new
    *** End Patch

With `*** Add File:` comes a whole file, which is the easiest to write and replaces what is there;
`*** Delete File:` and `*** Move to:` say what they do.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

FILES_MOST = 200
"""In one patch: more is a task for a program, whose code is shorter to read."""
HUNKS_MOST = 1_000

Kind = Literal["update", "add", "delete"]


class PatchError(Exception):
    """This is no patch that can be read; the message says what to write instead."""


@dataclass(slots=True)
class Hunk:
    """Lines that stand together in a file, before and after."""

    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    """For each line of `new`, which line of `old` it is; -1 if it is added."""
    below: list[str] = field(default_factory=list)
    """Lines that stand before it, such as the function that it is in; from the outermost."""
    at: int = 0
    """The number of its first line, if the patch says so; 0 if it does not."""
    at_end: bool = False
    """It is the end of the file."""
    final_newline: bool | None = None
    """Whether the last line then ends with a newline, if the patch says so."""
    is_block: bool = False
    """It was written as search and replace."""

    def keep(self, text: str) -> None:
        self.kept.append(len(self.old))
        self.old.append(text)
        self.new.append(text)

    def drop(self, text: str) -> None:
        self.old.append(text)

    def add(self, text: str) -> None:
        self.kept.append(-1)
        self.new.append(text)


@dataclass(slots=True)
class FileEdit:
    """What becomes of one file."""

    path: str
    kind: Kind = "update"
    hunks: list[Hunk] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """Of a whole file."""
    move_to: str = ""
    final_newline: bool = True
    """Of a whole file."""
    only_new: bool = False
    """The whole file must not be there yet."""


_MARK = re.compile(r"\*\*\*\s*(Begin Patch|End Patch|End of File|Move to:|"
                   r"(?:Add|Update|Delete|Write|Create|Replace) File:)\s*(.*?)\s*$")  # fmt: skip
_RANGE = re.compile(r"@@+ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@+ ?(.*)$")
_SEARCH = re.compile(r"<{5,9}\s*(?:SEARCH|ORIGINAL|HEAD)?\s*$")
_MIDDLE = re.compile(r"={5,9}\s*$")
_REPLACE = re.compile(r">{5,9}\s*(?:REPLACE|UPDATED)?\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_NO_NEWLINE = "\\ No newline at end of file"

HELP = (
    "Write *** Begin Patch, then for each file *** Update File: PATH with lines that begin with a"
    " space (unchanged), - (removed) or + (added), or *** Add File: PATH with the whole file in"
    " lines that begin with +; then *** End Patch."
)


def parse(text: str) -> list[FileEdit]:
    """The edits of a patch, in order; those of one file together. Raises PatchError."""
    lines = [line.removesuffix("\r") for line in text.strip("\n").split("\n")]
    if any(_SEARCH.fullmatch(line) for line in lines):
        edits = list(_blocks(lines))
    elif any(_MARK.match(line) and "File:" in line for line in lines):
        edits = list(_marked(lines))
    elif any(line.startswith("+++ ") for line in lines):
        edits = list(_unified(lines))
    else:
        raise PatchError(f"No file is named in it. {HELP}")
    merged = _merged(edits)
    if len(merged) > FILES_MOST or sum(len(edit.hunks) for edit in merged) > HUNKS_MOST:
        raise PatchError(f"It changes too much at once: {FILES_MOST} files at most.")
    for edit in merged:
        _check(edit)
    return merged


def _merged(edits: Sequence[FileEdit]) -> list[FileEdit]:
    found: dict[str, FileEdit] = {}
    for edit in edits:
        before = found.get(edit.path)
        if before is None:
            found[edit.path] = edit
        elif before.kind == edit.kind == "update" and not (before.move_to and edit.move_to):
            before.hunks += edit.hunks
            before.move_to = before.move_to or edit.move_to
        else:
            raise PatchError(f"{edit.path} is in it twice; say once what becomes of it.")
    return list(found.values())


def _check(edit: FileEdit) -> None:
    if not edit.path or "\0" in edit.path + edit.move_to:
        raise PatchError(f"A file has no name. {HELP}")
    if edit.kind == "update" and not edit.hunks and not edit.move_to:
        raise PatchError(f"Nothing is said to change in {edit.path}. {HELP}")
    for hunk in edit.hunks:
        if hunk.old == hunk.new and hunk.final_newline is None:
            raise PatchError(
                f"A part for {edit.path} changes nothing: mark removed lines with - and added ones"
                " with +."
            )


# --- *** Begin Patch ---


def _marked(lines: Sequence[str]) -> Iterator[FileEdit]:
    edit: FileEdit | None = None
    body: list[str] = []
    for line in lines:
        found = _MARK.match(line)
        if found is None or (found[1] == "End of File" and edit):
            body.append(line)
            continue
        if found[1] == "Move to:" and edit:
            edit.move_to = _name(found[2])
            continue
        if edit:
            yield _filled(edit, body)
        edit, body = None, []
        if found[1].endswith("File:"):
            verb = found[1].split()[0]
            kind: Kind = {"Update": "update", "Delete": "delete"}.get(verb, "add")  # type: ignore[assignment]
            edit = FileEdit(_name(found[2]), kind)
    if edit:
        yield _filled(edit, body)


def _filled(edit: FileEdit, body: list[str]) -> FileEdit:
    if edit.kind == "add":
        edit.lines, edit.final_newline = _whole(body)
    elif edit.kind == "update":
        edit.hunks = list(_hunks(body, edit.path))
    return edit


def _whole(body: list[str]) -> tuple[list[str], bool]:
    """The lines of a whole file, with a + before each or, as small models write it, without."""
    body = [line for line in body if not _MARK.match(line)]
    final = not (body and body[-1] == _NO_NEWLINE)
    body = body if final else body[:-1]
    while body and not body[-1].strip():
        body.pop()
    if body and all(line.startswith("+") or not line.strip() for line in body):
        return [line[1:] for line in body], final
    if body and _FENCE.match(body[0]):
        body = body[1:-1] if _FENCE.fullmatch(body[-1]) else body[1:]
    return body, final


def _hunks(body: Sequence[str], path: str) -> Iterator[Hunk]:
    hunk, empty = Hunk(), 0
    for number, line in enumerate(body):
        if not line:  # an empty line of the file, or one before the next mark
            empty += 1 if hunk.old or hunk.new else 0
            continue
        if line.startswith("@@"):
            if hunk.old or hunk.new:
                yield hunk
                hunk = Hunk()
            _head(hunk, line)
            empty = 0
            continue
        for _ in range(empty if not _MARK.match(line) else 0):
            hunk.keep("")
        empty = 0
        if _MARK.match(line):
            hunk.at_end = True
        elif line == _NO_NEWLINE:
            hunk.final_newline = body[number - 1].startswith("-")
        else:
            _take(hunk, line, path)
    if hunk.old or hunk.new:
        yield hunk


def _take(hunk: Hunk, line: str, path: str) -> None:
    match line[0]:
        case "-":
            hunk.drop(line[1:])
        case "+":
            hunk.add(line[1:])
        case " ":
            hunk.keep(line[1:])
        case "\t":  # whose first sign was forgotten
            hunk.keep(line)
        case _:
            raise PatchError(
                f"In the part for {path}, the line {line[:60]!r} begins with none of space, - and"
                " +."
            )


def _head(hunk: Hunk, line: str) -> None:
    if found := _RANGE.fullmatch(line):
        hunk.at = int(found[1][:9])
    elif named := line.strip("@").strip():
        hunk.below.append(named)


# --- --- and +++ ---


def _unified(lines: Sequence[str]) -> Iterator[FileEdit]:
    edit: FileEdit | None = None
    body: list[str] = []
    old = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        follows = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("--- ") and follows.startswith("+++ "):
            if edit:
                yield _of_unified(edit, body)
            old, new = _side(line), _side(follows)
            kind: Kind = "add" if not old else "update" if new else "delete"
            edit, body = FileEdit(old or new, kind), []
            if old and new and old != new:
                edit.move_to = new
            number += 2
            continue
        if line.startswith("diff --git ") and edit:
            yield _of_unified(edit, body)
            edit, body = None, []
        elif edit and (line[:1] in (" ", "+", "-", "@", "\\", "\t") or not line):
            body.append(line)
        number += 1
    if edit:
        yield _of_unified(edit, body)


def _of_unified(edit: FileEdit, body: list[str]) -> FileEdit:
    if edit.kind == "add":
        edit.lines, edit.final_newline = _whole([b for b in body if not b.startswith("@@")])
    elif edit.kind == "update":
        edit.hunks = list(_hunks(body, edit.path))
    return edit


def _side(line: str) -> str:
    name = line[4:].split("\t", maxsplit=1)[0].strip()
    return "" if name == "/dev/null" else _name(re.sub(r"^[ab]/", "", name))


# --- <<<<<<< SEARCH ---


def _blocks(lines: Sequence[str]) -> Iterator[FileEdit]:
    path, number = "", 0
    while number < len(lines):
        line = lines[number]
        if not _SEARCH.fullmatch(line):
            if line.strip() and not _FENCE.match(line):
                path = _name(_MARK.sub(r"\2", line))
            number += 1
            continue
        middle = _next(lines, number + 1, _MIDDLE, "=======", path)
        end = _next(lines, middle + 1, _REPLACE, ">>>>>>> REPLACE", path)
        if any(_MIDDLE.fullmatch(each) for each in lines[middle + 1 : end]):
            raise PatchError(
                f"A block for {path} has two lines =======, so its halves can't be told apart: use"
                " *** Begin Patch for it."
            )
        if not path:
            raise PatchError("The name of the file must stand on the line before <<<<<<< SEARCH.")
        old, new = list(lines[number + 1 : middle]), list(lines[middle + 1 : end])
        yield _block(path, old, new)
        number = end + 1


def _block(path: str, old: list[str], new: list[str]) -> FileEdit:
    if not old:
        return FileEdit(path, "add", lines=new, only_new=True)
    hunk = Hunk(is_block=True)
    head = _alike(old, new)
    tail = _alike(old[head:][::-1], new[head:][::-1])
    for text in old[:head]:
        hunk.keep(text)
    for text in old[head : len(old) - tail]:
        hunk.drop(text)
    for text in new[head : len(new) - tail]:
        hunk.add(text)
    for text in old[len(old) - tail :]:
        hunk.keep(text)
    return FileEdit(path, hunks=[hunk])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _next(lines: Sequence[str], start: int, wanted: re.Pattern[str], shown: str, path: str) -> int:
    for number in range(start, len(lines)):
        if wanted.fullmatch(lines[number]):
            return number
        if _SEARCH.fullmatch(lines[number]):
            break
    raise PatchError(f"A block for {path or 'a file'} lacks its line {shown}.")


def _name(text: str) -> str:
    """A path as it was meant: without quotes, marks of headings, and a comment's signs."""
    text = re.sub(r"^(?:#+|//|File:|Path:|Filename:)\s*", "", text.strip())
    return text.strip().strip("`*\"'").rstrip(":").strip()
