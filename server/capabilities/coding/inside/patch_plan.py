"""Works out what a patch would make of the files, without changing any: all of it, or why not."""

import difflib
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .folders import Folders, Place, PlaceError
from .matching import AmbiguousError, Found, UnclearIndentError, find, find_at
from .near_miss import at_places, is_there_already, nearest
from .patch_parser import FileEdit, Hunk, PatchError, parse
from .syntax import new_errors
from .text_file import MOST_BYTES, Line, NoTextError, TextFile, new_text, read_text

CONTEXT = 3
"""Unchanged lines around a change, as everybody shows them."""
COMPARED_LINES = 5_000
"""Of a file that is written whole: comparing more takes too long, so all of it is shown."""

_SIGN = r"^\s*(?:#|//|/\*|<!--|--|;|\*|\{/\*|%)"
_REST = r"(?:rest|remainder|remaining|existing|previous|other|unchanged)"
_PLACEHOLDER = re.compile(
    rf"(?:{_SIGN}|^)\s*(?:\.{{3}}|…)\s*\(?(?:the\s+)?"
    r"(?:rest|existing|remaining|remainder|unchanged|same|previous|other|omitted|more|code|keep)\b"
    rf"|{_SIGN}\s*\(?(?:the\s+)?{_REST}\b[^.]*?"
    r"(?:unchanged|omitted|as before|stays|remains|goes here|here)"
    rf"|{_SIGN}\s*(?:rest|remainder) of (?:the |this )?(?:code|file|class|function|method)\b",
    re.IGNORECASE,
)
"""What stands for lines that a model did not write out."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one file. Without `before` it is new; without `after` it goes."""

    place: Place
    before: bytes | None
    after: bytes | None
    mode: int = 0
    """Of the file that its contents come from; 0 if it is new."""


@dataclass(slots=True)
class Plan:
    """What a patch would do, or why it does not fit."""

    changes: list[Change] = field(default_factory=list)
    diff: str = ""
    notes: list[str] = field(default_factory=list)
    """What the model should know of how it fitted, a sentence each."""
    problems: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """The files that it did not fit."""
    seen: dict[str, str] = field(default_factory=dict)
    """By name, the hash of each file that was read as it was."""

    @property
    def fits(self) -> bool:
        return not self.problems


class _MisfitError(Exception):
    """It does not fit this file; the message says why, with what is near."""


def plan(text: str, folders: Folders, seen: Mapping[str, str]) -> Plan:
    """What a patch would do. `seen`: the hashes of files as the model saw them, by name."""
    made = Plan()
    try:
        edits = parse(text)
    except PatchError as problem:
        made.problems.append(str(problem))
        return made
    parts = []
    for edit in edits:
        try:
            parts.append(_file(edit, folders, seen, made))
        except (_MisfitError, PlaceError) as problem:
            made.problems.append(str(problem))
            made.failed.append(edit.path)
        except NoTextError as problem:
            made.problems.append(f"{edit.path} {problem}, so it can't be patched.")
            made.failed.append(edit.path)
    made.diff = "".join(parts)
    _check_that_apart(made)
    if made.fits and not made.diff:
        made.problems.append("It changes nothing: the files are like that already.")
    return made


def _check_that_apart(made: Plan) -> None:
    places = [(change.place.root, change.place.path) for change in made.changes]
    if len(set(places)) < len(places):
        made.problems.append("Two parts of it are about one file; say once what becomes of it.")


def _file(edit: FileEdit, folders: Folders, seen: Mapping[str, str], made: Plan) -> str:
    place = folders.find(edit.path, missing=edit.kind == "add")
    name = _shown(folders.name_of(place))
    before, mode = _before(folders, place, edit)
    if before is not None:
        made.seen[name] = hash_of(before)
    old = read_text(before) if before is not None else TextFile(())
    if edit.kind == "delete":
        made.changes.append(Change(place, before, None, mode))
        return _diff(name, "", [(0, len(old.lines), ())], old, TextFile(()))
    if edit.kind == "add":
        new, ops = _whole(edit, old, before)
    else:
        ops = list(_operations(edit, old, name, made))
        new = _applied(ops, old, edit.hunks)
    _refuse_placeholders(edit, old)
    if name in seen and name in made.seen and seen[name] != made.seen[name]:
        raise _MisfitError(_changed_since(name, ops, old))
    after = new.bytes()
    target = place
    if edit.move_to:
        target = folders.find(edit.move_to, missing=True)
        if _is_there(folders, target):
            raise _MisfitError(f"{edit.move_to} is there already, so {name} can't be moved there.")
        made.changes.append(Change(place, before, None, mode))
        made.changes.append(Change(target, None, after, mode))
    elif after != before:
        made.changes.append(Change(place, before, after, mode))
    becomes = _shown(folders.name_of(target))
    made.notes += new_errors(becomes, old.whole, new.whole)
    return _diff(name, becomes, ops, old, new, is_new=before is None)


