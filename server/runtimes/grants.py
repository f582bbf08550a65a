"""What a person granted a conversation's code to access: a record that only grows by a yes.

A `Grants` is what people decide about; the sandbox turns it into `Confines`, which is what a kernel
is started with. Folders are part of a kernel's confines from its start, so more of them means a new
kernel. The network is a proxy that is there from the start, and a grant edits its rules; but what
earlier code left in a kernel that ran anything must not use a host that was granted for something
else, so more hosts mean a new one in its place.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from sayso.server.runtimes.protection.folder_identity import NOWHERE, Identity, look_at
from sayso.server.runtimes.protection.own_places import is_within, why_never

Access = Literal["read", "write"]

_NEVER = tuple(map(Path, ("/proc", "/sys", "/dev", "/run", "/var/run", "/boot")))
"""Where the machine itself is, and other programs' sockets: no grant opens these."""

_SYSTEM = tuple(map(Path, ("/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr", "/var/lib")))
"""The system's own: what code changes there breaks other people's programs."""


class GrantError(Exception):
    """This cannot be granted; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A granted folder, or a single file."""

    path: Path
    """Absolute and without links, so that what is granted is what is shown."""
    access: Access = "read"
    """`write` means both."""
    identity: Identity | None = field(default=None, compare=False)
    """Which folder it was when the person was asked (a file: the folder that holds it)."""

    def is_unchanged(self) -> bool:
        """Whether the path still leads, by no link, to what the rules were gone through for."""
        try:
            _, now = look_at(self.path)
        except OSError:
            return False
        return self.identity is None or self.identity.is_same(now)

    def recognised(self) -> "Folder":
        """The same, if it is still what was granted; where that was not known yet, it is from now
        on. Raises GrantError.
        """
        now = folder(self.path, self.access)
        changed = self.identity and now.identity and not self.identity.is_same(now.identity)
        if changed or now.path != self.path:
            raise GrantError(f"{self.path} is not what was granted.")
        return now

    def pinned(self) -> "Folder":
        """The same, known by what lies there now, if it was known by its path alone."""
        identity = self.identity
        with suppress(OSError):
            identity = identity or look_at(self.path)[1]
        return replace(self, identity=identity or NOWHERE)

    def __str__(self) -> str:
        return f"{'read and write' if self.access == 'write' else 'read'} {self.path}"


