"""What a run changed in files, as it is written down."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Renamed:
    """Something has another name, or lies elsewhere, and is the same otherwise."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What a run changed in the folders that it may write to."""

    added: tuple[str, ...] = ()
    """Paths as a person would write them: relative to the workspace, else absolute."""
    changed: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    """A folder once, for all that is in it."""
    more: int = 0
    """How many further paths it changed that are not listed here."""
    by_products: int = 0
    """How many paths beside these came along: caches, what git ignores or notes for itself."""
    commits: tuple[str, ...] = ()
    """First lines of the commits that it made: what git noted for them is not listed."""
    note: str = ""
    """What the server itself changed of it at once, and what the person's hooks say of it, in
    sentences."""

    def __bool__(self) -> bool:
        return any((self.added, self.changed, self.deleted, self.renamed, self.more, self.commits))


NO_CHANGES = Changes()
