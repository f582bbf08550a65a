"""Nobody waits for what the interpreter does on the side, and memory does not creep.

What a server loads at its start (litellm alone makes 300,000 objects) stays until its end. Looked
through again and again for garbage, it would halt everybody for a fifth of a second each time.
"""

import asyncio
import ctypes
import gc
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")

M_ARENA_MAX = -8
"""mallopt(3): how many heaps there may be."""

HEAPS = 2
"""For all threads together. By itself the C library gives each thread of a server one of its own,
and what is free in one is of no use to the others: 20 MB that grow for thousands of turns."""

ENDING_S = 10.0
"""From being told to end to the end. Farewells and what is being written take a second or two; a
service manager that kills waits as long, or longer."""

CUT_SHORT = 1
"""A program's status when its end was cut short."""

log = logging.getLogger(__name__)


def share_heaps() -> None:
    """Have few heaps. To be called before there are threads; other C libraries have one anyway."""
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(M_ARENA_MAX, HEAPS)


def keep_for_good() -> None:
    """What is in memory now is no garbage; what comes later is looked through as always."""
    gc.freeze()


@contextmanager
def loading() -> Iterator[None]:
    """What is loaded in here is kept for good. It is not looked through meanwhile either: that
    takes a fifth of the time of a large import.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


async def in_background(work: Callable[[], Result], name: str) -> Result:
    """Do something in a thread whose end nothing waits for. Raises what the work raises.

    An import cannot be stopped, and a large one takes half a minute on a slow machine.
    """
    future: Future[Result] = Future()

    def run() -> None:
        future.set_running_or_notify_cancel()
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 (it is raised where it is waited for)
            future.set_exception(problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await asyncio.wrap_future(future)


class Shutdown:
    """Sees to it that a program that was told to end does end, whatever it waits for."""

    def __init__(self, within_s: float = ENDING_S) -> None:
        self._timer = threading.Timer(within_s, self._cut_short)
        self._timer.daemon = True
        self._within_s = within_s

    def begin(self) -> None:
        """It was told to end. What is at work when the time is up is named in the log, and ends
        with the program; processes below it end with it as they would if it was killed.
        """
        if not self._timer.is_alive():
            self._timer.start()

    def end(self) -> None:
        """It ended by itself."""
        if self._timer.is_alive():
            self._timer.cancel()
            self._timer.join()

    def _cut_short(self) -> None:
        at_work = {one.name for one in threading.enumerate()} - {self._timer.name}
        log.warning(
            "the end was cut short after %g s; still there: %s",
            self._within_s,
            ", ".join(sorted(at_work)),
        )
        logging.shutdown()
        os._exit(CUT_SHORT)


def leave(status: int) -> int:
    """The last thing that a program does: end at once if something still goes on in background.

    The interpreter's own way out would meet that thread in the middle of native code.
    """
    if not any(thread.daemon for thread in threading.enumerate()):
        return status
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


async def end(task: asyncio.Task[Any]) -> None:
    """Cancel a task and see it to its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
