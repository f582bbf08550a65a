"""Finds the processes of a running server from outside: which to kill, and which are left over."""

from dataclasses import dataclass
from pathlib import Path

STARTED_FIELD = 19
"""Of /proc/PID/stat after the name: when the process began. A later one of the same number is
another."""


@dataclass(frozen=True, slots=True)
class Victim:
    """One process, told from all others for ever."""

    pid: int
    began: str

    @property
    def alive(self) -> bool:
        """Whether it still runs. One that is dead and not yet buried does not."""
        now = _stat(self.pid)
        return now is not None and now.began == self.began and now.state not in "ZX"


@dataclass(frozen=True, slots=True)
class _Stat:
    state: str
    parent: int
    began: str


def below(root: int, words: str = "") -> list[Victim]:
    """All processes below one, those that start the others first; `words`: in the command line."""
    children: dict[int, list[Victim]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (stat := _stat(int(entry.name))):
            victim = Victim(int(entry.name), stat.began)
            children.setdefault(stat.parent, []).append(victim)
    found, waiting = [], [root]
    while waiting:
        for victim in children.get(waiting.pop(0), ()):
            waiting.append(victim.pid)
            if words in _command(victim.pid):
                found.append(victim)
    return found


def descriptors(pid: int) -> int:
    """How many files and sockets a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident_kib(pid: int) -> int:
    """How much memory a process has."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def _stat(pid: int) -> _Stat | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return _Stat(fields[0], int(fields[1]), fields[STARTED_FIELD])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
