"""What a git repository makes git run: its hooks, its settings, and the files that these name.

A repository's hooks often run what lies beside them in the project: a manager's list of hooks, a
script. As nobody is asked about that either, it belongs to them.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from sayso.server.runtimes.protection.git_config import Setting, UnreadableConfig, parse
from sayso.server.runtimes.protection.git_settings import is_harmless
from sayso.server.runtimes.protection.startup_files import OF_HOOKS
from sayso.server.runtimes.protection.writable_folders import (
    CLOSED,
    Place,
    TooMuch,
    WritableFolders,
    entries,
)

SETTINGS_MOST_BYTES: Final = 64 * 1024
"""Git's settings of one repository are a few hundred bytes. What says more is not read."""

HARMLESS_ENDINGS: Final = (".sample", CLOSED)
"""Git runs no hook of such a name."""

HOOKS_MOST: Final = 1_000
"""In one folder; git knows thirty."""

_POINTER_MOST_BYTES: Final = 8 * 1024
"""A path, and a word before it."""

_INCLUDED_MOST: Final = 20
"""Files of further settings, and theirs; git itself follows ten in a row."""

_NAMES_MOST: Final = 100
"""Paths that a repository's hooks and settings name: many times what there is."""

_PATH: Final = re.compile(r"[\w.@+~/-]+")
_PROGRAM: Final = re.compile(
    r"\.(?:sh|bash|zsh|fish|py|js|cjs|mjs|ts|rb|pl|php|lua|ps1)$|hook|husky"
)
_RUNS_A_COMMAND: Final = re.compile(rb"^[ \t]*(?:exec|x)(?:[ \t]|$)", re.MULTILINE)

PARTS_OF_ALL: Final = 5
"""Every repository has these; the others have what their hooks and settings name."""

Kind = Literal["settings", "pointer", "steps", "runs"]
"""`settings`: git's. `pointer`: it says where a repository, or what it shares, lies. `steps`: of a
rebase that is not finished. `runs`: a file that is run, or a folder of such."""


def led_to(folders: WritableFolders, pointer: Place) -> tuple[Place | None, bool]:
    """The repository that a `.git` leads to that is no folder, and whether it is sure that git will
    find it there: no link is on the way."""
    at = folders.shown(pointer)
    status = folders.status(pointer)
    if status is not None and stat.S_ISLNK(status.st_mode):
        return folders.resolve(at.parent, at.name).place, False
    said = folders.text(pointer, _POINTER_MOST_BYTES) or b""
    if not said.startswith(b"gitdir: "):
        return None, False
    return leads_to(folders, at.parent, said.removeprefix(b"gitdir: ").rstrip(b"\r\n"))


def shared(folders: WritableFolders, git: Place) -> tuple[Place | None, bool]:
    """What a `commondir` leads to, and whether that is sure."""
    said = folders.text(git.below("commondir"), _POINTER_MOST_BYTES) or b""
    return leads_to(folders, folders.shown(git), said.rstrip(b"\r\n")) if said else (None, False)


def leads_to(folders: WritableFolders, start: Path, path: bytes) -> tuple[Place | None, bool]:
    """The folder that a path means, and whether that is sure."""
    resolved = folders.resolve(start, os.fsdecode(path))
    place = resolved.place
    status = folders.status(place) if place else None
    there = status is not None and stat.S_ISDIR(status.st_mode)
    return place, there and not resolved.links


def runs_commands(folders: WritableFolders, steps: Place) -> bool:
    """Whether an unfinished rebase would run a command when it goes on."""
    if folders.status(steps) is None:
        return False
    said = folders.text(steps, SETTINGS_MOST_BYTES)
    return said is None or _RUNS_A_COMMAND.search(said) is not None


