"""A workspace whose runs can be undone, and snapshots taken without the code that is tested."""

import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sayso.server.store.changes import Changes
from sayso.server.undo.checkpoints import Checkpoints
from sayso.server.undo.results import Undone
from sayso.server.undo.store import Room

Picture = dict[Path, tuple[object, ...]]


def picture(folder: Path) -> Picture:
    """Every path of a folder: kind, permissions, date, and content or target."""
    found: Picture = {}
    _take(folder, folder, found)
    return found


def _take(where: Path, folder: Path, found: Picture) -> None:
    mode = _open_up(where)
    for path in where.iterdir():
        status = path.lstat()
        seen: tuple[object, ...] = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode))
        if stat.S_ISREG(status.st_mode):
            own = _open_up(path)
            seen += (status.st_mtime_ns, path.read_bytes())
            path.chmod(own)
        elif stat.S_ISLNK(status.st_mode):
            seen += (path.readlink(),)
        elif stat.S_ISDIR(status.st_mode):
            _take(path, folder, found)
        found[path.relative_to(folder)] = seen
    where.chmod(mode)


def _open_up(path: Path) -> int:
    mode = stat.S_IMODE(path.stat().st_mode)
    path.chmod(mode | 0o700)
    return mode


@dataclass
class Place:
    """A folder, and runs that change it."""

    workspace: Path
    checkpoints: Checkpoints
    runs: list[str] = field(default_factory=list)

    async def run(self, change: Callable[[Path], object], code: str = "") -> Changes:
        """Let a run change the workspace. `code`: what it is said to have been."""
        name = f"run{len(self.runs)}"
        assert await self.checkpoints.before(name) == ""
        self.runs.append(name)
        change(self.workspace)
        return await self.checkpoints.after(name, code)

    async def undo(self, most: int = 1) -> Undone:
        """As "undo that" does: the latest runs that can be taken back."""
        return await self.checkpoints.undo(([run] for run in reversed(self.runs)), most)

    async def redo(self) -> Undone:
        return await self.checkpoints.redo()


@asynccontextmanager
async def place(folder: Path, room: Room | None = None, *more: Path) -> AsyncIterator[Place]:
    """A workspace in a folder, with further folders that code may write to."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    roots = [workspace, *more]
    checkpoints = Checkpoints(folder / "state", "talk", workspace, lambda: roots, room or Room())
    checkpoints.open()
    try:
        yield Place(workspace, checkpoints)
    finally:
        await checkpoints.close()
