"""What a helper hands back, however it ended. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

TEXT_CHARS: Final = 4_000
"""Of what a helper says in the end."""

DIFF_CHARS: Final = 6_000
"""Of its difference, as the model is told it; the person is shown all of what is taken over."""

State = Literal["done", "at its limit", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a helper changed. None: it is not there."""

    base: bytes | None
    """What it began with."""
    new: bytes | None
    executable: bool = False


@dataclass(frozen=True, slots=True)
class HelperResult:
    """What a helper did."""

    name: str
    task: str
    state: State
    said: str
    changes: Mapping[str, FileChange] = field(default_factory=dict)
    diff: str = ""
    untold: str = ""
    """What is wrong with what it handed back, in a sentence."""

    def __str__(self) -> str:
        ended = "" if self.state == "done" else f" It ended {self.state}: this is not the whole."
        told = [f"Helper {self.name} ({self.state}).{ended} {self.untold}".strip()]
        told.append(self.said[:TEXT_CHARS] or "It said nothing.")
        if self.changes:
            told.append(f"It changed in its copy: {', '.join(sorted(self.changes))}.")
            told.append(self.diff[:DIFF_CHARS])
        return "\n".join(told)
