"""Results of undo and redo."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from sayso.server.store.changes import Renamed
from sayso.server.undo.changes.listing import Line
from sayso.server.undo.plan import Left

Outcome = Literal["done", "nothing", "unknown", "blocked", "running", "off", "failed"]
"""`nothing`: no run of code is there to be taken back (or made again). `unknown`: none that was
asked for in such words; `requests` are those that are there. `blocked`: all that it changed has
been changed again since. `running`: code still runs. `off`: nothing is kept, by the settings.
`failed`: see `problem`."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Paths are relative to the workspace, or absolute outside of it."""

    outcome: Outcome
    restored: tuple[str, ...] = ()
    """What is again as it was: there again, or with its former content."""
    removed: tuple[str, ...] = ()
    """What had not been there, and is not there again."""
    left: tuple[Left, ...] = ()
    """What could not be put back, and why."""
    runs: tuple[str, ...] = ()
    """The runs that were taken back, or made again."""
    requests: tuple[str, ...] = ()
    """What the person had asked for then, where it is to be said which requests these were."""
    problem: str = ""
    """A sentence, if it failed."""
    renamed: tuple[Renamed, ...] = ()
    """What has again the name that it had."""
    commits: tuple[str, ...] = ()
    """First lines of the commits that are gone, or there again."""
    note: str = ""
    """In sentences, what of it was put out of action, because git or a login would run it."""

    @classmethod
    def of(
        cls, back: Sequence[Line], commits: Sequence[str], left: Sequence[Left], runs: Sequence[str]
    ) -> Self:
        """`back`: what happened to the files now."""
        return cls(
            "blocked" if left and not back and not commits else "done",
            restored=tuple(line.path for line in back if line.kind in ("added", "changed")),
            removed=tuple(line.path for line in back if line.kind == "deleted"),
            renamed=tuple(Renamed(x.old, x.path) for x in back if x.kind == "renamed"),
            commits=tuple(commits),
            left=tuple(sorted(left, key=lambda one: one.path)),
            runs=tuple(runs),
        )

    @property
    def may_be_tried_again(self) -> bool:
        """Whether something went wrong that may go right the next time."""
        return any(one.reason == "system" for one in self.left)