@dataclass(frozen=True, slots=True)
class Grants:
    """What code may reach besides the system's programs and its workspace."""

    folders: tuple[Folder, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names that the network proxy lets pass: `example.org`, or `*.example.org` with all below."""
    network: bool = False
    """Every public host."""
    closed: tuple[str, ...] = ()
    """Names that it never lets pass, whatever else is granted; written as in `hosts`."""
    look_only: bool = False
    """Nothing outside its scratch folder can be written, and no network is there, whatever else is
    granted."""
    everything: bool = False
    """No sandbox: all that the server's own user may do."""

    def writable(self, workspace: Path) -> tuple[Path, ...]:
        """Where code may write."""
        if self.look_only:
            return ()
        granted = (each.path for each in self.folders if each.access == "write")
        return _outermost((workspace, *granted))

    def readable(self, workspace: Path) -> tuple[Path, ...]:
        """Where it may read and no more."""
        writable = self.writable(workspace)
        everywhere = _outermost((workspace, *(each.path for each in self.folders)))
        return tuple(
            path for path in everywhere if not any(path.is_relative_to(place) for place in writable)
        )

    def at_home(self, home: Path) -> dict[str, str]:
        """What is granted in this home folder, by its name there; outer folders first."""
        paths = sorted(each.path for each in self.folders)
        return {
            str(path.relative_to(home)): str(path)
            for path in paths
            if path != home and path.is_relative_to(home)
        }

    def with_folder(self, folder: Folder) -> "Grants":
        """The same with one more folder; a write grant replaces the read grant of the same
        place."""
        if any(_covers(each, folder) for each in self.folders):
            return self
        kept = (each for each in self.folders if not _covers(folder, each))
        return replace(self, folders=(*kept, folder))

    def with_host(self, host: str) -> "Grants":
        """The same with one more host."""
        return self if host in self.hosts else replace(self, hosts=(*self.hosts, host))

    def joined(self, other: "Grants") -> "Grants":
        """The union of both."""
        both = self
        for each in other.folders:
            both = both.with_folder(each)
        for host in other.hosts:
            both = both.with_host(host)
        return replace(both, network=self.network or other.network)

    def without(self, other: "Grants") -> "Grants":
        """This, and nothing of what is granted there in the same words."""
        return replace(
            self,
            folders=tuple(each for each in self.folders if each not in other.folders),
            hosts=tuple(host for host in self.hosts if host not in other.hosts),
            network=self.network and not other.network,
        )

    def pinned(self) -> "Grants":
        """This, with every folder known by more than its path from now on."""
        return replace(self, folders=tuple(each.pinned() for each in self.folders))

    @property
    def lines(self) -> tuple[str, ...]:
        """What is granted, a line each."""
        hosts = tuple(f"host {host}" for host in self.hosts)
        network = ("any public host on the network",) if self.network else ()
        return (*map(str, self.folders), *hosts, *network)

    @property
    def parts(self) -> tuple["Grants", ...]:
        """What is granted, one by one, in the order of `lines`."""
        folders = (Grants(folders=(each,)) for each in self.folders)
        hosts = (Grants(hosts=(host,)) for host in self.hosts)
        return (*folders, *hosts, *((Grants(network=True),) if self.network else ()))

    def places(self, access: Access) -> tuple[str, ...]:
        """The paths that are granted for this and no more."""
        return tuple(str(each.path) for each in self.folders if each.access == access)

    def lets_pass(self, host: str) -> bool:
        """Whether the network proxy may lead to this host, if it is a public one."""
        if self.look_only or any(_matches(host, name) for name in self.closed):
            return False
        return self.network or any(_matches(host, name) for name in self.hosts)

    def is_within(self, wider: "Grants") -> bool:
        """Whether every host of this one is granted there, too."""
        return self.look_only or (
            not wider.look_only
            and (wider.network or (not self.network and set(self.hosts) <= set(wider.hosts)))
        )

    def holds_in(self, other: "Grants") -> bool:
        """Whether what runs with this may go on where another holds: no folder of it was closed.
        Hosts are looked at whenever one is used."""
        folders = all(any(_covers(wide, each) for wide in other.folders) for each in self.folders)
        return folders and self.look_only >= other.look_only and self.everything <= other.everything

    def needs_new_kernel(self, wider: "Grants") -> bool:
        """Whether kernels of this reach that ran something must be replaced for another to hold."""
        return self.confines_otherwise(wider) or not wider.is_within(self)

    def confines_otherwise(self, other: "Grants") -> bool:
        """Whether a kernel is started in other confines for it, so that none can be kept."""
        return _of_kernel(self) != _of_kernel(other)

    def words(self, workspace: Path) -> tuple[str, ...]:
        """What code can reach, in words for an approval."""
        if self.everything:
            return ("everything that you can: there is no sandbox",)
        look = "read" if self.look_only else "read and write"
        return (
            f"{look} {workspace}",
            *(f"read {each.path}" if self.look_only else str(each) for each in self.folders),
            "read the system's programs",
            self._network_words(),
        )

    def _network_words(self) -> str:
        if self.look_only or not (self.network or self.hosts):
            return "no network"
        if self.network:
            return "reach any public host on the network"
        return f"reach {', '.join(self.hosts)} on the network"


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Without those that lie in others: they are in reach anyway, and code that may write around
    them could put a link to somewhere else in their place, for the next kernel to be given.
    """
    known = tuple(dict.fromkeys(paths))
    return tuple(
        path
        for path in known
        if not any(path != other and path.is_relative_to(other) for other in known)
    )


def _matches(host: str, name: str) -> bool:
    if name.startswith("*."):
        return host.endswith(name[1:]) or host == name[2:]
    return host == name


def _of_kernel(reach: Grants) -> object:
    folders = {(each, each.identity) for each in reach.folders}
    return folders, reach.look_only, reach.everything


def _covers(wide: Folder, narrow: Folder) -> bool:
    return narrow.path.is_relative_to(wide.path) and (
        wide.access == "write" or narrow.access == "read"
    )


def folder(path: str | Path, access: Access) -> Folder:
    """The grant of a place as a person or a model names it. Raises GrantError."""
    named = Path(path).expanduser()
    if not named.is_absolute():
        raise GrantError(f"{path} is no whole path; name it from the root or from ~.")
    try:
        place = named.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it leads in circles"
        raise GrantError(f"{path} cannot be granted: {reason}.") from None
    if not (place.is_dir() or place.is_file()):
        raise GrantError(f"{path} is neither a folder nor a file, so it cannot be granted.")
    try:
        _, identity = look_at(place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise GrantError(f"{place} cannot be granted: {reason}; name its folder.") from None
    if place == Path(place.anchor) or any(_overlap(place, each) for each in _NEVER):
        raise GrantError(f"{place} belongs to the machine itself and is never granted.")
    if never := why_never(place, access):
        raise GrantError(never)
    return Folder(place, access, identity)


def of_the_system(place: Path) -> bool:
    """Whether a place belongs to the system and not to a person."""
    inside = any(place.is_relative_to(each) for each in _SYSTEM)
    return inside and not place.is_relative_to("/usr/local")


_PERSONAL = {
    "desktop": "DESKTOP", "documents": "DOCUMENTS", "downloads": "DOWNLOAD", "music": "MUSIC",
    "pictures": "PICTURES", "public": "PUBLICSHARE", "templates": "TEMPLATES", "videos": "VIDEOS",
}  # fmt: skip
"""How the desktop's list of folders calls what people and models call so."""


def personal(path: str) -> str:
    """The place that is meant by `~/Downloads` where the desktop has it under another name."""
    named = re.fullmatch(r"(?:~/|my )?(\w+)(/.*)?", path.strip(), re.IGNORECASE)
    kind = _PERSONAL.get(named[1].lower()) if named else None
    if named is None or kind is None:
        return path
    home = Path.home()
    plain = home / named[1].capitalize()
    if not plain.exists():
        listed = _listed_folders(home).get(kind)
        plain = Path(listed) if listed else plain
    return f"{plain}{named[2] or ''}"


def _listed_folders(home: Path) -> dict[str, str]:
    """What `xdg-user-dirs` has written down."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    try:
        text = (config / "user-dirs.dirs").read_text(errors="replace")
    except OSError:
        return {}
    found = re.findall(r'^XDG_(\w+)_DIR="(.*)"$', text, re.MULTILINE)
    return {name: where.replace("$HOME", str(home)) for name, where in found}


def _overlap(one: Path, other: Path) -> bool:
    return is_within(one, other) or is_within(other, one)


def hosts_of(names: Iterable[str]) -> tuple[str, ...]:
    """Host names as they are compared: in lower case, without a final dot."""
    return tuple(dict.fromkeys(name.strip().lower().rstrip(".") for name in names if name.strip()))
