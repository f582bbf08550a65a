"""Tells by-products from work among what a run changed: caches, what git ignores, what git notes
for itself. Pure.

By-products are taken back with the request that made them. Alone they make no request one that
"undo that" would mean, and no list holds them; they are counted instead. What counts as one is
decided by what the folder was before the run, so that code cannot hide its own work by a rule that
it writes itself. What git tracks is never one.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import replace
from typing import Final

from sayso.server.undo.git.ignore_rules import RULES_BYTES, IgnoreRules, Rule, read_rules
from sayso.server.undo.git.index import read_index
from sayso.server.undo.git.repositories import GIT, is_state, repository_of
from sayso.server.undo.tree import Change, Entry, Tree

_CACHES: Final = frozenset(
    {
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".nyc_output",
        ".eslintcache",
        ".parcel-cache",
        ".turbo",
        ".gradle",
        ".sass-cache",
        ".cache",
        ".tox",
        ".nox",
        ".DS_Store",
        ".coverage",
        "Thumbs.db",
    }
)
"""Names of what programs make for themselves and make again when it is gone."""

_CACHES_BEGIN: Final = (".coverage.",)
_CACHES_END: Final = (".pyc", ".pyo")

_PASSING: Final = (".log", ".tmp", ".pid", ".cache", ".bak", ".swp")
"""What git ignores under such a name is nobody's work, even where code names it."""

_NOTED: Final = frozenset(
    {"objects", "logs", "index", "index.lock", "COMMIT_EDITMSG", "FETCH_HEAD", "ORIG_HEAD"}
    | {"MERGE_MSG", "description", "gc.log", "gc.pid"}
)
"""What git keeps for itself and nobody asks it to change."""

_WORD: Final = re.compile(r"[\w.\-+@]+")
"""A name of a file, as code writes it."""


class ByProducts:
    """Of one run in one folder."""

    def __init__(self, before: Tree, content: Callable[[Entry], bytes], code: str) -> None:
        """`before`: the folder before the run. `content`: gives what was kept of it. `code`: what
        ran."""
        self._before = before
        self._content = content
        self._named = frozenset(_WORD.findall(code))
        self._ignoring: dict[str, IgnoreRules] = {}
        self._tracked: dict[str, Set[str] | None] = {}

    def mark(self, changes: Sequence[Change]) -> list[Change]:
        """The same changes; those that are by-products say so."""
        whole = {c.path for c in changes if c.path.endswith(GIT) and not (c.before and c.after)}
        moved = _moved(changes)
        return [
            replace(change, by_product=True)
            if change.matters and self._is_one(change, whole, moved)
            else change
            for change in changes
        ]

    def _is_one(self, change: Change, whole: Set[str], moved: Set[str]) -> bool:
        """`whole`: repositories that came or went as a whole. `moved`: those in which a branch
        moved, so that what is to be committed next belongs to it."""
        of_git = repository_of(change.path)
        if of_git is not None:
            folder, within = of_git
            if not within:
                return False
            return folder in whole or (
                _is_noted(within) and not (is_state(within) and folder in moved)
            )
        repository = self._repository(change.path)
        path = change.path[len(repository) + 1 :] if repository else change.path
        if _is_cache(path):
            return repository is None or not self._is_tracked(repository, path)
        if repository is None:
            return False
        there = change.after or change.before
        is_folder = there is not None and there.kind == "folder"
        return (
            self._rules(repository).ignores(path, folder=is_folder)
            and not self._is_tracked(repository, path)
            and not self._is_meant(change)
        )

    def _is_meant(self, change: Change) -> bool:
        """Whether code names what was there and is changed or gone: then it is no by-product, even
        if git ignores it, as it does a person's `.env`."""
        if change.before is None or change.path.endswith(_PASSING):
            return False
        return not self._named.isdisjoint(change.path.split("/"))

    def _repository(self, path: str) -> str | None:
        """The folder of the repository in which a path lies; empty for the root."""
        names = path.split("/")
        for depth in reversed(range(len(names))):
            folder = "/".join(names[:depth])
            found = self._before.get(_beneath(folder, GIT))
            if found is not None:
                # A file there leads elsewhere, where nobody looks: nothing is known of it.
                return folder if found.kind == "folder" else None
        return None

    def _is_tracked(self, repository: str, path: str) -> bool:
        """Whether git tracks it; also where that cannot be told."""
        if repository not in self._tracked:
            index = self._kept(_beneath(repository, f"{GIT}/index"))
            tracked = read_index(index) if index is not None else {}
            self._tracked[repository] = None if tracked is None else tracked.keys()
        known = self._tracked[repository]
        return known is None or path in known

    def _rules(self, repository: str) -> IgnoreRules:
        if repository not in self._ignoring:

            def rules_in(folder: str) -> Sequence[Rule]:
                return self._read(_beneath(_beneath(repository, folder), ".gitignore"))

            own = self._read(_beneath(repository, f"{GIT}/info/exclude"))
            self._ignoring[repository] = IgnoreRules(rules_in, own)
        return self._ignoring[repository]

    def _read(self, path: str) -> Sequence[Rule]:
        entry = self._before.get(path)
        if entry is None or entry.size > RULES_BYTES:
            return ()
        return read_rules(os.fsdecode(self._kept(path) or b""))

    def _kept(self, path: str) -> bytes | None:
        """A file's content: nothing where it was not kept, None where there was no file."""
        entry = self._before.get(path)
        if entry is None:
            return None
        return b"" if entry.kind != "file" or entry.unkept else self._content(entry)


def _moved(changes: Iterable[Change]) -> set[str]:
    """Repositories in which a branch, or where one stands, is another one."""
    return {
        of_git[0]
        for change in changes
        if (of_git := repository_of(change.path)) is not None
        and is_state(of_git[1])
        and not _is_noted(of_git[1])
        and change.matters
        and "folder" not in {state.kind for state in (change.before, change.after) if state}
    }


def _is_noted(within: str) -> bool:
    names = within.split("/")
    if names[0] == "worktrees":
        names = names[2:] or names
    return names[0] in _NOTED or names[-1].endswith(".sample")


def _is_cache(path: str) -> bool:
    names = path.split("/")
    return (
        not _CACHES.isdisjoint(names)
        or names[-1].startswith(_CACHES_BEGIN)
        or names[-1].endswith(_CACHES_END)
    )


def _beneath(folder: str, name: str) -> str:
    return "/".join(filter(None, (folder, name)))
