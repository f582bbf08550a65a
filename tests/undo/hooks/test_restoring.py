"""What is put back by undo or redo is looked through like what a run has left."""

import threading
import time
from functools import partial
from pathlib import Path

import pytest

from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile
from sayso.server.undo.results import Undone
from tests.undo.arming import made, program
from tests.undo.hooks.runs import disarmed, kept_of, ran, use_git
from tests.undo.place import Place, place


class LeftRunning:
    """A program of an earlier run that arms a repository again and again, until it has ended."""

    def __init__(self, repository: Path, mark: Path) -> None:
        self._hook = repository / ".git" / "hooks" / "pre-commit"
        self._mark = mark
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._arm)
        self._thread.start()

    def _arm(self) -> None:
        while not self._over.is_set():
            if not self._hook.exists():
                program(self._hook, self._mark)
            time.sleep(0)

    def end(self) -> None:
        self._over.set()
        self._thread.join()


@pytest.mark.parametrize("again", ["at once", "after a restart"])
async def test_undo_arms_nothing_that_was_armed_while_it_was_kept(
    tmp_path: Path, again: str
) -> None:
    mark = tmp_path / "it ran"
    repository = made(tmp_path / "workspace" / "left")
    async with place(tmp_path) as here:
        guard = guarded(here)
        await guard.before("run0")
        await guard.after("run0")
        (tmp_path / "workspace" / "left").rename(tmp_path / "workspace" / "other")
        repository = made(tmp_path / "workspace" / "codes")
        left = LeftRunning(repository, mark)
        try:
            assert not await guard.before("run1")
        finally:
            left.end()
        (tmp_path / "workspace" / "notes").write_text("what the person wants taken back")
        await guard.after("run1")
        assert disarmed(repository)
        assert not (repository / ".git" / "hooks" / "pre-commit").exists()
        here.runs.append("run1")
        if again == "at once":
            undone = await undo(guard, here)
    if again != "at once":
        async with place(tmp_path) as after:
            after.runs = here.runs
            undone = await undo(guarded(after), after)
    assert undone.outcome == "done"
    assert not (tmp_path / "workspace" / "notes").exists()
    assert "disarmed" in undone.note
    use_git(repository)
    assert not ran(mark)


def guarded(here: Place) -> GitHookGuard:
    recovery = RecoveryFile(kept_of(here.workspace))
    return GitHookGuard(here.checkpoints, lambda: [here.workspace], recovery)


async def undo(guard: GitHookGuard, here: Place) -> Undone:
    groups = [[run] for run in reversed(here.runs)]
    return await guard.restoring(partial(here.checkpoints.undo, groups, 1))
