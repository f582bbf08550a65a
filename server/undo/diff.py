"""Shows what runs changed: a list of paths, and the lines of texts that differ."""

import difflib
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from sayso.server.undo.changes.listing import happened, named
from sayso.server.undo.changes.renames import sort_out
from sayso.server.undo.git.commits import without_commits
from sayso.server.undo.git.repositories import blob_name
from sayso.server.undo.store import UndoStore
from sayso.server.undo.tree import Change, Entry

MOST_LINES: Final = 400
"""Of the whole comparison: ten screens. A person who needs more has the files."""

TEXT_BYTES: Final = 200_000
"""Of one file: comparing takes long for more, and nobody reads it."""

_LINE_CHARS: Final = 400

_UNKEPT: Final = {
    "too_big": "too big to be kept",
    "no_room": "there was no room to keep it",
    "unreadable": "it may not be read",
}


def compared(store: UndoStore, runs: Sequence[str]) -> str:
    """All of it, bounded; empty if nothing changed."""
    lines = list(islice(_lines(store, runs), MOST_LINES + 1))
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = ["… and more."]
    return "\n".join(line[:_LINE_CHARS] for line in lines)


def former(store: UndoStore, runs: Sequence[str]) -> dict[str, str]:
    """What these runs changed, by the paths that are shown: git's name of the content that was
    there before, empty where nothing was. What is not kept is left out."""
    found: dict[str, str] = {}
    for shown, changes in store.joined_changes(store.changed([runs])).items():
        for change in changes:
            if change.before is None:
                found[shown + change.path] = ""
            elif change.before.kind == "file" and not change.before.unkept:
                found[shown + change.path] = blob_name(store.content(change.before))
    return found


def _lines(store: UndoStore, runs: Sequence[str]) -> Iterator[str]:
    by_products = 0
    for shown, changes in store.joined_changes(runs).items():
        beside, commits = without_commits(changes, store.content)
        yield from (f"committed: {first}" for first in commits)
        found = sort_out([change for change in beside if change.told])
        for old, new in found.renamed:
            yield f"renamed: {shown}{named(old)} became {shown}{named(new)}"
        for change in found.rest:
            yield from _of(store, shown + named(change), change)
        by_products += sum(change.matters and change.by_product for change in changes)
    if by_products:
        yield f"and {by_products} by-products: caches, what git ignores or notes for itself"


def _of(store: UndoStore, path: str, change: Change) -> Iterator[str]:
    before, after = change.before, change.after
    yield f"{happened(change)}: {path}{_remark(before, after)}"
    old, new = _text(store, before), _text(store, after)
    if old is not None and new is not None:
        differences = difflib.unified_diff(old, new, lineterm="", n=2)
        yield from (line.rstrip("\r\n") for line in islice(differences, 2, None))


def _remark(before: Entry | None, after: Entry | None) -> str:
    if before and after and before.kind != after.kind:
        return f" ({before.kind} became {after.kind})"
    if before and after and before.content == after.content and before.mode != after.mode:
        return f" (permissions {before.mode:o} became {after.mode:o})"
    reasons = [entry.unkept for entry in (before, after) if entry and entry.unkept]
    return f" ({_UNKEPT[reasons[0]]})" if reasons else ""


def _text(store: UndoStore, entry: Entry | None) -> list[str] | None:
    """Its lines, if it is a text; none for what is not there."""
    if entry is None:
        return []
    if entry.kind != "file" or entry.unkept or entry.size > TEXT_BYTES:
        return None
    content = store.content(entry)
    if b"\0" in content:
        return None
    return content.decode("utf-8", "replace").splitlines(keepends=True)
