"""How much of the machine confined code may use: memory, files, processes; each with its reason.

The launcher sets those of a process (`set_limits.py`); those that hold for all processes of a
conversation together are watched, or left to the kernel (`runtimes/resources`).
"""

import os
from dataclasses import dataclass, field

_GIB = 1024**3


def half_the_memory() -> int:
    """Half of the machine's memory, but 2 GiB (numerical libraries reserve a lot) to 8 GiB."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 4 * _GIB
    return min(8 * _GIB, max(2 * _GIB, whole // 2))


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What one confined interpreter, and each process that it starts, may use."""

    memory: int = field(default_factory=half_the_memory)
    """Bytes of address space: a run-away allocation ends as MemoryError, not on the host's back."""
    together: int = field(default_factory=half_the_memory)
    """Bytes of memory that all processes of a conversation may hold at once."""
    file: int = 4 * _GIB
    """Bytes of one file: more than data work needs, less than a disk."""
    processes: int = 512
    """Processes and threads: ten for a kernel, one per processor in numerical libraries, room for
    pools and shells; a fork bomb stops here."""
    processes_together: int = 1_024
    """Processes and threads of a conversation, where the kernel counts them: one interpreter may
    come to its own bound, and the others work on."""
    open_files: int = 4_096
    """What Linux gives to services by default, in effect."""
    core: int = 1
    """Bytes of a core dump: it would hold the workspace's secrets and fill it. With none at all the
    kernel would still hand a crash to a program of the host's; with one byte it does not."""
    scratch: int = _GIB
    """Bytes in /tmp and in /dev/shm each, where these are memory."""


def limits_of_process(limits: SandboxLimits, *, addresses: bool = True) -> dict[str, int]:
    """What the launcher bounds for each process. `addresses`: its memory, too."""
    bounds = {
        "memory": limits.memory,
        "file": limits.file,
        "core": limits.core,
        "processes": limits.processes,
        "open_files": limits.open_files,
    }
    if not addresses:
        del bounds["memory"]
    return bounds
