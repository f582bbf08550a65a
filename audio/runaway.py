"""A card's thread that never ends by itself is ended, so that whoever closes the card does not wait
for ever.

PortAudio's code for ALSA (`PaAlsaStream_WaitForFrames`, seen in 19.6) goes round in a circle, error
to end to error, when a device is pulled out at the moment that it was opened: how much sound there
is was not written yet, and is taken for some. Closing the device cancels the thread and waits, but
it does not let itself be cancelled. A signal that is handled in that thread lets it: it prints an
error each time round, and is cancelled as it does.
"""

import ctypes
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""Ending a card's thread takes milliseconds; who still waits looks why, as often as this."""
BUSY_SECONDS = 0.1
"""A thread that took so much of the processor's time meanwhile is running in circles. One that only
waits for its turn, on a machine with too much to do, must not be ended."""
CANCEL_ENABLE = 0
"""`PTHREAD_CANCEL_ENABLE`."""
_TASKS = Path("/proc/self/task")
_USER, _SYSTEM = 11, 12
"""Where the times stand behind the name in a task's `stat`."""


class EndsRunaways:
    """Of one card. What has no tasks in `/proc` has no ALSA."""

    def __init__(self) -> None:
        self._tasks: set[int] = set()
        self._timer: threading.Timer | None = None

    @contextmanager
    def born(self) -> Iterator[None]:
        """The block makes the card's thread; others that it makes do not matter."""
        before = _tasks()
        yield
        self._tasks = _tasks() - before

    @contextmanager
    def ended(self) -> Iterator[None]:
        """The block ends the card's thread, and waits for that."""
        self._look_later(self._busy())
        try:
            yield
        finally:
            # Their numbers may be others' soon.
            self._tasks = set()
            if self._timer is not None:
                self._timer.cancel()

    def _look_later(self, before: dict[int, float]) -> None:
        if self._tasks:
            self._timer = threading.Timer(LOOK_SECONDS, self._look, (before,))
            self._timer.daemon = True
            self._timer.start()

    def _look(self, before: dict[int, float]) -> None:
        now = self._busy()
        for task in self._tasks & now.keys() & before.keys():
            if now[task] - before[task] >= BUSY_SECONDS:
                log.warning("a sound card's thread runs in circles; it is ended")
                _end(task)
        self._look_later(now)

    def _busy(self) -> dict[int, float]:
        """Seconds of a processor that each has used."""
        found = {}
        for task in self._tasks:
            try:
                fields = (_TASKS / f"{task}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # It has ended.
            ticks = int(fields[_USER]) + int(fields[_SYSTEM])
            found[task] = ticks / os.sysconf("SC_CLK_TCK")
        return found


def _tasks() -> set[int]:
    """This process's threads, but for those of Python's own making."""
    if sys.platform != "linux":
        return set()
    ours = {thread.native_id for thread in threading.enumerate()}
    return {int(task.name) for task in _TASKS.iterdir()} - ours


def _end(task: int) -> None:
    system, number, _ = _system()
    system.tgkill(os.getpid(), task, number)


@cache
def _system() -> tuple[ctypes.CDLL, int, object]:
    """The C library, the number of a signal that lets its thread be cancelled, and its handler."""
    system, number = ctypes.CDLL(None), signal.SIGRTMAX - 1

    def let_be_cancelled(_number: int) -> None:
        system.pthread_setcancelstate(CANCEL_ENABLE, None)

    # Not through Python's own signals, which are handled in the main thread.
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(let_be_cancelled)
    system.signal(number, handler)
    return system, number, handler
