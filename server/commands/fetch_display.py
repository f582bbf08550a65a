"""Shows how far a fetch is: a bar where somebody looks, a line now and then where not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichProgress

from sayso.server.models.machine import in_words
from sayso.server.models.progress import Progress

SMALL_BYTES = 1_000_000
"""A file below this is here before a second line about it would be read."""

STEP_PERCENT = 10
"""Between two lines about one file, where lines are printed."""


@contextmanager
def display() -> Iterator[Progress]:
    """The one that fits what standard output is."""
    if not sys.stdout.isatty():
        yield Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with RichProgress(*columns, console=Console()) as progress:
        yield Bars(progress)


class Bars:
    """One bar for each file."""

    def __init__(self, progress: RichProgress) -> None:
        self._progress = progress
        self._task: TaskID

    def begin(self, file: str, total: int, done: int) -> None:
        self._task = self._progress.add_task(file, total=total, completed=done)

    def advance(self, count: int) -> None:
        self._progress.advance(self._task, count)

    def wait(self, reason: str, seconds: float) -> None:
        self._progress.console.print(_trouble(reason, seconds), markup=False)


class Lines:
    """A line when a file begins, and at every tenth of it."""

    def __init__(self) -> None:
        self._file = ""
        self._total = 0
        self._done = 0
        self._next = STEP_PERCENT

    def begin(self, file: str, total: int, done: int) -> None:
        self._file, self._total, self._done, self._next = file, total, 0, STEP_PERCENT
        print(f"{file}: {in_words(total)}", flush=True)
        self.advance(done)

    def advance(self, count: int) -> None:
        self._done += count
        if self._total < SMALL_BYTES:
            return
        percent = 100 * self._done // self._total
        if percent >= self._next:
            print(f"{self._file}: {percent} %", flush=True)
            self._next = percent - percent % STEP_PERCENT + STEP_PERCENT

    def wait(self, reason: str, seconds: float) -> None:
        print(_trouble(reason, seconds), flush=True)


def _trouble(reason: str, seconds: float) -> str:
    return f"The line is cut ({reason}); trying again in {seconds:g} s."
