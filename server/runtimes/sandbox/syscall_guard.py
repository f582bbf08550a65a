"""The guard's work while confined code runs: a script without packages, which the launcher loads.

It stays outside the sandbox and does three things. It ends what the code left behind, when the code
or the server has ended. It collects the dead. And it has calls answered that the sandbox does not
govern and that programs cannot do without (guarded_calls.py); the filter of system calls hands them
over.
"""

import contextlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

_TOLD_MOST = 1_024
"""Bytes that are told of the sandbox: a few numbers."""

_KILL_S = 2.0
"""How long to keep killing before giving up on what does not die (it waits for a disk)."""

_KILL_AGAIN_S = 0.005
"""Between two looks at what is left: the dying need a moment."""


def oversee(child: int, lifeline: int, way: socket.socket, steps: object) -> int:
    """Return the confined process's exit code when it, and all that it started, is gone.

    `lifeline`: a pipe that closes when the server ends. `way`: over it comes where the filter hands
    calls over, and what the sandbox has of its own; nothing where it has no filter.
    """
    listener, answer = _guard(way, steps)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    os.kill(os.getpid(), signal.SIGCHLD)  # it may have ended before we listened
    watched = select.poll()
    watched.register(woken, select.POLLIN)
    watched.register(lifeline, 0)  # its end alone: what is in it is for the child
    if listener >= 0:
        watched.register(listener, select.POLLIN)
    code = None
    while code is None:
        for ready, what in watched.poll():
            if ready == woken:
                signals = os.read(woken, 512)
                ended = _reap(child)
                if ended is not None:
                    code = ended
                elif set(signals) - {signal.SIGCHLD}:
                    code = 1
            elif ready == lifeline:
                code = 1
            elif what & select.POLLIN:
                with contextlib.suppress(OSError):
                    answer()
            else:
                watched.unregister(ready)  # nobody is left who could ask
    _end_all(child)
    return code


def _guard(way: socket.socket, steps: object) -> tuple[int, Callable[[], None]]:
    """Where calls are handed over, or -1, and what answers one of them."""
    told, handed, _, _ = socket.recv_fds(way, _TOLD_MOST, 1)
    if not handed:
        return -1, lambda: None
    calls = runpy.run_path(str(Path(__file__).with_name("guarded_calls.py")))
    return handed[0], calls["answers"](steps, handed[0], json.loads(told))


def _reap(child: int) -> int | None:
    """Collect processes that have ended; return the child's exit code if it is among them."""
    code = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
    return None if code is None else code if code >= 0 else 128 - code


def _end_all(child: int) -> None:
    """Kill everything below this process: first stop it all, so that nothing is born meanwhile."""
    deadline = time.monotonic() + _KILL_S
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while time.monotonic() < deadline and (below := descendants()):
        stopped: set[int] = set()
        while new := below - stopped:
            _send(new, signal.SIGSTOP)
            stopped |= new
            below = descendants()
        _send(stopped, signal.SIGKILL)
        _reap(child)
        time.sleep(_KILL_AGAIN_S)
    # A container's first program, which would get those that have ended, may collect nobody.
    _reap(child)


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def descendants() -> set[int]:
    """All living processes below this one.

    A dead one may have living ones below it: its threads go one by one, and its children stay with
    the last.
    """
    if sys.platform != "linux":
        return set()  # by design on macOS: the process group is all that can be known
    children: dict[int, list[int]] = {}
    dead: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(entry.name))
                if state in "ZX":
                    dead.add(int(entry.name))
    found: set[int] = set()
    waiting = [os.getpid()]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found - dead
