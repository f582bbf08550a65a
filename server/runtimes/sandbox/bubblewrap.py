"""Confinement by bubblewrap: a file system of our choice, and namespaces without the host.

Inside, there are the system's programs, the folders in reach, and nothing else: no home, no
network, no other process. The process tree lives in a namespace that ends with its first process,
so nothing can outlive it.

What is shown read-only keeps its sockets and named pipes, behind which programs of the host listen.
So a guard outside makes the connections of UNIX sockets, and only to those of the sandbox's own
(guarded_calls.py); and Landlock, where the kernel has it, lets nothing be opened for writing but
what lies where code may write. For that, what may be read must not lie below what may be written:
if it comes from /tmp, which is the sandbox's own, a link there leads to it.
"""

import contextlib
import functools
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from sayso.server.runtimes.network.socket_handover import PORT
from sayso.server.runtimes.sandbox.call_filter import seccomp
from sayso.server.runtimes.sandbox.call_filter.refused_calls import (
    EVERYWHERE,
    IN_ITS_OWN_WORLD,
    WITH_A_SANDBOX_INSIDE,
)
from sayso.server.runtimes.sandbox.landlock import REFER, WRITE_FILE, version
from sayso.server.runtimes.sandbox.launcher import Steps, mount_points
from sayso.server.runtimes.sandbox.limits import SandboxLimits, limits_of_process
from sayso.server.runtimes.sandbox.sandbox import (
    NO_HANDOVER,
    PROCESSOR,
    SETTINGS_OF_SYSTEM,
    SYSTEM,
    Confined,
    Confines,
    Kind,
    Place,
    clean_environment,
    recognised,
    roots_own,
    sealed,
    tasks_of,
    to_hold,
    to_open,
    user_for,
)

_LAUNCHER = Path(__file__).with_name("launcher.py")
_SCRIPTS = (_LAUNCHER, _LAUNCHER.with_name("set_limits.py"))
"""What runs in the sandbox before the code."""
_SCRATCH = Path("/tmp")  # noqa: S108 - the sandbox's own
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the sandbox's own
_HOME = _SCRATCH / "home"

_MOVED = Path("/run/sayso")
"""Where the sandbox shows what comes from its own /tmp."""

_WRITING_SINCE = 2
"""The first version of Landlock that can do without forbidding to move files between folders."""

_HELP_S = 2.0
"""It takes 2 ms."""

_NAMES = Path("/etc/passwd")


