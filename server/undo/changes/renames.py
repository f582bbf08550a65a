"""Finds what was renamed or moved among what a run deleted and added. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sayso.server.undo.tree import Change, Entry, parent


@dataclass(frozen=True, slots=True)
class Sorted:
    """What happened, with each renaming told once, a folder's for all that is in it."""

    renamed: Sequence[tuple[Change, Change]]
    """What went, and what it is now."""
    rest: Sequence[Change]


def sort_out(changes: Sequence[Change]) -> Sorted:
    """Take the renamings out of what one folder's changes are."""
    gone = {change.path: change for change in changes if change.after is None}
    came = {change.path: change for change in changes if change.before is None}
    pairs = dict(_pairs(gone, came))
    moved = _whole_folders(gone, came, pairs)
    tops = {old: new for old, new in moved.items() if moved.get(parent(old)) != parent(new)}
    told = moved.keys() | set(moved.values())
    return Sorted(
        [(gone[old], came[new]) for old, new in sorted(tops.items())],
        [change for change in changes if change.path not in told],
    )


def _pairs(gone: Mapping[str, Change], came: Mapping[str, Change]) -> Iterator[tuple[str, str]]:
    """Files and links that are the same one, or the only one of their content."""
    by_inode = {_inode(change.after): path for path, change in came.items() if change.after}
    left, taken = [], set()
    for path, change in gone.items():
        new = by_inode.get(_inode(change.before)) if change.before else None
        if new and new not in taken and _same(change.before, came[new].after):
            taken.add(new)
            yield path, new
        else:
            left.append(path)
    lost = _by_content((path, gone[path].before) for path in left)
    found = _by_content((path, came[path].after) for path in came.keys() - taken)
    yield from ((old, found[content]) for content, old in lost.items() if content in found)


def _by_content(entries: Iterable[tuple[str, Entry | None]]) -> dict[bytes, str]:
    """Those files whose content no other one has."""
    files = [
        (entry.content, path)
        for path, entry in entries
        if entry and entry.kind == "file" and entry.size and not entry.unkept
    ]
    often = Counter(content for content, _ in files)
    return {content: path for content, path in files if often[content] == 1}


def _whole_folders(
    gone: Mapping[str, Change], came: Mapping[str, Change], pairs: Mapping[str, str]
) -> dict[str, str]:
    """The pairs, and the folders that went with all that is in them."""
    moved = dict(pairs)
    inside: dict[str, list[str]] = {}
    for path in gone:
        inside.setdefault(parent(path), []).append(path)
    folders = [path for path, change in gone.items() if _is_folder(change.before)]
    by_inode = {
        _inode(change.after): path
        for path, change in came.items()
        if change.after and change.after.kind == "folder"
    }
    for old in sorted(folders, reverse=True):  # what is in a folder comes before it
        names = inside.get(old, [])
        before = gone[old].before
        new = parent(moved.get(names[0], "")) if names else ""
        if not names and before:  # empty: the same one, in which nothing was done
            new = by_inode.get(_inode(before), "")
            after = came[new].after if new else None
            new = new if after and after.mtime_ns == before.mtime_ns else ""
        whole = all(moved.get(name) == f"{new}/{name[len(old) + 1 :]}" for name in names)
        if new in came and _is_folder(came[new].after) and whole:
            moved[old] = new
    return moved


def _same(one: Entry | None, other: Entry | None) -> bool:
    if one is None or other is None or one.kind != other.kind or one.kind == "folder":
        return False
    if one.kind == "file" and one.mtime_ns != other.mtime_ns:
        return False  # a new one that got the number of one that is gone
    return one.size == other.size if one.unkept or other.unkept else one.content == other.content


def _inode(entry: Entry | None) -> tuple[int, int]:
    return (entry.device, entry.inode) if entry else (0, 0)


def _is_folder(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "folder"
