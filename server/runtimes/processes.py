"""Inspects the processes of a sandbox from outside, by /proc, and ends some of them.

Where there is no /proc, there are none to be seen; a sandbox there ends with its interpreter alone.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_AGAIN_S: Final = 0.005
"""Between two looks at what was killed: the dying need a moment."""

_PARENT, _TICKS, _STARTED, _RESIDENT = 1, slice(11, 15), 19, 21
"""Where /proc/PID/stat tells these, counted from the state."""


@dataclass(frozen=True, slots=True)
class Process:
    """A living process."""

    pid: int
    parent: int
    started: int
    """Clock ticks since the machine started."""
    ticks: int
    """What it has computed so far, with what it has waited for the end of."""
    resident: int
    """Pages of memory, those included that it shares."""


def now() -> int:
    """Return the time as the start of a process is told: in clock ticks, rounded down."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def below(*roots: int) -> list[dict[int, Process]]:
    """Return all living processes below each of these.

    A dead one may have living ones below it: its threads go one by one, and its children stay with
    the last.
    """
    children: dict[int, list[Process]] = {}
    dead: set[int] = set()
    for name in _numbers():
        if told := _stat(name):
            process, state = told
            children.setdefault(process.parent, []).append(process)
            if state in "ZX":
                dead.add(process.pid)
    return [_living(root, children, dead) for root in roots]


def _living(
    root: int, children: Mapping[int, Iterable[Process]], dead: set[int]
) -> dict[int, Process]:
    found: dict[int, Process] = {}
    waiting = [root]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child.pid not in found:
                found[child.pid] = child
                waiting.append(child.pid)
    return {pid: process for pid, process in found.items() if pid not in dead}


def begun_since(root: int, ready: int, since: int, interpreter: int = 0) -> set[Process]:
    """Return what was started below `root` since a moment, but for the interpreter itself.

    What earlier runs left running, which is all that started after the interpreter was `ready`, may
    start what it likes. `interpreter` is the number that the interpreter's process has for itself,
    if it may be younger than that.
    """
    (all_of_them,) = below(root)
    found = set()
    for process in all_of_them.values():
        if process.started >= since and not is_known_as(process.pid, interpreter):
            parents = _above(process, all_of_them)
            if not any(
                ready < each.started < since and not is_known_as(each.pid, interpreter)
                for each in parents
            ):
                found.add(process)
    return found


def end(found: Callable[[], set[Process]], within: float) -> bool:
    """Kill what is found until nothing is; return whether that is so within so many seconds."""
    deadline = time.monotonic() + within
    while left := found():
        if time.monotonic() > deadline:
            return False
        stopped: set[Process] = set()
        while new := left - stopped:  # first stop it all, so that nothing is born meanwhile
            _send(new, signal.SIGSTOP)
            stopped |= new
            left = found()
            if time.monotonic() > deadline:
                break
        _send(stopped, signal.SIGKILL)
        time.sleep(_AGAIN_S)
    return True


def _send(processes: Iterable[Process], number: int) -> None:
    """Signal processes, and none that has got the number of one of them meanwhile."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            handle = os.pidfd_open(process.pid)
            try:
                told = _stat(str(process.pid))
                if told and told[0].started == process.started:
                    signal.pidfd_send_signal(handle, number)
            finally:
                os.close(handle)


def _numbers() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - quicker
    except OSError:
        return []


def _stat(pid: str) -> tuple[Process, str] | None:
    """Return a process and its state; None if it is gone."""
    try:
        handle = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        told = os.read(handle, 4_096)
    except OSError:
        return None
    finally:
        os.close(handle)
    fields = told.rpartition(b")")[2].split()
    process = Process(
        pid=int(pid),
        parent=int(fields[_PARENT]),
        started=int(fields[_STARTED]),
        ticks=sum(map(int, fields[_TICKS])),
        resident=int(fields[_RESIDENT]),
    )
    return process, fields[0].decode()


def _above(process: Process, all_of_them: Mapping[int, Process]) -> Iterable[Process]:
    parent = all_of_them.get(process.parent)
    while parent:
        yield parent
        parent = all_of_them.get(parent.parent)


def is_known_as(pid: int, number: int) -> bool:
    """Whether a process has this number for itself, among the processes that it sees."""
    if not number:
        return False
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    own = next((line for line in status.splitlines() if line.startswith("NSpid:")), "NSpid: 0")
    return int(own.split()[-1]) == number