class Bubblewrap:
    """Confines with the `bwrap` program."""

    kind: Kind = "bubblewrap"

    def __init__(self, program: Path, python: Path, limits: SandboxLimits | None = None) -> None:
        self._program = program
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
        user = user_for(confines)
        known = recognised(confines)
        held, own = to_hold(confines)
        folders = self._folders(confines, private)
        moved = _moved([path for path, way in folders.items() if way == "--ro-bind"])

        everywhere = WITH_A_SANDBOX_INSIDE if confines.sandbox_inside else EVERYWHERE

        def inside(path: str | Path) -> str:
            return str(_inside(Path(path), moved))

        enter = Steps(
            role="enter",
            argv=list(argv),
            user=-1 if user is None else user,
            limits=limits_of_process(self.limits, addresses=not confines.sandbox_inside),
            # In a user namespace of their own, the sandbox's processes alone are counted; a root
            # server makes none, and the limit is on all that this user runs.
            already=-1 if user is None else tasks_of(user),
            home=str(_HOME),
            skeleton=str(confines.skeleton or ""),
            at_home=dict(confines.at_home),
            folder=str(confines.folder),
            own=[(inside(path), device, inode, closed) for path, device, inode, closed in own],
            known=[(inside(path), device, inode) for path, device, inode in known],
            writable=[inside(path) for path in confines.writable],
            landlock=list(_rules(confines, private)),
            handled=WRITE_FILE | REFER if version() >= _WRITING_SINCE else 0,
            filter=seccomp.assemble(IN_ITS_OWN_WORLD, everywhere=everywhere).hex(),
            seccomp=seccomp.installer(),
            memory=[str(_SCRATCH), str(_SHARED_MEMORY)],
            door=door,
            proxy_port=PORT,
        )
        with contextlib.ExitStack() as undo:

            def passed(content: bytes) -> int:
                descriptor = sealed(content)
                undo.callback(os.close, descriptor)
                return descriptor

            held_at = passed(json.dumps([(inside(path), *which) for path, *which in held]).encode())
            names_at = passed(_names(os.getuid() if user is None else user))
            options = (
                *_namespaces(user),
                *self._file_system(folders, moved, names_at, [*held, *own]),
                # Who may be whom in a namespace of users is written there, by its maker alone.
                *(() if confines.sandbox_inside else ("--remount-ro", "/proc")),
                *("--remount-ro", "/dev", "--remount-ro", "/"),
            )
            options_at = passed(b"".join(os.fsencode(option) + b"\0" for option in options))
            mounted = {
                point
                for point in {*_mounted_by(options, moved)} - {inside(place[0]) for place in held}
                if any(Path(point).is_relative_to(folder) for folder in enter.writable)
            }
            enter = replace(enter, held_at=held_at, mounted=sorted(mounted))
            command = (str(self._program), "--args", str(options_at), "--", *self._launch(enter))
            asked = seccomp.asked(IN_ITS_OWN_WORLD)
            start = Steps(
                role="start",
                argv=list(command),
                cgroup=confines.joins,
                user=-1 if user is None else user,
                views=[] if user is None else [str(path) for path in roots_own(confines)],
                handed=[] if user is None else [str(private), str(confines.folder)],
                opened={} if user is None else to_open(confines),
                own=own,
                held_at=held_at,
                asked={str(call): name for call, name in asked.items()},
                own_network=True,
                door=door,
            )
            undo.pop_all()
        environment = clean_environment(_HOME, _SCRATCH, environment)
        descriptors = (names_at, options_at, held_at)
        return Confined(self._launch(start), environment, descriptors, self.limits.together)

    def _launch(self, steps: Steps) -> tuple[str, ...]:
        return (str(self._python), "-I", "-S", str(_LAUNCHER), json.dumps(asdict(steps)))

    def _folders(self, confines: Confines, private: Path) -> dict[Path, str]:
        """All that is shown, and how."""
        folders = {
            **dict.fromkeys((*SYSTEM, *SETTINGS_OF_SYSTEM, PROCESSOR), "--ro-bind"),
            **dict.fromkeys((*confines.readable, *self._own()), "--ro-bind"),
            **dict.fromkeys((*confines.writable, private), "--bind"),
        }
        return {path: way for path, way in folders.items() if path.exists()}

    def _file_system(
        self,
        folders: Mapping[Path, str],
        moved: Mapping[Path, Path],
        names_at: int,
        held: Sequence[Place],
    ) -> Iterator[str]:
        """Lay out what there is inside; what lies deeper comes later, on top."""
        yield from ("--proc", "/proc", "--dev", "/dev")
        for scratch in (_SCRATCH, _SHARED_MEMORY):
            yield from ("--perms", "1777")
            if self._bounds_scratch:
                yield from ("--size", str(self.limits.scratch))
            yield from ("--tmpfs", str(scratch))
        shown = {path: _inside(path, moved) for path in folders}
        for parent in sorted({each for path in (*shown.values(), *moved) for each in path.parents}):
            # Or bubblewrap makes them as closed as what lies in them, and another user cannot pass.
            yield from ("--perms", "0755", "--dir", str(parent))
        for path, place in sorted(shown.items()):
            if path in SYSTEM and path.is_symlink():
                yield from ("--symlink", str(path.readlink()), str(path))
            elif path == _NAMES:
                yield from ("--perms", "0644", "--ro-bind-data", str(names_at), str(path))
            else:
                yield from (folders[path], str(path), str(place))
        for path, place in moved.items():
            yield from ("--symlink", str(place), str(path))
        for name, _, _, closed in sorted(held):
            # What something is mounted on cannot be renamed or removed either. That these are the
            # places that were found, the launcher makes sure of before any code runs.
            way = "--ro-bind" if closed else "--bind"
            yield from (way, name, str(_inside(Path(name), moved)))

    @functools.cached_property
    def _bounds_scratch(self) -> bool:
        """Whether this bubblewrap can: from 0.7 on. Before, a file's own limit must do."""
        said = subprocess.run(
            [str(self._program), "--help"],
            capture_output=True,
            check=False,
            timeout=_HELP_S,
            env={},
        )
        return b"--size " in said.stdout + said.stderr

    def _own(self) -> tuple[Path, ...]:
        """What the launcher needs inside; the system's Python is there already."""
        prefix = self._python.parent.parent
        return _SCRIPTS if prefix in SYSTEM else (*_SCRIPTS, prefix)


def _mounted_by(options: Sequence[str], moved: Mapping[Path, Path]) -> Iterator[str]:
    """Where bubblewrap is to mount something, and where the machine itself has, which comes
    along."""
    for number, option in enumerate(options):
        if option in ("--bind", "--ro-bind", "--ro-bind-data"):
            yield options[number + 2]
    yield from (str(_inside(Path(point), moved)) for point, _ in mount_points().values())


def _rules(confines: Confines, private: Path) -> Iterator[tuple[str, int]]:
    """Where anything may be opened for writing."""
    for path in (_SCRATCH, Path("/dev"), Path("/proc"), private, *confines.writable):
        yield str(path), WRITE_FILE | REFER if path.is_dir() else WRITE_FILE


def _moved(read_only: Sequence[Path]) -> dict[Path, Path]:
    """Where what would lie in the sandbox's own /tmp is shown instead, the outermost of each. Files
    stay beside each other, so that a program finds what it names relative to itself."""
    found: dict[Path, Path] = {}
    for path in sorted(read_only):
        if path.is_relative_to(_SCRATCH) and not found.keys() & set(path.parents):
            found[path] = _MOVED / path.relative_to(_SCRATCH)
    return found


def _inside(path: Path, moved: Mapping[Path, Path]) -> Path:
    """Where a path is shown."""
    for above, place in moved.items():
        if path.is_relative_to(above):
            return place / path.relative_to(above)
    return path


def _namespaces(user: int | None) -> Iterator[str]:
    yield from (
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    )
    yield from ("--hostname", "sayso", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    if user is None:
        yield "--unshare-user"
    else:
        # A root server: root's bubblewrap can show folders that others cannot enter; the launcher
        # inside needs these three to become the other user, and keeps none.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            yield from ("--cap-add", capability)


def _names(user: int) -> bytes:
    """A password file in which the code's user has a name, and nobody else's is told."""
    return (
        "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
        f"sayso:x:{user}:{user}:Sayso:{_HOME}:/bin/sh\n"
    ).encode()
