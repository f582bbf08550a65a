"""Confinement by bubblewrap: a file system of our choice, and namespaces without the host.

Inside, there are the system's programs, the folders in reach, and nothing else: no home, no
network, no other process, no socket of the host. The process tree lives in a namespace that ends
with its first process, so nothing can outlive it.
"""

import contextlib
import functools
import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from sayso.server.runtimes.network.door import PORT
from sayso.server.runtimes.sandbox import seccomp
from sayso.server.runtimes.sandbox.launcher import Steps, mount_points
from sayso.server.runtimes.sandbox.refusals import IN_ITS_OWN_WORLD
from sayso.server.runtimes.sandbox.sandbox import (
    NO_DOOR,
    PROCESSOR,
    SETTINGS_OF_SYSTEM,
    SYSTEM,
    Confined,
    Confines,
    Kind,
    Limits,
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
_SCRATCH = Path("/tmp")  # noqa: S108 - the sandbox's own
_HOME = _SCRATCH / "home"

_HELP_S = 2.0
"""It takes 2 ms."""

_NAMES = Path("/etc/passwd")


class Bubblewrap:
    """Confines with the `bwrap` program."""

    kind: Kind = "bubblewrap"

    def __init__(self, program: Path, python: Path, limits: Limits | None = None) -> None:
        self._program = program
        self._python = python
        self._limits = limits or Limits()

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_DOOR,
    ) -> Confined:
        user = user_for(confines)
        known = recognised(confines)
        held, own = to_hold(confines)
        enter = Steps(
            role="enter",
            argv=list(argv),
            user=-1 if user is None else user,
            limits=self._bounds(user),
            home=str(_HOME),
            skeleton=str(confines.skeleton or ""),
            at_home=dict(confines.at_home),
            folder=str(confines.folder),
            own=own,
            known=known,
            writable=[str(path) for path in confines.writable],
            door=door,
            proxy_port=PORT,
        )
        with contextlib.ExitStack() as undo:

            def passed(content: bytes) -> int:
                descriptor = sealed(content)
                undo.callback(os.close, descriptor)
                return descriptor

            held_at = passed(json.dumps(held).encode())
            filter_at = passed(seccomp.assemble(IN_ITS_OWN_WORLD))
            names_at = passed(_names(os.getuid() if user is None else user))
            options = (
                *_namespaces(user),
                *self._file_system(confines, private, names_at, [*held, *own]),
                *("--seccomp", str(filter_at)),
            )
            options_at = passed(b"".join(os.fsencode(option) + b"\0" for option in options))
            inside = {
                point
                for point in {*_mounted_by(options)} - {place[0] for place in held}
                if any(Path(point).is_relative_to(folder) for folder in confines.writable)
            }
            enter = replace(enter, held_at=held_at, mounted=sorted(inside))
            command = (str(self._program), "--args", str(options_at), "--", *self._launch(enter))
            if user is not None:
                views = [str(path) for path in roots_own(confines)]
                handed = [str(private), str(confines.folder)]
                stage = Steps(
                    role="stage",
                    argv=list(command),
                    user=user,
                    views=views,
                    handed=handed,
                    opened=to_open(confines),
                )
                command = self._launch(stage)
            undo.pop_all()
        environment = clean_environment(_HOME, _SCRATCH, environment)
        return Confined(command, environment, (filter_at, names_at, options_at, held_at))

    def _launch(self, steps: Steps) -> tuple[str, ...]:
        return (str(self._python), "-I", "-S", str(_LAUNCHER), json.dumps(asdict(steps)))

    def _bounds(self, user: int | None) -> dict[str, int]:
        # In a user namespace of their own, the sandbox's processes alone are counted; a root server
        # makes none, and the limit is on all that this user runs.
        already = 0 if user is None else tasks_of(user)
        return {
            "memory": self._limits.memory,
            "file": self._limits.file,
            "core": self._limits.core,
            "processes": self._limits.processes + already,
            "open_files": self._limits.open_files,
        }

    def _file_system(
        self, confines: Confines, private: Path, names_at: int, held: Sequence[Place]
    ) -> Iterator[str]:
        """Lay out what there is inside; what lies deeper comes later, on top."""
        yield from ("--proc", "/proc", "--dev", "/dev")
        for scratch in (_SCRATCH, Path("/dev/shm")):  # noqa: S108 - the sandbox's own
            yield from ("--perms", "1777")
            if self._bounds_scratch:
                yield from ("--size", str(self._limits.scratch))
            yield from ("--tmpfs", str(scratch))
        folders = {
            **dict.fromkeys((*SYSTEM, *SETTINGS_OF_SYSTEM, PROCESSOR), "--ro-bind"),
            **dict.fromkeys((*confines.readable, *self._own()), "--ro-bind"),
            **dict.fromkeys((*confines.writable, private), "--bind"),
        }
        folders = {path: way for path, way in folders.items() if path.exists()}
        for parent in sorted({parent for path in folders for parent in path.parents}):
            # Or bubblewrap makes them as closed as what lies in them, and another user cannot pass.
            yield from ("--perms", "0755", "--dir", str(parent))
        for path, way in sorted(folders.items()):
            if path in SYSTEM and path.is_symlink():
                yield from ("--symlink", str(path.readlink()), str(path))
            elif path == _NAMES:
                yield from ("--perms", "0644", "--ro-bind-data", str(names_at), str(path))
            else:
                yield from (way, str(path), str(path))
        for place, _, _, closed in sorted(held):
            # What something is mounted on cannot be renamed or removed either. That these are the
            # places that were found, the launcher makes sure of before any code runs.
            yield from ("--ro-bind" if closed else "--bind", place, place)
        yield from ("--remount-ro", "/dev", "--remount-ro", "/")

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
        return (_LAUNCHER,) if prefix in SYSTEM else (_LAUNCHER, prefix)


def _mounted_by(options: Sequence[str]) -> Iterator[str]:
    """Where bubblewrap is to mount something, and where the machine itself has, which comes
    along."""
    for number, option in enumerate(options):
        if option in ("--bind", "--ro-bind", "--ro-bind-data"):
            yield options[number + 2]
    yield from (point for point, _ in mount_points().values())


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
