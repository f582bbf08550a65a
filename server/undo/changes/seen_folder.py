"""A folder as it was just seen, beside what was known of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from sayso.server.undo.roots import Root
from sayso.server.undo.scan import Scan
from sayso.server.undo.tree import Change, Entry, changes


@dataclass(frozen=True, slots=True)
class SeenFolder:
    """A folder, as it was just seen."""

    root: Root
    descriptor: int
    number: int
    known: Mapping[str, Entry]
    view: Scan

    @property
    def found(self) -> list[Change]:
        return changes(self.known, self.view.entries)
