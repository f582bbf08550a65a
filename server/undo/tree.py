"""Represents a folder's state as records, and compares two states. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "folder", "link", "pipe", "other"]
"""`other`: sockets and devices, which cannot be made again."""


Unkept = Literal["too_big", "no_room", "unreadable"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One path."""

    kind: Kind
    mode: int
    """Permission bits, with setuid, setgid and sticky."""
    owner: int
    group: int
    size: int
    """Bytes of a file, holes counted."""
    mtime_ns: int
    content: bytes = b""
    """A file's: the name of its kept content. A link's: where it leads."""
    unkept: Unkept | Literal[""] = ""
    """Why a file's content is not kept; empty if it is."""
    ctime_ns: int = 0
    """Zero if the file may have changed in the same tick in which it was read: look again."""
    inode: int = 0
    device: int = 0
    links: int = 1


Tree = Mapping[str, Entry]
"""By path below the root, with `/` between names; the root itself is not among them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to one path. None: it is not there."""

    path: str
    before: Entry | None
    after: Entry | None
    by_product: bool = False
    """Whether it came along with what was meant: a cache, what git ignores or notes for itself."""

    @property
    def reversed(self) -> "Change":
        """The same, taken back."""
        return Change(self.path, self.after, self.before, self.by_product)

    @property
    def matters(self) -> bool:
        """Whether it is more than a date."""
        return not alike(self.before, self.after)

    @property
    def told(self) -> bool:
        """Whether a person would call it a change."""
        return self.matters and not self.by_product


def alike(one: Entry | None, other: Entry | None) -> bool:
    """Whether two states are the same but for their dates."""
    if one is None or other is None:
        return one is other
    if (one.kind, one.mode, one.owner, one.group) != (
        other.kind,
        other.mode,
        other.owner,
        other.group,
    ):
        return False
    if one.kind == "file" and (one.unkept or other.unkept):
        return untouched(one, other)
    return one.content == other.content


def untouched(one: Entry, other: Entry) -> bool:
    """Whether a file whose content is not known is still the same, as far as can be told."""
    return (one.inode, one.size, one.mtime_ns) == (other.inode, other.size, other.mtime_ns)


def changes(before: Tree, after: Tree) -> list[Change]:
    """All that is different, dates included, by path."""
    found = [
        Change(path, before.get(path), entry)
        for path, entry in after.items()
        if before.get(path) is not entry
    ]
    found = [change for change in found if _differs(change.before, change.after)]
    found += [Change(path, before[path], None) for path in before.keys() - after.keys()]
    return sorted(found, key=lambda change: change.path)


def _differs(one: Entry | None, other: Entry | None) -> bool:
    if one is other:
        return False
    if one is None or other is None:
        return True
    return one.mtime_ns != other.mtime_ns or not alike(one, other)


def joined(steps: Iterable[Iterable[Change]]) -> list[Change]:
    """Several changes, one after the other, as one."""
    whole: dict[str, Change] = {}
    for step in steps:
        for change in step:
            first = whole.get(change.path)
            before = first.before if first else change.before
            aside = change.by_product and (first is None or first.by_product or not first.matters)
            whole[change.path] = Change(change.path, before, change.after, aside)
    kept = [change for change in whole.values() if _differs(change.before, change.after)]
    return sorted(kept, key=lambda change: change.path)


def parent(path: str) -> str:
    """The folder that holds it; empty for the root."""
    return path.rpartition("/")[0]
