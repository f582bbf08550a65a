"""Takes a checkpoint of one conversation's files around each run, and undoes runs."""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from sayso.server.agent.record.journal import Journal
from sayso.server.agent.record.undo import UndoRequests
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.settings import MB, Undo
from sayso.server.store.changes import Changes
from sayso.server.undo.checkpointer import Checkpointer, NoCheckpoints
from sayso.server.undo.checkpoints import Checkpoints, archive_of
from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile
from sayso.server.undo.results import Undone
from sayso.server.undo.store import Room


def recovery_of(folder: Path, conversation: str) -> RecoveryFile:
    """What is kept of a conversation for a server that comes after this one. `folder`: Sayso's own
    for undoing."""
    return RecoveryFile(archive_of(folder, conversation))


class ConversationUndo:
    """Looks after the folders that a conversation's code may write to, beginning at once.

    It hands calls on to the checkpoints of the folder that code runs in now, because those change
    with the folder, while an undo that was begun, and the look for hooks, outlast the change.
    """

    def __init__(
        self, folder: Path, settings: Undo, journal: Journal, code_runner: CodeRunner
    ) -> None:
        """`folder`: where archives of checkpoints lie."""
        self.code_runner = code_runner
        """Where code runs now."""
        self._folder = folder
        self._conversation = journal.conversation
        self._history = journal.history
        self._room = Room(
            settings.total_mb * MB, settings.house_mb * MB, settings.file_mb * MB, settings.files
        )
        self._checkpoints = self._begun()
        self.undo_requests = UndoRequests(journal, self)
        self._recovery = recovery_of(self._folder, self._conversation)
        self._disarming = GitHookGuard(
            self,
            self._confined,
            self._recovery,
            self._hold,
        )
        self.checkpointer: Checkpointer = self._disarming

    async def recover(self) -> str:
        """See to what an ended server's code left, before any code runs; returns what the person is
        to be told of it. What that code changed can still be taken back."""
        if not self._recovery.is_there:
            return ""
        await self._checkpoints.opened()
        return await self._disarming.recover()

    async def accept(self) -> None:
        """The person takes what that left for theirs, where it could not be seen to."""
        await self._disarming.accept()

    async def move(self, code_runner: CodeRunner) -> None:
        """Code runs there from now on, and nowhere else any more; what was done elsewhere can still
        be taken back."""
        await self._disarming.close()
        await self._checkpoints.close()
        self.code_runner = code_runner
        self._checkpoints = self._begun()

    async def close(self) -> None:
        """Finish what was begun; no code runs any more."""
        await self.undo_requests.close()
        await self._disarming.close()
        await self._checkpoints.close()

    def _begun(self) -> Checkpoints | NoCheckpoints:
        if not self._room.total_bytes or self.code_runner.refusal:
            return NoCheckpoints()
        where = Path(self.code_runner.where)
        checkpoints = Checkpoints(
            self._folder, self._conversation, where, self._writable, self._room
        )
        checkpoints.open()
        return checkpoints

    def _writable(self) -> Sequence[Path]:
        return self.code_runner.reach.writable(Path(self.code_runner.where))

    async def _hold(self, changed_at: int) -> None:
        await self.code_runner.renew_unused(changed_at)

    def _confined(self) -> Sequence[Path]:
        return () if self.code_runner.reach.everything else self._writable()

    # --- as checkpoints ---

    async def before(self, run: str) -> str:
        return await self._checkpoints.before(run)

    async def after(self, run: str) -> Changes:
        act = self._history.find(run)
        return await self._checkpoints.after(run, act.intended.code if act and act.intended else "")

    async def undo(self, groups: Iterable[Sequence[str]], most: int = 1) -> Undone:
        return await self._disarming.restoring(partial(self._checkpoints.undo, groups, most))

    async def redo(self) -> Undone:
        return await self._disarming.restoring(self._checkpoints.redo)

    async def diff(self, groups: Iterable[Sequence[str]], most: int = 1) -> str:
        return await self._checkpoints.diff(groups, most)

    async def former(self, runs: Sequence[str]) -> dict[str, str]:
        """What these runs changed, by path: git's name of what was there before."""
        return await self._checkpoints.former(runs)

    async def changed(self, groups: Iterable[Sequence[str]]) -> Sequence[bool]:
        return await self._checkpoints.changed(groups)
