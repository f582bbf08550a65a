"""Reads who a person is to git, from their own settings alone, for code that is confined.

Git's settings of the system and of the person are read by Sayso's own reader, with the files that
they include; those of a repository never are, and no program is started. Confined code has no home
with settings in it, so it gets what it needs by the environment: a name and an address for commits,
and what a first branch is called. Helpers for passwords, keys, headers and rewritten addresses stay
where they are.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sayso.server.runtimes.protection.git_config import Setting, UnreadableConfig, parse

_MOST_BYTES: Final = 256 * 1024
"""Of one file of settings; people have a few kilobytes."""

_INCLUDED_MOST: Final = 20
"""Files of settings that include each other; git itself follows ten in a row."""

_CHARACTERS_MOST: Final = 200
"""Of a name or an address: what is longer is no name."""

_SYSTEM: Final = Path("/etc/gitconfig")

_TOLD: Final = {
    ("user", "name"): "name",
    ("user", "email"): "email",
    ("init", "defaultbranch"): "first_branch",
}


@dataclass(frozen=True, slots=True)
class GitIdentity:
    """Who a person is to git, as far as their settings tell; what they do not tell is empty."""

    name: str = ""
    email: str = ""
    first_branch: str = ""
    """What they call the first branch of a new repository."""

    @property
    def is_whole(self) -> bool:
        """Whether commits can be made with it."""
        return bool(self.name and self.email)

    @property
    def settings(self) -> Mapping[str, str]:
        """The same as settings of git, only those that are told."""
        told = {
            "user.name": self.name,
            "user.email": self.email,
            "init.defaultBranch": self.first_branch,
        }
        return {name: value for name, value in told.items() if value}


def read_identity(folder: Path) -> GitIdentity:
    """Return who the person is to git in this folder, which decides about conditional includes.

    Blocks for a few small files, and never fails: what cannot be read tells nothing.
    """
    found: dict[str, str] = {}
    for setting in _Reader(folder).settings():
        field = _TOLD.get((setting.section, setting.name))
        if field and setting.subsection is None:
            found[field] = _plain(setting.value or "")
    return GitIdentity(**found)


def variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables by which git takes these settings, above those of any file."""
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        told[f"GIT_CONFIG_KEY_{number}"] = name
        told[f"GIT_CONFIG_VALUE_{number}"] = value
    return told


def variables_for_code(folder: Path) -> dict[str, str]:
    """Return what confined code in this folder needs in its environment to commit as the person.

    Folders count as safe there whoever owns them: under a server of root's they belong to others,
    and a repository can do nothing in the sandbox that code could not do itself.
    """
    return variables({**read_identity(folder).settings, "safe.directory": "*"})


def _plain(value: str) -> str:
    shown = "".join(each for each in value if each.isprintable() and each not in "<>").strip()
    return shown if len(shown) <= _CHARACTERS_MOST else ""


class _Reader:
    """Reads settings in git's order, each file with what it includes at its place."""

    def __init__(self, folder: Path) -> None:
        self._home = Path.home()
        self._repositories = tuple(_repository_paths(folder))
        self._read = 0

    def settings(self) -> Iterator[Setting]:
        if chosen := os.environ.get("GIT_CONFIG_GLOBAL"):
            own = [Path(chosen)]
        else:
            below = Path(os.environ.get("XDG_CONFIG_HOME") or self._home / ".config")
            own = [below / "git" / "config", self._home / ".gitconfig"]
        for path in (_SYSTEM, *own):
            yield from self._file(path)

    def _file(self, path: Path) -> Iterator[Setting]:
        self._read += 1
        if self._read > _INCLUDED_MOST:
            return
        try:
            if not path.is_file() or path.stat().st_size > _MOST_BYTES:
                return
            settings = parse(path.read_bytes())
        except (OSError, UnreadableConfig):
            return
        for setting in settings:
            included = (setting.section, setting.name) == ("include", "path")
            if (setting.section, setting.name) == ("includeif", "path"):
                included = self._holds(setting.subsection or "", path.parent)
            if included and setting.value:
                yield from self._file(path.parent / self._from_home(setting.value))
            else:
                yield setting

    def _from_home(self, path: str) -> str:
        return f"{self._home}/{path[2:]}" if path.startswith("~/") else path

    def _holds(self, condition: str, beside: Path) -> bool:
        """Whether a condition holds that is about where the repository lies; others do not."""
        kind, _, pattern = condition.partition(":")
        if kind not in ("gitdir", "gitdir/i"):
            return False
        pattern = self._from_home(pattern)
        if pattern.startswith("./"):
            pattern = f"{beside}/{pattern[2:]}"
        if not pattern.startswith("/"):
            pattern = f"**/{pattern}"
        if pattern.endswith("/"):
            pattern += "**"
        flags = re.IGNORECASE if kind.endswith("/i") else 0
        matches = re.compile(_expression(pattern), flags).fullmatch
        return any(matches(path) for path in self._repositories)


def _repository_paths(folder: Path) -> Iterator[str]:
    """The paths under which the repository of a folder may be meant."""
    for each in dict.fromkeys((folder.absolute(), folder.resolve())):
        top = next((above for above in (each, *each.parents) if (above / ".git").exists()), each)
        yield f"{top}/.git"


def _expression(pattern: str) -> str:
    """A pattern of paths as a regular expression: `**` passes slashes, `*` and `?` do not."""
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return "".join(words.get(part, re.escape(part)) for part in parts)
