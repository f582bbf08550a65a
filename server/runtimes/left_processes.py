"""What a run has left running in its sandbox when it was over, seen and ended from outside."""

from collections.abc import Iterable, Set
from pathlib import Path
from typing import Final, Self

from sayso.server.runtimes import processes
from sayso.server.runtimes.processes import Process

END_S: Final = 2.0
"""As long as a run may take to stop."""

_TITLE_BYTES: Final = 400
"""Of a command line: a list shows less."""

_HELPERS: Final = (b"multiprocessing", b"joblib", b"loky")
"""Stand in the command line of what Python's libraries keep for their next use: they do nothing by
themselves."""


class LeftProcesses:
    """Blocking: a thread's."""

    def __init__(self, sandbox: int, found: Set[Process]) -> None:
        """`sandbox`: the process below which all of it is."""
        self._sandbox = sandbox
        self._known = {(each.pid, each.started) for each in found}
        first = min(found, key=lambda each: (each.started, each.pid))
        self.title = _command(first.pid).replace(b"\0", b" ").decode(errors="replace").strip()
        """The command that was left, as it was called."""

    @classmethod
    def found(cls, sandbox: int, ready: int, since: int, interpreter: int = 0) -> Self | None:
        """What was started since a moment and still runs (processes.py); none if nothing does."""
        found = processes.begun_since(sandbox, ready, since, interpreter)
        own = {each for each in found if not _is_helper(each.pid)}
        return cls(sandbox, own) if own else None

    @property
    def ids(self) -> Set[tuple[int, int]]:
        """The number of each process, and when it was started."""
        return self._known

    def is_of(self, earlier: Iterable[Self]) -> bool:
        """Whether earlier runs have left all of it: time is told in ticks, and a run may begin in
        the one in which another has left something."""
        return self._known <= {each for one in earlier for each in one.ids}

    @property
    def alive(self) -> bool:
        """Whether any of it still runs. To be looked at now and then: what it has started since is
        known by what started it."""
        return bool(self._now())

    def end(self) -> bool:
        """Kill all of it; return whether it is gone."""
        return processes.end(self._now, END_S)

    def _now(self) -> set[Process]:
        (there,) = processes.below(self._sandbox)
        found = {each for each in there.values() if (each.pid, each.started) in self._known}
        grown = True
        while grown:
            parents = {each.pid for each in found}
            born = {each for each in there.values() if each.parent in parents} - found
            found |= born
            grown = bool(born)
        self._known = {(each.pid, each.started) for each in found}
        return found


def _is_helper(pid: int) -> bool:
    called = _command(pid)
    return any(word in called for word in _HELPERS)


def _command(pid: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/cmdline").open("rb") as file:
            return file.read(_TITLE_BYTES)
    except OSError:
        return b""
