"""Ends the thread of a sound card that never ends by itself, so that closing the card does not wait
for ever.

PortAudio's code for ALSA (`PaAlsaStream_WaitForFrames`, seen in 19.6) goes round in a circle, error
to end to error, when a device is pulled out at the moment that it was opened: how much sound there
is was not written yet, and is taken for some. Closing the device cancels the thread and waits, but
it does not let itself be cancelled. A signal that is handled in that thread lets it.
"""

import ctypes
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.3
"""Ending a card's thread takes milliseconds; who still waits looks why, as often as this."""
BUSY_SECONDS = 0.1
"""A thread that took so much of the processor's time since it was told to end is running in
circles, however long that took on a machine with too much to do. One that only waits for its turn
must not be ended."""
TASKS = Path("/proc/self/task")
"""Where Linux lists this process's threads."""
_USER, _SYSTEM = 11, 12
"""Where the times stand behind the name in a task's `stat`."""
_ENABLE, _DEFERRED, _ASYNCHRONOUS = 0, 0, 1
"""`PTHREAD_CANCEL_ENABLE`, `PTHREAD_CANCEL_DEFERRED`, `PTHREAD_CANCEL_ASYNCHRONOUS`."""


class ThreadReaper:
    """Of one card. What has no tasks in `/proc` has no ALSA, or no way to tell who runs away."""

    def __init__(self) -> None:
        self._tasks: set[int] = set()

    @contextmanager
    def born(self) -> Iterator[None]:
        """The block makes the card's thread; others that it makes do not matter."""
        before = _tasks()
        yield
        self._tasks = _tasks() - before

    @contextmanager
    def ended(self) -> Iterator[None]:
        """The block ends the card's thread, and waits for that."""
        over = threading.Event()
        if self._tasks:
            before = _busy(self._tasks)
            threading.Thread(target=_watch, args=(before, over), daemon=True).start()
        try:
            yield
        finally:
            over.set()
            # Their numbers may be others' soon.
            self._tasks = set()


def _watch(before: dict[int, float], over: threading.Event) -> None:
    while not over.wait(LOOK_SECONDS):
        # One of Python's threads that was just starting has its number by now; it stays Python's
        # while it ends, when Python knows it no longer.
        known = _of_python()
        before = {task: used for task, used in before.items() if task not in known}
        for task, used in _busy(before).items():
            if used - before[task] >= BUSY_SECONDS:
                before[task] = used
                _end(task)


def _busy(tasks: Iterable[int]) -> dict[int, float]:
    """Seconds of a processor that each has used."""
    found = {}
    for task in tasks:
        try:
            fields = (TASKS / f"{task}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended.
        ticks = int(fields[_USER]) + int(fields[_SYSTEM])
        found[task] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def _tasks() -> set[int]:
    """This process's threads, but for those of Python's own making."""
    if sys.platform != "linux":
        return set()
    try:
        return {int(task.name) for task in TASKS.iterdir()} - _of_python()
    except OSError:
        return set()


def _of_python() -> set[int]:
    """Not a card's thread that Python knows merely because it called Python."""
    return {
        thread.native_id
        for thread in threading.enumerate()
        if thread.native_id is not None and not isinstance(thread, threading._DummyThread)  # noqa: SLF001
    }


def _end(task: int) -> None:
    try:
        tell, number, _ = _signalling()
    except (OSError, AttributeError):  # Such as `tgkill` in glibc before 2.30.
        log.warning("a sound card's thread runs in circles; this C library cannot end it")
        return
    log.warning("a sound card's thread runs in circles; it is ended")
    tell(os.getpid(), task, number)


@cache
def _signalling() -> tuple[Callable[[int, int, int], int], int, object]:
    """What sends a signal to a thread, one that lets the thread be cancelled, and its handler."""
    system, number = ctypes.CDLL(None), signal.SIGRTMAX - 1
    set_state, set_type = system.pthread_setcancelstate, system.pthread_setcanceltype
    tell = system.tgkill

    def let_be_cancelled(_number: int) -> None:
        # It must be cancelled inside of the second call, where it holds nothing of Python's: if it
        # waited for its turn in Python instead, it would die there, and everybody's turn with it.
        set_type(_ASYNCHRONOUS, None)
        set_state(_ENABLE, None)
        set_type(_DEFERRED, None)

    # Not through Python's own signals, which are handled in the main thread.
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(let_be_cancelled)
    system.signal(number, handler)
    return tell, number, handler