class Repositories:
    """All of them, with those that are found by what others say, and with their working folders."""

    def __init__(
        self, folders: WritableFolders, found: Iterable[Place], pointers: Iterable[Place]
    ) -> None:
        self._folders = folders
        self._worktrees: dict[Place, list[Place]] = {}
        self.all: dict[Place, None] = {}
        waiting = list(found)
        for place in waiting:
            self._work_in(place, place.parent if place.name.lower() == ".git" else place)
        for pointer in pointers:
            target, _ = led_to(folders, pointer)
            if target is not None:
                waiting.append(target)
                self._work_in(target, pointer.parent)
        while waiting:
            git = waiting.pop()
            if git not in self.all:
                self.all[git] = None
                common, _ = shared(folders, git)
                if common is not None:
                    waiting.append(common)
                    for place in self._worktrees.get(git, ()):
                        self._work_in(common, place)

    def _work_in(self, git: Place, folder: Place) -> None:
        known = self._worktrees.setdefault(git, [])
        if folder not in known and len(known) < _INCLUDED_MOST:
            known.append(folder)

    def parts(self, git: Place) -> dict[Place, Kind]:
        """All in a repository, or named by it, for which git runs something, there or not."""
        found: dict[Place, Kind] = {
            git.below("hooks"): "runs",
            git.below("commondir"): "pointer",
            git.below("config"): "settings",
            git.below("config.worktree"): "settings",
            git.below("rebase-merge").below("git-rebase-todo"): "steps",
        }
        worktrees = self._worktrees.get(git, [])
        starts = [self._folders.shown(place) for place in (*worktrees, git)]
        harmful = [each for each in self._settings(git, starts, found) if not _is_data(each)]
        hooks = [git.below("hooks")]
        for setting in harmful:
            if (setting.section, setting.name) == ("core", "hookspath"):
                hooks += self._take(found, starts, setting.value or "")
        texts = [each.value or "" for each in harmful]
        starts += [self._folders.shown(place) for place in hooks]
        texts += [text for place in hooks for text in self._hooks(place)]
        if texts:
            for place in worktrees:
                for name in OF_HOOKS:
                    found.setdefault(place.below(name), "runs")
            for place in self._named(worktrees, starts, texts):
                found.setdefault(place, "runs")
        return found

    def _settings(
        self, git: Place, starts: list[Path], found: dict[Place, Kind]
    ) -> Iterator[Setting]:
        """All settings of a repository, with those that they include."""
        waiting = [git.below("config"), git.below("config.worktree")]
        read = 0
        while waiting and read < _INCLUDED_MOST:
            place = waiting.pop(0)
            read += 1
            for setting in settings_of(self._folders, place):
                if setting.section in ("include", "includeif") and setting.name == "path":
                    beside = [self._folders.shown(place.parent), *starts]
                    waiting += self._take(found, beside, setting.value or "")
                yield setting

    def _take(self, found: dict[Place, Kind], starts: Iterable[Path], path: str) -> list[Place]:
        """The places that a path may mean, and the links to them."""
        taken = []
        for start in starts:
            resolved = self._folders.resolve(start, os.path.expanduser(path))  # noqa: PTH111
            for place in (*resolved.links, *([resolved.place] if resolved.place else ())):
                if place.path and place not in taken:
                    found.setdefault(place, "runs")
                    taken.append(place)
        return taken

    def _hooks(self, folder: Place) -> Iterator[str]:
        """What the hooks in a folder say."""
        try:
            there = list(entries(self._folders, folder, HOOKS_MOST))
        except OSError:
            return
        for place, is_folder in there:
            if not is_folder and not place.name.endswith(HARMLESS_ENDINGS):
                said = self._folders.text(place, SETTINGS_MOST_BYTES)
                yield said.decode(errors="surrogateescape") if said else place.name

    def _named(
        self, worktrees: Iterable[Place], starts: Iterable[Path], texts: Iterable[str]
    ) -> Iterator[Place]:
        """The programs of the project that these texts name."""
        words = dict.fromkeys(word.rstrip("./") for text in texts for word in _PATH.findall(text))
        plain = {word for word in words if "/" not in word}
        for worktree in worktrees:
            try:
                there = list(entries(self._folders, worktree, HOOKS_MOST))
            except OSError:
                continue
            for place, is_folder in there:
                if not is_folder and place.name in plain and self._is_program(place):
                    yield place
        paths = [word for word in words if "/" in word.strip("/")][:_NAMES_MOST]
        for path in paths:
            for start in starts:
                resolved = self._folders.resolve(start, path.lstrip("/"))
                for place in (*resolved.links, *([resolved.place] if resolved.place else ())):
                    if place.path and self._is_program(place):
                        yield place

    def _is_program(self, place: Place) -> bool:
        names = place.path.lower().split("/")
        if ".git" in names and "hooks" not in names:
            return False  # git's own work
        status = self._folders.status(place)
        if status is None or stat.S_ISLNK(status.st_mode):
            return bool(_PROGRAM.search(place.path))
        if stat.S_ISDIR(status.st_mode):
            return "hook" in place.name or "husky" in place.name
        return bool(status.st_mode & 0o111 or _PROGRAM.search(place.path))


def settings_of(folders: WritableFolders, place: Place) -> list[Setting]:
    """What git's settings at a place say. Raises TooMuch if that cannot be told."""
    status = folders.status(place)
    if status is None or not stat.S_ISREG(status.st_mode):
        return []
    said = folders.text(place, SETTINGS_MOST_BYTES)
    try:
        if said is not None:
            return parse(said)
    except UnreadableConfig:
        pass
    raise TooMuch(
        f"git's settings in {folders.shown(place)} cannot be read, so that it cannot be told what"
        " they let git run; mend that file, or take that folder back"
    )


def _is_data(setting: Setting) -> bool:
    return is_harmless(setting, lambda _: True)
