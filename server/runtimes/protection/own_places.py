"""Knows which places are Sayso's own: secrets that no code may see, and programs that none may
change, because the server, its clients or a login would then run what code wrote.

Places are compared by device and inode, through bind mounts as well: a path has many spellings.
"""

import contextlib
import functools
import importlib.metadata
import json
import os
import shutil
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import unquote, urlsplit

from sayso.protocol.home import Home

_SYSTEM: Final = tuple(
    map(Path, ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/sbin", "/usr"))
)
"""The system's programs, libraries and settings: what code changes there, everybody runs."""

_SHARED_PREFIXES: Final = tuple(map(Path, ("/", "/usr", "/usr/local")))
"""Where a Python may be installed together with much that is not Python."""

PRIVATE: Final = "sayso-code-"
"""How the names of interpreters' private folders begin."""

Mount = tuple[str, Path, Path]
"""A file system, which folder of that is shown, and where."""

_LINKS_MOST: Final = 40
"""As many the kernel follows on one way."""


@dataclass(frozen=True, slots=True)
class Held:
    """A place in a folder that code may write to, which must stay what and where it is."""

    path: Path
    device: int
    inode: int
    closed: bool
    """Nothing in it may be changed either; else it only leads to such a place."""


def why_never(place: Path, access: Literal["read", "write"]) -> str:
    """Why this is never granted, as a sentence; empty if nothing of Sayso's is against it."""
    home = Home.find()
    in_data = is_within(place, home.data / "workspaces")
    for own in dict.fromkeys((home.config, home.state, home.data)):
        if is_within(own, place) or (is_within(place, own) and not in_data):
            return (
                f"{place} is never granted, because Sayso keeps its own secrets and programs"
                " there; name a folder beside it."
            )
    if holds_interpreters(place):
        return (
            f"{place} is never granted, because Sayso's interpreters have their sockets and keys"
            " there; name a folder in it."
        )
    return why_unwritable(place) if access == "write" else ""


def holds_interpreters(place: Path) -> bool:
    """Whether interpreters' private folders lie there, or it lies in one: who comes to them can run
    code in another conversation."""
    scratch = Path(tempfile.gettempdir()).resolve()
    names = place.relative_to(scratch).parts if place.is_relative_to(scratch) else ()
    return is_within(scratch, place) or bool(names and names[0].startswith(PRIVATE))


def why_unwritable(place: Path) -> str:
    """Why code must not write there, as a sentence; empty if it may where nothing is held."""
    mounts, kept = _mounts(), programs()
    numbers = {_number(each) for each in (*_SYSTEM, *kept)} - {None}
    around = _around(place, mounts)
    local = place.is_relative_to("/usr/local") and not around & {_number(each) for each in kept}
    if around & numbers and not local:
        return (
            f"{place} is never granted for writing, because programs that Sayso runs lie there;"
            " grant it for reading, or name another folder."
        )
    for way in dict.fromkeys(way for named in _named() for way in _uncertain(named)):
        led = _around(way.parent, mounts)
        if _number(place) in led and not led & numbers:
            return (
                f"{place} is not granted for writing, because Sayso looks for its own programs at"
                f" {way}, which code could put there; name a folder beside that."
            )
    return ""


def held_in(folders: Iterable[Path]) -> list[Held]:
    """Sayso's own programs in folders that code may write to, and what leads to them."""
    found: dict[Path, bool] = {}
    mounts = _mounts()
    kept = [name for program in programs() for name in _spellings(program, mounts)]
    for folder in folders:
        number = _number(folder)
        for name in kept:
            if path := _as_below(name, folder, number):
                found[path] = True
                for above in path.parents[: len(path.parts) - len(folder.parts) - 1]:
                    found.setdefault(above, False)
    held = []
    for path in sorted(found):
        if any(found.get(above) for above in path.parents):
            continue
        status = path.lstat()
        held.append(Held(path, status.st_dev, status.st_ino, closed=found[path]))
    return held


def is_within(place: Path, outer: Path) -> bool:
    """Whether a place is a folder or lies in it, whatever either is called."""
    number = _number(outer)
    return place.is_relative_to(outer) or (bool(number) and number in _around(place, _mounts()))


def programs() -> tuple[Path, ...]:
    """What the server and its clients run and load, as far as it is there."""
    there = dict.fromkeys(Path(os.path.realpath(each)) for each in _named() if _number(each))
    return tuple(each for each in there if not any(above in there for above in each.parents))


def name_also(paths: Iterable[Path]) -> None:
    """Count these among the programs: files that the settings tell Sayso to load."""
    _ALSO.update(dict.fromkeys(path.expanduser().absolute() for path in paths))


_ALSO: dict[Path, None] = {}


def _named() -> tuple[Path, ...]:
    """All these places as they are named: some by links, some of them missing."""
    named = [*_prefixes(), *map(Path, sys.path), *_packages(), *_libraries()]
    named += [*_by_environment(), *_at_home()]
    started = (sys.argv[0], sys.executable, shutil.which("sayso") or "")
    named += map(Path, filter(None, started))
    return tuple(dict.fromkeys(each for each in (*named, *_ALSO) if each.is_absolute()))


def _prefixes() -> Iterator[Path]:
    for prefix in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix):
        if Path(prefix) not in _SHARED_PREFIXES:
            yield Path(prefix)
    names = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
    yield from (Path(sysconfig.get_path(name)) for name in names)
    if site.ENABLE_USER_SITE:
        yield Path(site.getusersitepackages())


