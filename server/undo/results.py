"""Results of undo and redo."""

from dataclasses import dataclass
from typing import Literal

from sayso.server.undo.plan import Left

Outcome = Literal["done", "nothing", "blocked", "running", "off", "failed"]
"""`nothing`: no run of code is there to be taken back (or made again). `blocked`: all that it
changed has been changed again since. `running`: code still runs. `off`: nothing is kept, by the
settings. `failed`: see `problem`."""


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
    problem: str = ""
    """A sentence, if it failed."""
