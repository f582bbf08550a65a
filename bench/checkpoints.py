"""How long a checkpoint takes in a workspace of ten thousand files, a few of them changed.

Beside it, in the same run, what a bare look at every file's date takes: the least that any way of
finding changes without watching must pay.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from bench.figures import Spread, spread
from sayso.server.undo.archive import Archive
from sayso.server.undo.keeping import Keeper, Room
from sayso.server.undo.root import Root

FOLDERS, EACH = 100, 100
RUNS = 20
CHANGED = 5
"""Files that each run changes."""


class Figures(TypedDict):
    """Milliseconds, but for the first."""

    checkpoint_first_s: float
    checkpoint_10k_ms: Spread
    checkpoint_after_ms: Spread
    look_10k_ms: Spread


def measure() -> Figures:
    """Before each of many runs, and after each; the very first checkpoint apart."""
    with tempfile.TemporaryDirectory() as scratch:
        workspace = Path(scratch) / "workspace"
        _furnish(workspace)
        archive = Archive.open(Path(scratch) / "state" / "archive.sqlite")
        keeper = Keeper(archive, workspace, Room(), frozenset())
        roots = [Root(workspace)]
        started = time.perf_counter()
        keeper.open(roots)
        first = time.perf_counter() - started
        before, after, looks = [], [], []
        for number in range(RUNS):
            looks.append(_timed(lambda: _look(workspace)))
            before.append(_timed(lambda: keeper.before(f"run {number}", roots)))  # noqa: B023
            for file in range(CHANGED):
                path = workspace / str(number) / str(file)
                path.write_bytes(os.urandom(2_000))
            after.append(_timed(lambda: keeper.after(f"run {number}", roots)))  # noqa: B023
        archive.close()
    return Figures(
        checkpoint_first_s=round(first, 2),
        checkpoint_10k_ms=spread(before),
        checkpoint_after_ms=spread(after),
        look_10k_ms=spread(looks),
    )


def _furnish(workspace: Path) -> None:
    for folder in range(FOLDERS):
        (workspace / str(folder)).mkdir(parents=True)
        for file in range(EACH):
            (workspace / str(folder) / str(file)).write_bytes(os.urandom(1_000))


def _look(folder: Path) -> None:
    for found in os.scandir(folder):
        found.stat(follow_symlinks=False)
        if found.is_dir(follow_symlinks=False):
            _look(Path(found.path))


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    print(measure())
