"""The seam for confinement: a command and its confines in, the confined command out."""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.protection.folder_identity import Identity, look_at
from sayso.server.runtimes.protection.own_places import held_in
from sayso.server.runtimes.protection.write_protected_files import find_to_hold
from sayso.server.runtimes.resources.cgroups import NO_CGROUP, ConversationCgroup
from sayso.server.runtimes.resources.watch import ResourceWatch
from sayso.server.runtimes.sandbox.limits import SandboxLimits

Kind = Literal["bubblewrap", "landlock", "seatbelt", "none"]
"""`none`: a person at the console wanted no sandbox."""

KERNEL_USER = 65_530
"""As whom code runs when the server runs as root: a number that no distribution gives to anyone."""

SYSTEM = tuple(
    Path(path)
    for path in (
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    )
)  # fmt: skip
"""Programs and libraries: read-only for everyone anyway, and without secrets."""

SETTINGS_OF_SYSTEM = tuple(
    Path("/etc") / name
    for name in (
        "R", "alternatives", "bash.bashrc", "ca-certificates", "debian_version", "fonts", "group",
        "inputrc", "julia", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "magic",
        "mime.types", "nsswitch.conf", "os-release", "passwd", "perl", "pki/ca-trust",
        "pki/tls/certs", "profile", "protocols", "services", "shells", "ssl/certs",
        "ssl/openssl.cnf", "terminfo", "timezone",
    )
)  # fmt: skip
"""What programs look up there; no host names, no network settings, no keys."""

PROCESSOR = Path("/sys/devices/system/cpu")
"""How many processors there are: numerical libraries and thread pools ask."""

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

NO_HANDOVER = -1
"""Instead of a descriptor: there is no way to the network."""


@dataclass(frozen=True, slots=True)
class Confines:
    """What confined code may touch besides the system's programs; everything else it cannot even
    see."""

    folder: Path
    """Where it starts. It must be among those below."""
    writable: tuple[Path, ...]
    """Folders and files to read and write."""
    readable: tuple[Path, ...] = ()
    """Folders and files to read, and to run programs from."""
    skeleton: Path | None = None
    """What its own, otherwise empty home folder starts with."""
    at_home: Mapping[str, str] = field(default_factory=dict)
    """Names in that home folder that lead to what was granted: `~/Music` is what it is for the
    person."""
    proxy: Proxy | None = None
    """The one way to the network; none is none."""
    known: Mapping[Path, Identity] = field(default_factory=dict)
    """Which folders those above were when a person was asked."""
    watch: ResourceWatch | None = None
    """Who sees to it that all code of a conversation does not take too much together."""
    cgroup: ConversationCgroup | None = None
    """How the kernel sees to it, where it does."""
    joins: int = NO_CGROUP
    """A descriptor of the cgroup that the command joins, before any other program starts."""
    sandbox_inside: bool = False
    """Whether the command confines what it runs once more, by namespaces of its own, and reserves
    addresses without end for that (a browser). Its memory is bounded for all its processes
    together, and not for each. Landlock and Seatbelt refuse it."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A command that confines itself when it is started.

    Start it with exactly this environment, a pipe as standard input, and the descriptors passed on
    under their own numbers; then close them. It waits for one byte on the pipe. Keep the pipe open:
    where it closes, or the process gets SIGTERM, everything that was started in the sandbox ends.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    memory: int = 0
    """Bytes that all its processes may hold together; 0 is without a bound."""


class Sandbox(Protocol):
    """A way to confine commands on this machine."""

    @property
    def kind(self) -> Kind: ...

    @property
    def limits(self) -> SandboxLimits | None:
        """What code may use; None is without a bound."""
        ...

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        """Confine a command.

        `door` is a descriptor that will be passed on to it under its own number: over it the
        sandbox hands out what connects to its proxy (network/socket_handover.py). `environment` is
        added to a clean one. `private` is a folder of the command's own, 0700, through which it and
        we may talk; from then on it may belong to another user.
        """
        ...


def clean_environment(home: Path, scratch: Path, also: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of confined code: nothing of the server's but language and time
    zone."""
    shell = "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"
    kept = {name: os.environ[name] for name in ("TZ", "LC_ALL", "LC_CTYPE") if name in os.environ}
    return {
        "PATH": ":".join(SEARCH_PATH),
        "HOME": str(home),
        "TMPDIR": str(scratch),
        "TMPPREFIX": str(scratch / "zsh"),  # where that shell keeps here-documents
        "USER": "sayso",
        "LOGNAME": "sayso",
        "SHELL": shell,
        "LANG": os.environ.get("LANG", "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"),
        "PYTHONNOUSERSITE": "1",
        "GIT_CONFIG_NOSYSTEM": "1",  # it cannot be read, which git would take for a fault
        **kept,
        **also,
    }


