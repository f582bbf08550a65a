"""The folder in which a conversation's code runs, and by what it is recognised."""

from dataclasses import dataclass
from pathlib import Path

from sayso.server.runtimes.protection.folder_identity import Identity


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder of a conversation's own, or one that a person chose."""

    path: Path
    identity: Identity | None = None
    """Which folder the person chose; None if it is the conversation's own."""
