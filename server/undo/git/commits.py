"""Finds the commits that runs made, and the files that are in them. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sayso.server.undo.git.index import Index, blob_name, read_index
from sayso.server.undo.git.repositories import GIT, is_state, repository_of
from sayso.server.undo.tree import Change, Entry, alike

_LOG: Final = "logs/HEAD"
_INDEX: Final = "index"
_CHARS: Final = 72
"""Of a commit's first line: git's own advice."""
_HASHED_BYTES: Final = 64 * 1024**2
"""Files in a repository are smaller, but for few; a larger one is taken for not committed."""

_LOOKED_BACK: Final = 50
"""Requests; nobody lets more work lie before committing it."""

Content = Callable[[Entry], bytes]
"""Gives a content that is kept."""

Requests = Callable[[int], Mapping[int, Sequence[Change]] | None]


def subjects(changes: Iterable[Change], content: Content) -> dict[str, list[str]]:
    """The first lines of the commits that these changes made, by the repository's folder."""
    found: dict[str, list[str]] = {}
    for change in changes:
        where = repository_of(change.path)
        if where is None or where[1] != _LOG:
            continue
        lines = _lines(change.after, content)[len(_lines(change.before, content)) :]
        made = [told[1] for line in lines if (told := _commit(line))]
        if made:
            found[where[0]] = [line[:_CHARS] for line in made]
    return found


def without_commits(
    changes: Sequence[Change], content: Content, *, gone: bool = False
) -> tuple[Sequence[Change], list[str]]:
    """The changes without those of branches and index that commits brought, and the first lines of
    the commits. Whatever else changed in a repository stays. `gone`: also commits that are not
    there any more."""
    moved = {
        where[0] for change in changes if change.told and (where := repository_of(change.path))
    }
    back = [change.reversed for change in changes] if gone else []
    found = {**subjects(changes, content), **subjects(back, content)}
    made = {folder: lines for folder, lines in found.items() if folder in moved}
    told = [
        change
        for change in changes
        if (where := repository_of(change.path)) is None
        or where[0] not in made
        or not is_state(where[1])
    ]
    return told, [line for folder in sorted(made) for line in made[folder]]


def same_index(one: Entry | None, other: Entry | None, content: Content) -> bool:
    """Whether two indexes hold the same files: git writes it anew each time it looks at dates."""
    if one is None or other is None or one.kind != "file" or other.kind != "file":
        return False
    first, second = _index(one, content), _index(other, content)
    return first is not None and first == second


def made_for(
    number: int, requests: Requests, index_of: Callable[[int, str], Entry | None], content: Content
) -> set[int]:
    """Which earlier requests hold the files that a request committed, if it did nothing else.

    `number`: the request's, the latest being the first. `requests`: gives what one of them changed,
    by root; None beyond the last. `index_of`: the index of a repository in a root as it is now.
    """
    own = requests(number)
    found: set[int] = set()
    if own is None or any(_works(change) for changes in own.values() for change in changes):
        return found
    for root, changes in own.items():
        for folder in subjects(changes, content):
            commit = _Commit(folder, changes, index_of(root, folder), content)
            for other in range(number + 1, number + 1 + _LOOKED_BACK):
                theirs = requests(other)
                if theirs is None or folder in subjects(theirs.get(root, ()), content):
                    break
                if commit.holds_of(theirs.get(root, ())):
                    found.add(other)
    return found


def _works(change: Change) -> bool:
    return change.told and repository_of(change.path) is None


class _Commit:
    """What was committed in one repository."""

    def __init__(
        self, folder: str, changes: Sequence[Change], index: Entry | None, content: Content
    ) -> None:
        """`index`: as it is now, if the commit left it alone."""
        self._path = f"{folder}/{_INDEX}"
        self._content = content
        above = folder.rpartition("/")[0]
        self._below = above + "/" if above else ""
        own = self._of_index(changes)
        self._tracked = self._read(own.after if own else index)
        self._before = self._read(own.before if own else index)
        self._held: dict[str, bool] = {}
        """Whether the latest state of a path, before the commit, is in it."""

    def holds_of(self, changes: Sequence[Change]) -> bool:
        """Whether any of the work of a request, going back from the commit, is in it."""
        own = self._of_index(changes)
        before = self._read(own.before) if own else self._before
        works = [change for change in changes if _works(change)]
        for change in works:
            if change.path not in self._held:
                self._held[change.path] = self._holds(change, before)
        return any(self._held[change.path] for change in works)

    def _holds(self, change: Change, before: Index) -> bool:
        if not change.path.startswith(self._below):
            return False
        path, entry = change.path[len(self._below) :], change.after
        known = self._tracked.get(path)
        if entry is None:
            return known is None and path in before
        if known is None or entry.kind not in ("file", "link") or entry.unkept:
            return False
        if entry.kind == "link":
            return known.content == blob_name(entry.content)
        if entry.size > _HASHED_BYTES or entry.size & 0xFFFFFFFF != known.size:
            return False
        return known.content == blob_name(self._content(entry))

    def _of_index(self, changes: Sequence[Change]) -> Change | None:
        return next((change for change in changes if change.path == self._path), None)

    def _read(self, entry: Entry | None) -> Index:
        return (_index(entry, self._content) if entry else None) or {}


def _index(entry: Entry, content: Content) -> Index | None:
    kept = entry.kind == "file" and not entry.unkept
    return read_index(content(entry)) if kept else None


def _lines(entry: Entry | None, content: Content) -> Sequence[str]:
    if entry is None or entry.kind != "file" or entry.unkept:
        return ()
    return content(entry).decode("utf-8", "replace").splitlines()


def _commit(line: str) -> tuple[str, str] | None:
    """What the log of a branch says of a commit: the kind, and its first line."""
    kind, colon, first = line.partition("\t")[2].partition(": ")
    return (kind, first) if colon and kind.split(" ")[0] == "commit" else None


def as_it_is_now(change: Change, now: Mapping[str, Entry], content: Content) -> Change:
    """Git writes its index anew whenever anybody looks: then it is still as the run left it."""
    have = now.get(change.path)
    if not change.path.endswith(f"{GIT}/index") or alike(have, change.after):
        return change
    return replace(change, after=have) if same_index(have, change.after, content) else change
