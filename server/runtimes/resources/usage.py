"""Measures what confined code uses: memory, and space on disks."""

import contextlib
import os
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.processes import Process

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")

_SHARED_SUSPECT_BYTES: Final = 64 * 1024**2
"""As soon as the machine holds so much more memory in files than before, open files are counted."""

_DESCRIPTORS_MOST: Final = 65_536
"""Open files that are looked at. Who has more, while memory in files grows, means to hide it."""

_NAMELESS: Final = ("/memfd:", "/dev/shm/")  # noqa: S108 - to be counted, not written
"""How the names of open files begin that are memory, where no sandbox has them for itself."""

_FIRST_TO_GO: Final = 1_000
"""The most that oom_score_adj can be."""

_SCRATCH: Final = ("tmp", "dev/shm")
"""Where a sandbox may have file systems of its own that are memory."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine's memory, in bytes."""

    whole: int
    available: int
    in_files: int
    """What files hold that are on no disk: tmpfs, shared memory, memfd."""
    swap: int


def machine() -> Machine:
    """Return what the machine says of its memory; where it says nothing, there is enough."""
    told: dict[str, int] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, amount = line.partition(":")
            told[name] = int(amount.split()[0]) * 1024
    whole = told.get("MemTotal", 2**62)
    available = told.get("MemAvailable", whole)
    return Machine(whole, available, told.get("Shmem", 0), told.get("SwapTotal", 0))


@dataclass(frozen=True, slots=True)
class Room:
    """What is free on a file system."""

    free: int
    """Bytes that anybody may use."""
    whole: int
    files: int
    """How many more files there may be; -1 if it does not count them."""
    files_whole: int


def room(folder: Path) -> Room | None:
    """Return what is free where a folder is; None if it is gone."""
    try:
        disk = os.statvfs(folder)
    except OSError:
        return None
    files = disk.f_favail if disk.f_files else -1
    return Room(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize, files, disk.f_files)


def held(processes: Sequence[Process], bound: int, before: Machine, now: Machine) -> int:
    """Return how much memory a sandbox's processes hold together, in bytes.

    It is more than they hold as long as that is below the bound: then nobody need know precisely.
    """
    files, counted = _scratch(processes)
    if now.in_files - before.in_files > _SHARED_SUSPECT_BYTES:
        files = max(
            files, bound + 1 if (found := _open_files(processes, counted)) < 0 else files + found
        )
    roughly = sum(process.resident for process in processes) * _PAGE + files
    if now.swap:
        roughly += sum(_swapped(process.pid) for process in processes)
    if roughly <= bound:
        return roughly
    own = shared = 0
    for process in processes:
        whole, in_files = _share(process)
        own += whole
        shared += in_files
    return own + max(0, files - shared)


def _share(process: Process) -> tuple[int, int]:
    """Return a process's share of memory, and how much of that is in files on no disk."""
    told: dict[bytes, int] = {}
    try:
        for line in Path(f"/proc/{process.pid}/smaps_rollup").read_bytes().splitlines()[1:]:
            name, _, amount = line.partition(b":")
            told[name] = int(amount.split()[0]) * 1024
    except ProcessLookupError:
        return 0, 0
    except OSError:
        return process.resident * _PAGE, 0  # it may not be read, so it counts whole
    return told.get(b"Pss", 0) + told.get(b"SwapPss", 0), told.get(b"Pss_Shmem", 0)


def _swapped(pid: int) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_bytes().splitlines():
            if line.startswith(b"VmSwap:"):
                return int(line.split()[1]) * 1024
    return 0


def stand_back(processes: Iterable[Process]) -> None:
    """Let code be the first to go if memory runs out, whatever it has set."""
    for process in processes:
        with contextlib.suppress(OSError):
            chosen = Path(f"/proc/{process.pid}/oom_score_adj")
            if int(chosen.read_bytes()) < _FIRST_TO_GO:
                chosen.write_bytes(b"%d" % _FIRST_TO_GO)


def _scratch(processes: Iterable[Process]) -> tuple[int, set[int]]:
    """What lies in the file systems of a sandbox's own that are memory, and which these are."""
    ours = Path("/").stat().st_dev
    seen: set[int] = set()
    own: set[int] = set()
    used = 0
    for process in processes:
        with contextlib.suppress(OSError):
            root = Path(f"/proc/{process.pid}/root")
            place = root.stat().st_dev
            if place == ours or place in seen:
                continue
            seen.add(place)
            for name in _SCRATCH:
                used += _used(root / name)
                own.add((root / name).stat().st_dev)
    return used, own


def _used(folder: Path) -> int:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return 0
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def _open_files(processes: Iterable[Process], counted: Container[int]) -> int:
    """Bytes in open files that are memory, but for file systems that are counted whole; -1 if there
    are too many to look at."""
    found: dict[tuple[int, int], int] = {}
    looked = 0
    for process in processes:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{process.pid}/fd") as descriptors:
            for each in descriptors:
                looked += 1
                if looked > _DESCRIPTORS_MOST:
                    return -1
                with contextlib.suppress(OSError):
                    status = each.stat()
                    if status.st_dev not in counted and str(Path(each.path).readlink()).startswith(
                        _NAMELESS
                    ):
                        found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(found.values())
