"""Lists what a run changed, as it is reported. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sayso.server.store.changes import Changes, Renamed
from sayso.server.undo.changes.renames import sort_out
from sayso.server.undo.tree import Change

LISTED: Final = 100
"""Paths that a run's report names; nobody reads more, and messages and the log stay small."""

COMMITS_LISTED: Final = 20
"""First lines of commits: what makes more rewrites a history."""

LISTED_CHARS: Final = 8_000
"""All these paths together: an eighth of a client's longest message."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that happened, as it is shown."""

    kind: str
    """`added`, `changed`, `deleted` or `renamed`."""
    path: str
    old: str = ""
    """The path that a renamed one had."""


def lines_of(shown: str, changes: Sequence[Change]) -> list[Line]:
    """What a person would be told of one folder's changes, by path. `shown`: what stands before a
    path in it when it is shown."""
    found = sort_out([change for change in changes if change.told])
    lines = [Line("renamed", shown + named(new), shown + named(old)) for old, new in found.renamed]
    lines += [Line(happened(change), shown + named(change)) for change in found.rest]
    return sorted(lines, key=lambda line: line.path)


def listed(lines: Sequence[Line], by_products: int, commits: Sequence[str] = ()) -> Changes:
    """As it is reported."""
    told: list[Line] = []
    room = LISTED_CHARS
    for line in lines[:LISTED]:
        room -= len(line.path) + len(line.old)
        if room < 0:
            break
        told.append(line)
    return Changes(
        added=tuple(_of("added", told)),
        changed=tuple(_of("changed", told)),
        deleted=tuple(_of("deleted", told)),
        renamed=tuple(Renamed(line.old, line.path) for line in told if line.kind == "renamed"),
        more=len(lines) - len(told),
        by_products=by_products,
        commits=tuple(commits[:COMMITS_LISTED]),
    )


def happened(change: Change) -> str:
    """In a word."""
    if change.before is None:
        return "added"
    return "changed" if change.after else "deleted"


def named(change: Change) -> str:
    """As it is shown: folders end with a slash."""
    there = change.after or change.before
    return change.path + ("/" if there and there.kind == "folder" else "")


def _of(kind: str, lines: Iterable[Line]) -> Iterable[str]:
    return (line.path for line in lines if line.kind == kind)
