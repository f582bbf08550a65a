"""What a test leaves behind: tasks, child processes, and exceptions that nobody looked at.

A process belongs to a test if it was started in it by this process or by one that was, or if its
environment or command line names the test's own home folder (so that orphans are found as well).
What a longer-lived fixture's process starts is that fixture's to end.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROCESSES_GRACE_S = 3.0
"""How long processes that were told to end may take. A busy machine needs a moment for a dozen."""

TASKS_GRACE_S = 0.5
"""How long cancelled tasks may take to finish."""

_POLL_S = 0.02

_HELPERS_OF_PYTHON = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Processes that Python itself starts once and keeps until it ends."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running process."""

    pid: int
    parent: int
    command: str
    environment: str
    """Empty where it cannot be read."""

    def __str__(self) -> str:
        return f"{self.pid}: {self.command}"


def running() -> frozenset[int]:
    """The ids of all processes on this machine."""
    if sys.platform == "linux":
        with os.scandir("/proc") as entries:
            return frozenset(int(entry.name) for entry in entries if entry.name.isdecimal())
    else:
        return frozenset(process.pid for process in _listed())


def left_processes(before: frozenset[int], mark: str) -> list[Process]:
    """What was started since `before` by us or under the mark, and still runs."""
    fresh = {process.pid: process for process in _look_at(running() - before)}
    return [
        process
        for process in fresh.values()
        if not any(helper in process.command for helper in _HELPERS_OF_PYTHON)
        and (mark in process.environment or mark in process.command or _is_ours(process, fresh))
    ]


def alive(pids: Iterable[int]) -> list[Process]:
    """Which of these processes there are, the dead that nobody has collected left out."""
    return list(_look_at(pids))


def wait_for_processes(before: frozenset[int], mark: str) -> list[Process]:
    """What is left after those that are ending had their time."""
    deadline = time.monotonic() + PROCESSES_GRACE_S
    while (left := left_processes(before, mark)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    return left


def end(processes: Iterable[Process]) -> None:
    """Kill them; the next test starts on a clean machine."""
    for process in processes:
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


async def left_tasks() -> list[str]:
    """Where each task waits that is not the one that asks, after cancelled ones had their time."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if tasks:
        _, tasks = await asyncio.wait(tasks, timeout=TASKS_GRACE_S)
    return [repr(task) for task in tasks]


class Unseen:
    """Collects the exceptions that the event loop would only write to a log."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.told.append(f"{context.get('message')}: {context.get('exception')!r}")


def _is_ours(process: Process, fresh: dict[int, Process]) -> bool:
    """Whether its forebears, all of them fresh, lead to this process."""
    while process.parent in fresh:
        process = fresh[process.parent]
    return process.parent == os.getpid()


def _look_at(pids: Iterable[int]) -> Iterator[Process]:
    wanted = set(pids)
    if sys.platform == "linux":
        yield from filter(None, map(_look_in_proc, wanted))
    else:
        yield from (process for process in _listed() if process.pid in wanted)


def _look_in_proc(pid: int) -> Process | None:
    folder = Path("/proc", str(pid))
    try:
        # The command's name stands in parentheses and may hold anything; the state follows it.
        state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None  # gone meanwhile
    if state == "Z":
        return None
    return Process(pid, int(parent), _words(folder / "cmdline"), _words(folder / "environ"))


def _words(file: Path) -> str:
    try:
        return file.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _listed() -> Iterator[Process]:
    listing = subprocess.run(
        ["ps", "-axo", "pid=,ppid=,state=,command="], capture_output=True, text=True, check=True
    )
    for line in listing.stdout.splitlines():
        pid, parent, state, command = line.split(maxsplit=3)
        if not state.startswith("Z") and not command.startswith("ps -axo"):
            yield Process(int(pid), int(parent), command, "")
