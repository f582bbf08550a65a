"""Lists the files by which programs of the host run code unasked, if code could write them.

Git runs what lies in a repository's hooks and what its settings name, and shells, desktops and
editors run a home folder's startup files: as the person, outside of every sandbox, when they next
say `git status` or log in. So these are closed to code, even in folders that it may write. What
exists is closed by the sandbox; what code makes anew is looked at after each run
(undo/hooks/guard.py).

What other programs ask the person about before they run it (direnv, editors' tasks), and what a
person starts by name (a Makefile), is not among them.
"""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from sayso.server.runtimes.protection import paths_beneath
from sayso.server.runtimes.protection.repositories import PARTS_OF_ALL, Kind, Repositories
from sayso.server.runtimes.protection.startup_files import AT_HOME, homes
from sayso.server.runtimes.protection.writable_folders import (
    FOLDERS_MOST,
    Place,
    TooMuch,
    Walk,
    WritableFolders,
    walk,
)

REPOSITORIES_MOST: Final = 50
"""Each costs the sandbox four mounts. Of more than these, `.git` is closed as a whole."""

HELD_MOST: Final = 600
"""Mounts: bubblewrap makes so many in a second, and twice as many in four."""

_SETTINGS_OF_OTHERS: Final = {
    ".hg": ("hgrc", "hgrc-not-shared", "sharedpath"),
    ".jj": ("repo/config.toml", "repo/config-id", "workspace-config.toml"),
}

TOO_MANY_FOLDERS: Final = (
    f"there are more than {FOLDERS_MOST} folders in {{}}, or some that lie too deep, and each would"
    " have to be looked into for what git would run; let code write in a smaller folder"
)

_TOO_MANY_REPOSITORIES = (
    f"there are more than {HELD_MOST} repositories and startup files where code may write, and each"
    " would have to be closed to it; let code write in a smaller folder"
)


@dataclass(frozen=True, slots=True)
class WriteProtectedFile:
    """One of them, as it was found."""

    path: Path
    kind: Literal["closed", "kept"]
    """`closed` may not be changed, nor what lies in it; `kept` is a folder that stays where it is,
    whose contents are code's to change."""
    device: int
    inode: int

    @property
    def held(self) -> tuple[str, int, int, bool]:
        """As the launcher is told of it."""
        return str(self.path), self.device, self.inode, self.kind == "closed"


def find_to_hold(folders: Iterable[Path]) -> list[WriteProtectedFile]:
    """What a sandbox must hold, what contains others first.

    Where a repository has no folder for hooks, it gets one: what does not exist cannot be closed.
    Raises TooMuch.
    """
    with WritableFolders(list(folders)) as opened:
        seen = walk(opened)
        if seen.unfinished:
            raise TooMuch(TOO_MANY_FOLDERS.format(opened.shown(Place(seen.unfinished[0].root, ""))))
        held = {place: True for place in startup_files(opened) if place.path}
        repositories = Repositories(opened, seen.repositories, seen.pointers)
        held |= dict.fromkeys((*seen.pointers, *other_systems(seen)), True)
        ranked = sorted((_ranked(repositories, git) for git in repositories.all), reverse=True)
        for number, (_, _, git, parts) in enumerate(ranked):
            if number >= REPOSITORIES_MOST and git.path:
                held[git] = True
                continue
            _make_hooks(opened, git)
            held.setdefault(git, False)
            held |= {place: True for place, kind in parts.items() if kind != "steps"}
        protected_files = [*_there(opened, held)]
        if len(protected_files) > HELD_MOST:
            raise TooMuch(_TOO_MANY_REPOSITORIES)
        return protected_files


def startup_files(folders: WritableFolders) -> dict[Place, Kind]:
    """Those of home folders, there or not, with the links that they are reached by."""
    found: dict[Place, Kind] = {}
    for home in homes():
        granted = any(home.is_relative_to(one) for one in folders.paths)
        if granted or any(one.is_relative_to(home) for one in folders.paths):
            for name in AT_HOME:
                if not granted and not os.path.lexists(home / name.partition("/")[0]):
                    continue
                resolved = folders.resolve(home, name)
                found |= dict.fromkeys(resolved.links, "runs")
                if resolved.place is not None and resolved.place.path:
                    found[resolved.place] = "runs"
    return found


def _ranked(
    repositories: Repositories, git: Place
) -> tuple[bool, int, Place, Mapping[Place, Kind]]:
    """A repository and its parts: those that would run something come last, then the inner ones."""
    parts = repositories.parts(git)
    return len(parts) > PARTS_OF_ALL, -git.depth, git, parts


def _there(folders: WritableFolders, held: dict[Place, bool]) -> Iterator[WriteProtectedFile]:
    there: set[Place] = set()
    for place in sorted(held):
        status = folders.status(place) if place.path else None
        if status is None or stat.S_ISLNK(status.st_mode):
            continue  # where a link leads is held by itself
        if any(above in there for above in place.above):
            continue  # closed with what it lies in, and not to be opened again
        if held[place]:
            there.add(place)
        kind: Literal["closed", "kept"] = "closed" if held[place] else "kept"
        yield WriteProtectedFile(folders.shown(place), kind, status.st_dev, status.st_ino)


def _make_hooks(folders: WritableFolders, git: Place) -> None:
    with contextlib.suppress(OSError), folders.folder(git) as folder:
        if paths_beneath.status(folder, "objects") and not paths_beneath.status(folder, "hooks"):
            os.mkdir("hooks", 0o755, dir_fd=folder)
            owner = os.fstat(folder)
            if owner.st_uid != os.geteuid():
                with paths_beneath.folder(folder, "hooks") as made:
                    os.fchown(made, owner.st_uid, owner.st_gid)


def other_systems(seen: Walk) -> dict[Place, Kind]:
    """What Mercurial and Jujutsu run hooks and programs for, there or not."""
    return {
        place.below(name): "runs"
        for place in seen.others
        for name in _SETTINGS_OF_OTHERS[place.name.lower()]
    }
