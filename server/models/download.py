"""Brings files from the hub through cut lines, and keeps none that is not what the hub promised.

A file is written as `NAME.part` and gets its name when its content is right. What was fetched
before a cut is kept, and the next try asks for the rest. Everything is asked for at one commit, so
that the rest belongs to the beginning; if it does not, the digest tells.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from sayso.server.models.errors import FetchFailed
from sayso.server.models.hub import Hub, HubFile, Interrupted, Repository
from sayso.server.models.progress import Progress
from sayso.server.models.verification import BLOCK_BYTES, hasher

RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Waits between tries that bring nothing; a try that brings a byte starts them anew."""

FIRST_RETRY_SECONDS = (1.0,)
"""Before anything has come: most likely there is no network, and the person should hear so."""

FRESH_STARTS = 2
"""Times that a file is begun anew when it turns out wrong: the second covers a remainder of an
earlier, damaged try. After that the hub itself is wrong."""

Result = TypeVar("Result")


class Download:
    """Asks one hub, again and again where that helps."""

    def __init__(
        self, hub: Hub, progress: Progress, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._hub = hub
        self._progress = progress
        self._sleep = sleep
        self._waits: tuple[float, ...] = FIRST_RETRY_SECONDS

    def tried(self, request: Callable[[], Result]) -> Result:
        """What the request brings, in a few tries. Raises FetchFailed when there is no answer."""
        tries = iter(self._waits)
        while True:
            try:
                result = request()
            except Interrupted as cut:
                self._pause(tries, cut)
            else:
                self._waits = RETRY_SECONDS
                return result

    def bring(self, repository: Repository, file: HubFile, target: Path) -> None:
        """Fetch one file, unless it is here under its final name. Raises FetchFailed."""
        self._progress.begin(file.name, file.bytes, here(target))
        if target.exists():
            return
        part = part_of(target)
        for _ in range(FRESH_STARTS):
            if self._filled(repository, file, part) == file.digest.value:
                part.replace(target)
                return
            self._progress.advance(-part.stat().st_size)
            part.unlink()
        message = (
            f"{self._hub.address} gave a {file.name} that is not what it promised, twice, so it "
            f"was thrown away; try again later."
        )
        raise FetchFailed(message)

    def _filled(self, repository: Repository, file: HubFile, part: Path) -> str:
        """Bring the part to its full length, through cuts. The digest of what it then holds."""
        tries = iter(RETRY_SECONDS)
        while True:
            before = here(part)
            try:
                return self._go_on(repository, file, part)
            except Interrupted as cut:
                if here(part) > before:
                    tries = iter(RETRY_SECONDS)
                self._pause(tries, cut)

    def _go_on(self, repository: Repository, file: HubFile, part: Path) -> str:
        """Append what is missing, as far as it comes. Raises Interrupted if it is not all."""
        with part.open("a+b") as out:
            digest = hasher(file.digest.algorithm, file.bytes)
            out.seek(0)
            while block := out.read(BLOCK_BYTES):
                digest.update(block)
            size = out.tell()
            if size < file.bytes:
                with self._hub.content(repository, file, size) as (begins, blocks):
                    if begins < size:  # the hub begins anew
                        out.truncate(0)
                        digest = hasher(file.digest.algorithm, file.bytes)
                        self._progress.advance(-size)
                        size = 0
                    for block in blocks:
                        out.write(block)
                        digest.update(block)
                        size += len(block)
                        self._progress.advance(len(block))
                        if size > file.bytes:
                            break  # more than was promised: the digest will tell
            out.flush()
            os.fsync(out.fileno())
        if size < file.bytes:
            message = "the connection ended early"
            raise Interrupted(message)
        return digest.hexdigest()

    def _pause(self, tries: Iterator[float], cut: Interrupted) -> None:
        """Wait before the next try. Raises FetchFailed when there is none."""
        seconds = next(tries, None)
        if seconds is None:
            message = (
                f"The model hub {self._hub.address} cannot be reached ({cut}); all models stay as "
                f"they were, and the same command goes on from here when there is a network."
            )
            raise FetchFailed(message) from cut
        self._progress.wait(str(cut), seconds)
        self._sleep(seconds)


def part_of(target: Path) -> Path:
    """Where a file grows until it is whole."""
    return target.with_name(target.name + ".part")


def here(target: Path) -> int:
    """How much of a file is here, in bytes."""
    for path in (target, part_of(target)):
        if path.exists():
            return path.stat().st_size
    return 0