class NoSandboxInsideError(OSError):
    """This sandbox lets nothing make another one inside; the message says what does."""

    def __init__(self) -> None:
        super().__init__(errno.ENOTSUP, "it needs bubblewrap: run `sudo apt install bubblewrap`")

    def __str__(self) -> str:
        return str(self.strerror)


class PlaceChangedError(OSError):
    """A place in reach is gone, or another one or a link is there; the message says what to do."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ESTALE, "it is not what was granted", str(path))
        self._path = path

    def __str__(self) -> str:
        return (
            f"{self._path} is not what it was when it was opened to code; have it asked for again,"
            " or choose the folder anew with /folder"
        )


def recognised(confines: Confines) -> list[tuple[str, int, int]]:
    """The known places in reach with their devices and inodes, to be compared by the launcher with
    what it was really given. Raises PlaceChangedError.
    """
    found = []
    for path in (*confines.writable, *confines.readable):
        if known := confines.known.get(path):
            try:
                status, now = look_at(path)
            except OSError as error:
                raise PlaceChangedError(path) from error
            if not known.is_same(now):
                raise PlaceChangedError(path)
            found.append((str(path), status.st_dev, status.st_ino))
    return found


Place = tuple[str, int, int, bool]
"""A path with its device and inode, and whether what lies there is closed, too."""


def to_hold(confines: Confines) -> tuple[list[Place], list[Place]]:
    """What must stay as it is in what code may write to: what git or a login would run, and
    Sayso's own programs. What lies in a closed place is closed with it.
    """
    protected_files = [protected.held for protected in find_to_hold(confines.writable)]
    own = [
        (str(each.path), each.device, each.inode, each.closed)
        for each in held_in(confines.writable)
    ]
    closed = {Path(place[0]) for place in (*protected_files, *own) if place[3]}

    def open_places(places: Sequence[Place]) -> list[Place]:
        return [each for each in places if closed.isdisjoint(Path(each[0]).parents)]

    return open_places(protected_files), open_places(own)


def user_for(confines: Confines) -> int | None:
    """As whom code runs: as ourselves; for a root server, as its folder's owner, or as nobody."""
    if sys.platform != "linux" or os.geteuid():
        return None
    user = confines.folder.stat().st_uid or KERNEL_USER
    # The root of a user namespace may be alone there; then it is somebody's ordinary self.
    return user if _exists_here(user) else None


def roots_own(confines: Confines) -> list[Path]:
    """Those of these places that belong to root and are closed to the other user that code runs
    as."""
    found = []
    for path in confines.writable + confines.readable:
        with contextlib.suppress(OSError):
            status = path.stat()
            open_to_all = status.st_mode & stat.S_IROTH and path not in confines.writable
            if status.st_uid == 0 and not open_to_all:
                found.append(path)
    return found


def to_open(confines: Confines) -> dict[str, bool]:
    """Which of them another user must be let have where it cannot see them as its own, and whether
    to write in; not the one in which it starts, which is given to it."""
    own = [path for path in roots_own(confines) if path != confines.folder]
    return {str(path): path in confines.writable for path in own}


def _exists_here(user: int) -> bool:
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        first, _, count = map(int, line.split())
        if first <= user < first + count:
            return True
    return False


def tasks_of(user: int) -> int:
    """How many processes and threads a user is seen to have now."""
    count = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == user:
                    count += sum(1 for _ in (entry / "task").iterdir())
    return count


def sealed(content: bytes) -> int:
    """Return a descriptor from which a started process can read this content."""
    handle = os.memfd_create("sayso", os.MFD_CLOEXEC)
    while content:
        content = content[os.write(handle, content) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle
