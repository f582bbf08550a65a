"""All conversations together keep a bounded amount: what was not used for longest gives way."""

import os
from pathlib import Path

import pytest

from sayso.server.undo.checkpoints import Checkpoints, archive_of
from sayso.server.undo.results import Outcome
from sayso.server.undo.store import Room

ROOM = Room(all_bytes=1_000_000)


class Archives:
    """Conversations whose checkpoints lie in one folder."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self._folder = folder

    def opened(self, name: str) -> Checkpoints:
        workspace = self._folder / name
        workspace.mkdir(exist_ok=True)
        checkpoints = Checkpoints(self.state, name, workspace, lambda: [workspace], ROOM)
        checkpoints.open()
        return checkpoints

    async def run(self, checkpoints: Checkpoints, name: str, run: str) -> None:
        """Code that writes much."""
        assert await checkpoints.before(run) == ""
        (self._folder / name / run).write_bytes(os.urandom(300_000))
        await checkpoints.after(run)

    async def used(self, name: str, when: float) -> None:
        """A conversation of the past."""
        checkpoints = self.opened(name)
        await self.run(checkpoints, name, "run")
        await checkpoints.close()
        for file in self.state.glob(f"{archive_of(self.state, name).stem}.*"):
            os.utime(file, (when, when))

    async def undone(self, name: str) -> Outcome:
        checkpoints = self.opened(name)
        undone = await checkpoints.undo([["run"]])
        await checkpoints.close()
        return undone.outcome

    @property
    def kept(self) -> int:
        return sum(file.stat().st_size for file in self.state.iterdir())


@pytest.fixture
def archives(tmp_path: Path) -> Archives:
    return Archives(tmp_path)


async def test_the_conversation_that_was_not_used_for_longest_gives_way(archives: Archives) -> None:
    names = [f"talk{number}" for number in range(6)]
    for number, name in enumerate(names):
        await archives.used(name, 1_000.0 * number)
        assert archives.kept < 1.5 * ROOM.all_bytes  # pages that are free again lie in the files
    assert await archives.undone(names[-1]) == "done"
    assert await archives.undone(names[0]) == "nothing"


async def test_one_that_is_open_keeps_what_it_has(archives: Archives) -> None:
    busy = archives.opened("busy")
    await archives.run(busy, "busy", "run")
    for number in range(5):
        await archives.used(f"other{number}", 1_000.0)
    assert (await busy.undo([["run"]])).outcome == "done"
    await busy.close()
