"""What runs have left running in their sandbox when they were over, seen and ended from outside.

All that runs in a sandbox beside the interpreter belongs to a run: to the one that goes on, or to
one that is over and has left it. So nothing is looked for by its parents or by what it is called:
a program may change its name, and leave its parents behind.
"""

import threading
import time
from collections.abc import Set
from pathlib import Path
from typing import Final

from sayso.server.runtimes import processes
from sayso.server.runtimes.processes import Process

END_S: Final = 2.0
"""As long as a run may take to stop."""

_TITLE_BYTES: Final = 400
"""Of a command line: a list shows less."""

_NAMED_MOST: Final = 4
"""Of what one run has left: more is a crowd."""

_HELPERS: Final = (b"multiprocessing", b"joblib", b"loky")
"""Stand in the command line of what Python's libraries keep for their next use."""

_IDLE_TICKS: Final = 10
"""A tenth of a second of computing: what libraries keep does less as long as it is not used."""

_LOOKS: Final = 10
_AGAIN_S: Final = 0.005
"""So many looks, and so long between two, before what was left counts as gone: of what forks just
then, and leaves its child, a look may find neither."""

_Id = tuple[int, int]
"""The number of a process, and when it was started."""


class LeftInSandbox:
    """Knows for one sandbox which run has left what. Blocking: a thread's."""

    def __init__(self, sandbox: int) -> None:
        """`sandbox`: the process below which all of it is."""
        self._sandbox = sandbox
        self._first = 0
        """When the first run began: what is older belongs to the interpreter."""
        self._begun = 0
        """When the run that goes on began; 0 if none does."""
        self._interpreter = 0
        self._left: list[LeftProcesses] = []
        self._lock = threading.Lock()

    def run_begins(self, moment: int) -> None:
        """A run begins."""
        self._first, self._begun = self._first or moment, moment

    def run_is_over(self, interpreter: int = 0) -> "LeftProcesses | None":
        """What the run has left running; none if it is nothing. `interpreter` is the number that
        the interpreter's process has for itself, if it may be younger than when it was ready."""
        with self._lock:
            self._interpreter = interpreter
            self._begun, begun = 0, self._begun
            there = self._there()
            going = [each for each in self._left if each.known]
            found = self._unclaimed(there)
            if (
                going
            ):  # what is older than the run, and of nobody that is known, is an earlier one's
                strays = {each for each in found if each.started < begun}
                going[-1].known |= {_id(each) for each in strays}
                found -= strays
            self._left = [each for each in going if each.known]
            if not found:
                return None
            left = LeftProcesses(self, found)
            self._left.append(left)
            return left

    def of(self, left: "LeftProcesses") -> set[Process]:
        """What still runs of it, with all that it has started since."""
        found: set[Process] = set()
        with self._lock:
            for _ in range(_LOOKS if left.known else 0):
                there, begun = self._there(), self._begun
                # Whoever has left its parents behind is known by that no run goes on that could
                # have started it.
                strays = self._unclaimed(there)
                strays = {each for each in strays if not begun or each.started < begun}
                found = {each for each in there if _id(each) in left.known} | strays
                if found:
                    break
                time.sleep(_AGAIN_S)
            left.known = {_id(each) for each in found}
        return found

    def _there(self) -> Set[Process]:
        """All processes but the interpreter's own."""
        (found,) = processes.below(self._sandbox)
        younger = (each for each in found.values() if each.started >= self._first)
        return {each for each in younger if not processes.is_known_as(each.pid, self._interpreter)}

    def _unclaimed(self, there: Set[Process]) -> set[Process]:
        """Processes that no earlier run has left, itself or through what it left."""
        claimed: set[_Id] = set()
        for left in self._left:
            left.known &= {_id(each) for each in there}
            parents = {each.pid for each in there if _id(each) in left.known}
            while parents:
                taken = left.known | claimed
                born = {each for each in there if each.parent in parents and _id(each) not in taken}
                left.known |= {_id(each) for each in born}
                parents = {each.pid for each in born}
            claimed |= left.known
        return {each for each in there if _id(each) not in claimed}


class LeftProcesses:
    """What one run has left running. Blocking: a thread's."""

    def __init__(self, all_of_them: LeftInSandbox, found: Set[Process]) -> None:
        self._all = all_of_them
        self.known = {_id(each) for each in found}
        """What of it ran when it was last looked at."""
        self._only_helpers = True
        self._ticks = {_id(each): each.ticks for each in found}
        """What each had computed when the run was over."""

    @property
    def title(self) -> str:
        """The commands that are left, as they are called."""
        return ", ".join(commands_of(self._all.of(self)))

    @property
    def alive(self) -> bool:
        """Whether any of it still runs. To be looked at now and then: what it has started since is
        known by what started it."""
        return bool(self._all.of(self))

    @property
    def works(self) -> bool:
        """Whether there is more of it than what Python's libraries keep for their next use and
        does nothing. What only calls itself so is known by what it does."""
        there = self._all.of(self)
        self._only_helpers = self._only_helpers and all(
            _is_helper(each) and each.ticks - self._ticks.get(_id(each), 0) < _IDLE_TICKS
            for each in there
        )
        return bool(there) and not self._only_helpers

    def end(self) -> bool:
        """Kill all of it; return whether it is gone."""
        return processes.end(lambda: self._all.of(self), END_S)


def commands_of(found: Set[Process]) -> list[str]:
    """The commands of processes, the oldest first, without what they started themselves. A process
    that is called like its parent has only forked: what it starts is told in its place."""
    oldest = sorted(found, key=lambda each: (each.started, each.pid))
    forks = {each.pid for each in oldest if _command(each.pid) == _command(each.parent)}
    started = {each.pid for each in oldest} - forks
    told = [
        _title(each)
        for each in oldest
        if each.pid in started and each.parent not in started and not _is_helper(each)
    ]
    named = [command for command in told if command] or [_title(each) for each in oldest[:1]]
    more = len(named) - _NAMED_MOST
    return [*named[:_NAMED_MOST], f"and {more} more"] if more > 0 else named


def _id(process: Process) -> _Id:
    return process.pid, process.started


def _is_helper(process: Process) -> bool:
    called = _command(process.pid)
    return any(word in called for word in _HELPERS)


def _title(process: Process) -> str:
    return _command(process.pid).replace(b"\0", b" ").decode(errors="replace").strip()


def _command(pid: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/cmdline").open("rb") as file:
            return file.read(_TITLE_BYTES)
    except OSError:
        return b""