def _shown(name: str) -> str:
    """The same name, if a person sees all of it in the head of a difference, on one line."""
    if not name.isprintable():
        raise _MisfitError(f"{name!r} is a name that can't be shown as it is, so nothing was done.")
    return name


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_there(folders: Folders, place: Place) -> bool:
    try:
        folders.find(place.shown)
    except PlaceError:
        return False
    return True


def _before(folders: Folders, place: Place, edit: FileEdit) -> tuple[bytes | None, int]:
    if edit.kind == "add" and not _is_there(folders, place):
        return None, 0
    data, status = folders.read(place, MOST_BYTES)
    if edit.only_new and data:
        raise _MisfitError(
            f"{place.shown} is there already: SEARCH must hold the lines that are to be replaced."
        )
    return data, status.st_mode & 0o7777


_Operation = tuple[int, int, Sequence[str]]
"""The lines from one to before another become these."""


def _whole(
    edit: FileEdit, old: TextFile, before: bytes | None
) -> tuple[TextFile, list[_Operation]]:
    texts = edit.lines
    if len(old.lines) > COMPARED_LINES or len(texts) > COMPARED_LINES or before is None:
        ops: list[_Operation] = [(0, len(old.lines), texts)]
    else:
        matcher = difflib.SequenceMatcher(None, old.texts, texts, autojunk=False)
        codes = matcher.get_opcodes()
        ops = [
            (one, two, texts[three:four]) for tag, one, two, three, four in codes if tag != "equal"
        ]
    new = _applied(ops, old, ())
    if before is None:
        new = new_text(texts)
    if not edit.final_newline and new.lines:
        new = _with(new, (*new.lines[:-1], Line(new.lines[-1].text, "")))
    return new, ops


def _with(file: TextFile, lines: tuple[Line, ...]) -> TextFile:
    return TextFile(lines, file.mark, file.encoding)


def _operations(edit: FileEdit, old: TextFile, name: str, made: Plan) -> Iterator[_Operation]:
    """What the hunks do, in the order of their places."""
    texts = old.texts
    exact = [find_at(hunk, texts) for hunk in edit.hunks]
    found: list[tuple[Found, Hunk]] = []
    if edit.hunks and all(exact):  # as it was printed: all of it stands where it says
        found = [(one, hunk) for one, hunk in zip(exact, edit.hunks, strict=True) if one]
    else:
        taken: list[range] = []
        for number, hunk in enumerate(edit.hunks, 1):
            one = _found(hunk, texts, taken, name, f" (part {number} of {len(edit.hunks)})")
            taken.append(range(one.start, one.start + len(hunk.old)))
            if one.how != "exactly":
                made.notes.append(
                    f"{name}, line {one.start + 1}: it fitted {one.how}; the lines are written as"
                    " the file has them."
                )
            found.append((one, hunk))
    found.sort(key=lambda each: each[0].start)
    for one, hunk in found:
        yield from _of_hunk(one, hunk)


def _found(hunk: Hunk, texts: Sequence[str], taken: Sequence[range], name: str, part: str) -> Found:
    part = "" if part.endswith("of 1)") else part
    if not any(text.strip() for text in hunk.old):
        if not texts or hunk.at_end:
            return Found(len(texts), "exactly", tuple(hunk.new))
        raise _MisfitError(
            f"{name}{part}: it says only what to add, and not where: give at least one unchanged"
            " line that stands beside it."
        )
    try:
        found = find(hunk, texts, taken)
    except AmbiguousError as several:
        raise _MisfitError(f"{name}{part}: {at_places(several.places, texts)}") from None
    except UnclearIndentError as unclear:
        raise _MisfitError(
            f"{name}{part}: it fits at line {unclear.place + 1} but for its indentation, and how"
            f" the added lines are indented there can't be told. {nearest(hunk, texts)}"
        ) from None
    if found is None:
        already = "It is there already. " if is_there_already(hunk, texts) else ""
        raise _MisfitError(f"{name}{part}: it does not fit. {already}{nearest(hunk, texts)}")
    return found


def _of_hunk(found: Found, hunk: Hunk) -> Iterator[_Operation]:
    """What a hunk changes, without what it leaves as it is."""
    at, added = 0, list[str]()
    for text, kept in zip((*found.new, ""), (*hunk.kept, len(hunk.old)), strict=True):
        if kept < 0:
            added.append(text)
            continue
        if added or kept > at:
            yield found.start + at, found.start + kept, tuple(added)
        at, added = kept + 1, []


