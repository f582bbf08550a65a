"""What goes when a conversation is forgotten, beside what the log held of it."""

import asyncio
import logging
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sayso.protocol.home import Home
from sayso.server.shelf import Shelf
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Conversation
from sayso.server.undo.checkpoints import archive_of

log = logging.getLogger(__name__)


LOOK_EVERY_S = 3_600.0
"""A day is long; an hour more or less does not count."""
DAY_S = 86_400.0

DOUBTED_S = DAY_S
"""So long a clock that was set by more than a day is not believed: somebody will have noticed."""


class Forgetful(Protocol):
    """What can forget: all conversations of a house."""

    async def forget_before(self, when: float) -> int:
        """Forget what was not taken up since then (Unix seconds); returns how many. Raises
        StoreError."""
        ...


async def forget_in_time(
    conversations: Forgetful, keep_days: int, clock: Callable[[], float] = time.time
) -> None:
    """A task, until cancelled: forget what was not taken up for so many days; 0 forgets nothing.

    By a clock that was just set nothing is forgotten: what it says may be years from the truth, and
    what is forgotten is gone.
    """
    now = asyncio.get_running_loop().time
    skew, believed_from = clock() - now(), now()
    while keep_days:
        await asyncio.sleep(LOOK_EVERY_S)
        before, skew = skew, clock() - now()
        if abs(skew - before) > DAY_S:
            log.warning("the clock was set by more than a day: for a day nothing is forgotten")
            believed_from = now() + DOUBTED_S
        if now() < believed_from:
            continue
        try:
            forgotten = await conversations.forget_before(clock() - keep_days * DAY_S)
        except StoreError as problem:
            log.warning("old conversations could not be forgotten: %s", problem)
        else:
            if forgotten:
                log.info("%d conversations were older than %d days", forgotten, keep_days)


async def wipe(home: Home, shelf: Shelf, about: Conversation) -> None:
    """Its pictures and files in memory; on the disk its checkpoints, its long outputs, and its own
    folder. A chosen one is the person's."""
    shelf.forget(about.id)
    await asyncio.to_thread(_wipe, home, about)


def _wipe(home: Home, about: Conversation) -> None:
    archive = archive_of(home.state / "undo", about.id)
    for file in archive.parent.glob(f"{archive.stem}.*"):
        file.unlink(missing_ok=True)
    _remove(home.state / "outputs" / about.id)
    _remove(home.data / "workspaces" / about.id)


def _remove(folder: Path) -> None:
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("%s could not be removed: %s", folder, error.strerror)
