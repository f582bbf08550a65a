"""What goes from the disk when a conversation is forgotten, beside what the log held of it."""

import asyncio
import logging
import shutil
import time
from pathlib import Path

from sayso.protocol.home import Home
from sayso.server.conversations import Conversations
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Conversation
from sayso.server.undo.checkpoints import archive_of

log = logging.getLogger(__name__)


LOOK_EVERY_S = 3_600.0
"""A day is long; an hour more or less does not count."""
DAY_S = 86_400.0


async def forget_in_time(conversations: Conversations, keep_days: int) -> None:
    """A task, until cancelled: forget what was not taken up for so many days; 0 forgets nothing.

    By a clock that was just set nothing is forgotten: what it says may be years from the truth, and
    what is forgotten is gone.
    """
    skew = time.time() - time.monotonic()
    while keep_days:
        await asyncio.sleep(LOOK_EVERY_S)
        before, skew = skew, time.time() - time.monotonic()
        if abs(skew - before) > DAY_S:
            log.warning("the clock was set by more than a day: nothing is forgotten by it yet")
            continue
        try:
            forgotten = await conversations.forget_before(time.time() - keep_days * DAY_S)
        except StoreError as problem:
            log.warning("old conversations could not be forgotten: %s", problem)
        else:
            if forgotten:
                log.info("%d conversations were older than %d days", forgotten, keep_days)


async def wipe(home: Home, about: Conversation) -> None:
    """Its checkpoints, its long outputs, and its own folder; a chosen one is the person's."""
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