def _applied(ops: Iterable[_Operation], old: TextFile, hunks: Iterable[Hunk]) -> TextFile:
    lines: list[Line] = []
    at = 0
    for start, stop, texts in sorted(ops, key=lambda op: op[0]):
        lines += old.lines[at:start]
        lines += [Line(text, old.end) for text in texts]
        at = stop
    lines += old.lines[at:]
    # What follows a line that had no end is on a line of its own, and the last is as it was.
    lines = [line if line.end else Line(line.text, old.end) for line in lines]
    final = next((hunk.final_newline for hunk in hunks if hunk.final_newline is not None), None)
    if not (old.ends_with_newline if final is None else final) and lines:
        lines[-1] = Line(lines[-1].text, "")
    return _with(old, tuple(lines))


def _refuse_placeholders(edit: FileEdit, old: TextFile) -> None:
    there = set(old.texts)
    added = [
        text
        for hunk in edit.hunks
        for text, kept in zip(hunk.new, hunk.kept, strict=True)
        if kept < 0
    ]
    for text in (*added, *edit.lines):
        if text not in there and _PLACEHOLDER.match(text):
            raise _MisfitError(
                f"{edit.path}: the line {text.strip()[:80]!r} stands for lines that are not written"
                " out: write them out, or leave them alone."
            )


def _changed_since(name: str, ops: Sequence[_Operation], old: TextFile) -> str:
    start = max(0, min((op[0] for op in ops), default=0) - CONTEXT)
    stop = min(len(old.lines), max((op[1] for op in ops), default=0) + CONTEXT, start + 40)
    listed = "\n".join(f"{n + 1}|{old.lines[n].text}" for n in range(start, stop))
    return (
        f"{name} has changed since you read it, so nothing was done. Where you want to change it,"
        f" it is now:\n{listed}\nIf the patch is still right, send it again."
    )


# --- the diff ---


def difference(name: str, target: str, old: TextFile, new: TextFile) -> str:
    """What a person is shown of a file that becomes another."""
    matcher = difflib.SequenceMatcher(None, old.texts, new.texts, autojunk=False)
    codes = matcher.get_opcodes()
    ops = [(a, b, new.texts[c:d]) for tag, a, b, c, d in codes if tag != "equal"]
    return _diff(name, target, ops, old, new)


def _diff(
    name: str,
    target: str,
    ops: Sequence[_Operation],
    old: TextFile,
    new: TextFile,
    *,
    is_new: bool = False,
) -> str:
    """What a person is shown."""
    if not ops and name == target and old == new:
        return ""
    heads = ["--- /dev/null" if is_new else f"--- a/{name}"]
    heads.append(f"+++ b/{target}" if target else "+++ /dev/null")
    if not ops and old.ends_with_newline != new.ends_with_newline:
        ops = [(len(old.lines) - 1, len(old.lines), (old.lines[-1].text,))]
    return "\n".join((*heads, *_hunks(sorted(ops, key=lambda op: op[0]), old, new))) + "\n"


def _hunks(ops: Sequence[_Operation], old: TextFile, new: TextFile) -> Iterator[str]:
    shift = 0
    for group in _grouped(ops):
        start = max(0, group[0][0] - CONTEXT)
        stop = min(len(old.lines), group[-1][1] + CONTEXT)
        body, at = list[str](), start
        for first, last, texts in group:
            body += [f" {line.text}" for line in old.lines[at:first]]
            body += _side("-", old, range(first, last))
            new_first = first + shift
            body += _side("+", new, range(new_first, new_first + len(texts)))
            shift += len(texts) - (last - first)
            at = last
        body += [f" {line.text}" for line in old.lines[at:stop]]
        if at < stop == len(old.lines) and not old.lines[-1].end:
            body.append("\\ No newline at end of file")
        added = sum(len(op[2]) for op in group) - sum(op[1] - op[0] for op in group)
        begins = start + shift - added
        count, made = stop - start, stop - start + added
        yield f"@@ -{start + bool(count)},{count} +{begins + bool(made)},{made} @@"
        yield from body


def _side(sign: str, file: TextFile, numbers: range) -> Iterator[str]:
    for number in numbers:
        line = file.lines[number]
        yield f"{sign}{line.text}"
        if not line.end:
            yield "\\ No newline at end of file"


def _grouped(ops: Sequence[_Operation]) -> Iterator[list[_Operation]]:
    """Changes that are shown together, because they are near each other."""
    group: list[_Operation] = []
    for op in ops:
        if group and op[0] - group[-1][1] > 2 * CONTEXT:
            yield group
            group = []
        group.append(op)
    if group:
        yield group
