"""Bounds what a process and its children may take: a script that the launcher loads.

The limit on processes (RLIMIT_NPROC) is on all that a user has on the machine. Some of that is out
of sight in a container, and where others' processes are hidden, so the kernel is asked, by starting
a process under limits that rise.
"""

import os
import resource
from collections.abc import Callable, Mapping

_LIMITS = {
    "memory": resource.RLIMIT_AS,
    "file": resource.RLIMIT_FSIZE,
    "core": resource.RLIMIT_CORE,
    "processes": resource.RLIMIT_NPROC,
    "open_files": resource.RLIMIT_NOFILE,
}

_MARGIN = 16
"""How many more than were seen there may be without a closer look; threads come and go."""

_MOST = 2**22
"""As many as Linux can have (PID_MAX_LIMIT)."""


def set_limits(most: Mapping[str, int], already: int, become: Callable[[], None]) -> None:
    """Set the limits, and become the user that runs into them. How many processes it may have comes
    on top of those that it was seen to have `already`, unless that is -1."""
    for name, value in most.items():
        if name != "processes" or already < 0:
            _lower(_LIMITS[name], value)
    become()
    if "processes" in most and already >= 0:
        _lower(resource.RLIMIT_NPROC, most["processes"] + _existing(already))


def _existing(seen: int) -> int:
    """How many processes the user has; `seen`: how many of them were counted."""
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    most = _MOST if hard == resource.RLIM_INFINITY else hard
    enough = seen + _MARGIN
    if _starts_one(enough):
        return seen
    while not _starts_one(enough := min(2 * enough, most)):
        if enough >= most:
            raise OSError(0, "No more processes may run here; end some of this user's")
    short = enough // 2
    while enough - short > _MARGIN:
        middle = (short + enough) // 2
        if _starts_one(middle):
            enough = middle
        else:
            short = middle
    return enough


def _lower(limit: int, most: int) -> None:
    _, hard = resource.getrlimit(limit)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(limit, (most, most))


def _starts_one(limit: int) -> bool:
    """Whether a process can be started under a limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, hard))
    try:
        child = os.fork()
    except BlockingIOError:
        return False
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True