def _packages() -> Iterator[Path]:
    """Sayso's own folders with the clone that they lie in, and what is installed to be edited."""
    server = Path(__file__).resolve().parents[2]
    clone = server.parent
    yield clone if (clone / "pyproject.toml").exists() else server
    for name, module in list(sys.modules.items()):
        if name.startswith("sayso.") and name.count(".") == 1 and (file := module.__file__):
            yield Path(file).parent
    yield from _edited()


@functools.cache
def _edited() -> tuple[Path, ...]:
    """Where the packages lie that are installed to be edited there."""
    texts = (each.read_text("direct_url.json") for each in importlib.metadata.distributions())
    abouts = [json.loads(text) for text in texts if text]
    editable = [about["url"] for about in abouts if about.get("dir_info", {}).get("editable")]
    return tuple(Path(unquote(urlsplit(url).path)) for url in editable)


def _libraries() -> Iterator[Path]:
    """Where every program of the machine looks for the libraries that it loads."""
    yield from (path for name in ("lib", "lib64") if _number(path := Path("/usr/local") / name))
    with contextlib.suppress(OSError):
        for file in Path("/etc/ld.so.conf.d").iterdir():
            lines = file.read_text(errors="replace").splitlines()
            named = (Path(line.strip()) for line in lines if line.startswith("/"))
            yield from (path for path in named if _number(path))


def _by_environment() -> Iterator[Path]:
    for name in ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LD_PRELOAD"):
        yield from map(Path, filter(None, os.environ.get(name, "").split(os.pathsep)))
    for name in ("UV_CACHE_DIR", "PIP_CACHE_DIR"):
        yield from map(Path, filter(None, (os.environ.get(name),)))


def _at_home() -> Iterator[Path]:
    """Services that start Sayso, skills, which it keeps to, and caches from which its packages are
    installed: an installer gives a file in its cache and the one in the environment the same inode.
    """
    home = Path.home()
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    skills = home / ".agents" / "skills"
    found = (config / "systemd", config / "environment.d", cache / "uv", cache / "pip", skills)
    yield from (each for each in (*found, home / "Library" / "LaunchAgents") if _number(each))


def _uncertain(path: Path) -> Iterator[Path]:
    """The links on the way to a path, each where it lies, and the first name that is missing."""
    here, names, links = Path(path.anchor), list(path.parts[1:]), 0
    while names:
        name = names.pop(0)
        if name == "..":
            here = here.parent
            continue
        there = here / name
        target = _target(there)
        if target is not None:
            yield there
            links += 1
            if links > _LINKS_MOST:
                return
            here = Path(target.anchor) if target.is_absolute() else here
            names = [part for part in target.parts if part != target.anchor] + names
        elif not os.path.lexists(there):
            yield there
            return
        else:
            here = there


def _target(path: Path) -> Path | None:
    """Where a link leads; None if it is none, or may not be looked at."""
    try:
        return path.readlink()
    except OSError:
        return None


def _around(place: Path, mounts: Sequence[Mount]) -> set[tuple[int, int] | None]:
    """A place and all that it lies in, by any of its paths."""
    names = _spellings(place, mounts)
    found = {_number(above) for name in names for above in (name, *name.parents)}
    return found - {None}


def _as_below(place: Path, folder: Path, number: tuple[int, int] | None) -> Path | None:
    """The path by which a place lies in a folder of this number, if it does."""
    for above in place.parents:
        if number and _number(above) == number:
            return folder / place.relative_to(above)
    return None


def _number(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _spellings(path: Path, mounts: Sequence[Mount]) -> Iterator[Path]:
    """The path of a place, and those by which bind mounts show it as well."""
    path = Path(os.path.realpath(path))
    yield path
    holding = [mount for mount in mounts if path.is_relative_to(mount[2])]
    if not holding:
        return
    device, root, point = max(holding, key=lambda mount: len(mount[2].parts))
    inside = root / path.relative_to(point)
    for other_device, other_root, other_point in mounts:
        if other_device == device and inside.is_relative_to(other_root):
            other = other_point / inside.relative_to(other_root)
            if other != path and _number(other) == _number(path):
                yield other


def _mounts() -> list[Mount]:
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    fields = (line.split(" ", 5) for line in lines)
    return [(each[2], _plain(each[3]), _plain(each[4])) for each in fields]


def _plain(escaped: str) -> Path:
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        escaped = escaped.replace(code, sign)
    return Path(escaped)
