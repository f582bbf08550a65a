"""Deletes what a forgotten conversation has outside of the log."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Protocol

from sayso.protocol.home import Home
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.runtimes.protection.paths_beneath import remove_tree
from sayso.server.store.errors import StoreError
from sayso.server.store.records import Conversation
from sayso.server.undo.checkpoints import archive_of

log = logging.getLogger(__name__)


LOOK_EVERY_S = 3_600.0
"""A day is long; an hour more or less does not count."""
DAY_S = 86_400.0

DOUBTED_S = DAY_S
"""So long a clock that was set by more than a day is not believed: somebody will have noticed."""


class NotDeleted(Exception):
    """Something of a conversation is still on the disk. One sentence for the person."""


class Deletion(Protocol):
    """Something that can forget conversations: the server's registry of them."""

    async def forget_before(self, when: float) -> int:
        """Forget what was not taken up since then (Unix seconds); returns how many. Raises
        StoreError."""
        ...

    async def last_talk(self) -> float:
        """When somebody last took part in any (Unix seconds). Raises StoreError."""
        ...


async def forget_in_time(
    conversations: Deletion, keep_days: int, clock: Callable[[], float] = time.time
) -> None:
    """A task, until cancelled: forget what was not taken up for so many days; 0 forgets nothing.

    By a clock that was just set, or by which all of it would be forgotten at a start, nothing is
    for a day: what it says may be years from the truth, and what is forgotten is gone.
    """
    if not keep_days:
        return
    now = asyncio.get_running_loop().time
    skew, believed_from = clock() - now(), now()
    if await _all_is_old(conversations, clock() - keep_days * DAY_S):
        log.warning("by this clock all conversations are old: for a day nothing is forgotten")
        believed_from += DOUBTED_S
    while True:
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


async def _all_is_old(conversations: Deletion, when: float) -> bool:
    try:
        return await conversations.last_talk() < when
    except StoreError:
        return True  # it will be seen later


async def wipe(
    home: Home, artifacts: Artifacts, withdraw: Callable[[str], None], about: Conversation
) -> None:
    """Its pictures and files in memory, and its reminders; on the disk its checkpoints, its long
    outputs, and its own folder. A chosen one is the person's. Raises NotForgotten."""
    withdraw(about.id)
    artifacts.forget(about.id)
    await asyncio.to_thread(_wipe, home, about)


def _wipe(home: Home, about: Conversation) -> None:
    archive = archive_of(home.state / "undo", about.id)
    try:
        for file in archive.parent.glob(f"{archive.stem}.*"):
            file.unlink(missing_ok=True)
        for folder in (home.state / "outputs" / about.id, home.data / "workspaces" / about.id):
            with contextlib.suppress(FileNotFoundError):
                remove_tree(folder)
    except OSError as error:
        raise NotDeleted(
            f"It is not forgotten yet: {error.filename} could not be removed ({error.strerror}). "
            "Mend that, and ask once more."
        ) from error
