"""Confinement by Landlock and seccomp, which the kernel offers to everyone: no package, no root.

Landlock decides by path what may be opened, and from its sixth version on keeps signals and
abstract UNIX sockets within the sandbox. It knows nothing of UDP or of UNIX sockets at a path:
there the seccomp filter refuses to make other sockets than streams, UNIX or TCP, and lets the guard
decide who may connect or listen: a UNIX socket may listen, as a kernel's do, a TCP socket may be
connected to the network proxy and to nothing else. The guard is a process outside the sandbox; it
also ends whatever the code leaves behind.

Landlock cannot except a part of what it allows. Snares (write_protected_files.py) in folders that
code may write are closed by mounts in a view of the file system of the code's own, which needs root
or what most kernels allow to everyone: a user namespace. Where that is not allowed either, what
code did to them is undone after its run (undo/hooks/guard.py). In that view lies memory that code's
own programs share (/dev/shm); the machine's is shared with everybody. Where there is no such view,
there is none.
"""

import ctypes
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from sayso.server.runtimes.network.socket_handover import PORT
from sayso.server.runtimes.sandbox.call_filter import seccomp
from sayso.server.runtimes.sandbox.call_filter.refused_calls import IN_SIGHT_OF_THE_HOST
from sayso.server.runtimes.sandbox.launcher import Steps
from sayso.server.runtimes.sandbox.limits import SandboxLimits, limits_of_process
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    PROCESSOR,
    SETTINGS_OF_SYSTEM,
    SYSTEM,
    Confined,
    Confines,
    Kind,
    NoSandboxInsideError,
    clean_environment,
    recognised,
    roots_own,
    sealed,
    tasks_of,
    to_hold,
    to_open,
    user_for,
)

NEEDED_VERSION = 6
"""The first that keeps signals and abstract sockets in; it came with Linux 6.12."""

_LAUNCHER = Path(__file__).with_name("launcher.py")

# Ways of access, as linux/landlock.h numbers them.
_EXECUTE, WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK = 1 << 6, 1 << 11
_ALL = (1 << 16) - 1
_NETWORK = 0b11
"""LANDLOCK_ACCESS_NET_BIND_TCP and LANDLOCK_ACCESS_NET_CONNECT_TCP, which no rule allows."""
_SCOPED = 0b11
"""LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and LANDLOCK_SCOPE_SIGNAL."""

_ON_FILES = _EXECUTE | WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
"""What can be allowed for a path that is no folder."""
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_WRITE = _ALL & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV)

_DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
_TERMINALS = (Path("/dev/ptmx"), Path("/dev/pts"))
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the C library's place for what programs share

_OF_PROCESSES = tuple(
    Path("/proc") / name
    for name in (
        "cpuinfo", "filesystems", "loadavg", "meminfo", "stat", "sys/kernel", "sys/vm", "uptime",
        "version",
    )
)  # fmt: skip
"""What tells of the machine, and of no process."""


def version() -> int:
    """Return the version of Landlock that the kernel offers; 0 where it offers none."""
    libc = ctypes.CDLL(None, use_errno=True)
    asked = libc.syscall(ctypes.c_long(444), None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, int(asked))


class Landlock:
    """Confines with Landlock and seccomp."""

    kind: Kind = "landlock"

    def __init__(self, python: Path, limits: SandboxLimits | None = None) -> None:
        self._python = python
        self.limits = limits or SandboxLimits()

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        if confines.sandbox_inside:
            raise NoSandboxInsideError
        known = recognised(confines)
        held, own = to_hold(confines)
        user = user_for(confines)
        home, scratch = private / "home", private / "tmp"
        scratch.mkdir(mode=0o700, exist_ok=True)
        asked = seccomp.asked(IN_SIGHT_OF_THE_HOST)
        places = (*confines.writable, *confines.readable, private, self._python)
        steps = Steps(
            role="guard",
            argv=list(argv),
            cgroup=confines.joins,
            user=-1 if user is None else user,
            views=[] if user is None else _views(confines, places),
            handed=[] if user is None else [str(private), str(confines.folder)],
            reached=[] if user is None else _behind_closed_folders(places, user),
            opened={} if user is None else to_open(confines),
            limits=limits_of_process(self.limits),
            already=tasks_of(os.geteuid() if user is None else user),
            home=str(home),
            skeleton=str(confines.skeleton or ""),
            at_home=dict(confines.at_home),
            landlock=[(str(path), access) for path, access in _rules(confines, private, user)],
            handled=_ALL,
            handled_network=_NETWORK,
            scoped=_SCOPED,
            filter=seccomp.assemble(IN_SIGHT_OF_THE_HOST).hex(),
            seccomp=seccomp.installer(),
            asked={str(call): name for call, name in asked.items()},
            writable=[str(path) for path in (private, *confines.writable)],
            folder=str(confines.folder),
            own=own,
            known=known,
            shared_memory=str(_SHARED_MEMORY),
            shared_memory_access=_WRITE & ~_EXECUTE,
            scratch=self.limits.scratch,
            door=door,
            proxy_port=PORT,
        )
        held_at = sealed(json.dumps(held).encode())
        steps = replace(steps, held_at=held_at)
        return Confined(
            (str(self._python), "-I", "-S", str(_LAUNCHER), json.dumps(asdict(steps))),
            clean_environment(home, scratch, environment),
            (held_at,),
            memory=self.limits.together,
        )


def _rules(confines: Confines, private: Path, user: int | None) -> Iterator[tuple[Path, int]]:
    for path in (*SYSTEM, *SETTINGS_OF_SYSTEM, PROCESSOR, *confines.readable):
        yield from _rule(path, _READ)
    for path in (
        *_OF_PROCESSES,
        Path("/proc/self"),
    ):  # the one that the code starts in, not its children
        yield from _rule(path, _READ_FILE | _READ_DIR)
    for path in _DEVICES:
        yield from _rule(path, _READ_FILE | WRITE_FILE)
    if user is not None:
        # Only as another user: the terminals of our own user, in which a person types, would be
        # open too.
        for path in _TERMINALS:
            yield from _rule(path, _READ_FILE | WRITE_FILE | _READ_DIR | _IOCTL_DEV)
    for path in (*confines.writable, private):
        yield from _rule(path, _WRITE)


def _rule(path: Path, access: int) -> Iterator[tuple[Path, int]]:
    """Yield a place, if it is there, with these rights; of a file, those that files can have."""
    try:
        folder = stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return
    yield path, access if folder else access & _ON_FILES


def _views(confines: Confines, places: Sequence[Path]) -> list[str]:
    """The folders of root's that another user must own or pass through, and so sees as its own."""
    found: set[Path] = set(roots_own(confines))
    for path in places:
        for folder in reversed(path.parents):
            status = folder.stat()
            if status.st_uid == 0 and not status.st_mode & stat.S_IXOTH:
                found.add(folder)
                break
    outermost = {path for path in found if not any(above in found for above in path.parents)}
    return sorted(str(path) for path in outermost)


def _behind_closed_folders(places: Sequence[Path], user: int) -> list[str]:
    """What a user cannot come to as folders are."""

    def is_closed(folder: Path) -> bool:
        status = folder.stat()
        passes = stat.S_IXUSR if status.st_uid == user else stat.S_IXOTH
        return not status.st_mode & passes

    return sorted(str(path) for path in set(places) if any(map(is_closed, path.parents)))
