"""What one conversation remembers of its files: checkpoints for each run, and taking runs back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sayso.protocol.home import Home
from sayso.server.agent.checkpointing import Checkpointer, NoCheckpoints
from sayso.server.agent.journal import Journal
from sayso.server.agent.taking_back import TakingBack
from sayso.server.runtimes.workshop import Workshop
from sayso.server.settings import Undo
from sayso.server.undo.checkpoints import Checkpoints
from sayso.server.undo.keeping import Room

MB: Final = 1_000_000


class Memory:
    """Looks after the folders that a workshop's code may write to, beginning at once."""

    def __init__(self, home: Home, settings: Undo, journal: Journal, workshop: Workshop) -> None:
        self.workshop = workshop
        """Where code runs now."""
        self._checkpoints: Checkpoints | None = None
        if settings.total_mb and not workshop.refusal:
            room = Room(settings.total_mb * MB, settings.file_mb * MB, settings.files)
            self._checkpoints = Checkpoints(
                home.state / "undo",
                journal.conversation,
                Path(workshop.where),
                self._writable,
                room,
            )
            self._checkpoints.open()
        self.checkpointer: Checkpointer = self._checkpoints or NoCheckpoints()
        self.taking_back = TakingBack(journal, self._checkpoints)

    async def close(self) -> None:
        """Finish what was begun."""
        await self.taking_back.close()
        if self._checkpoints is not None:
            await self._checkpoints.close()

    def _writable(self) -> Sequence[Path]:
        return self.workshop.reach.writable(Path(self.workshop.where))
