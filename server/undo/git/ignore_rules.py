"""Decides which paths git ignores, by the rules of its `.gitignore` files. Pure.

Code may have written the rules: they are bounded, and none takes long to match.
"""

import fnmatch
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

RULES_BYTES: Final = 100_000
"""Of one file of rules; a longer one counts for nothing, so that all it would hide is told."""

_RULES: Final = 2_000
"""Of one file, for the same reason."""

_LOOKS: Final = 2_000_000
"""A path is held against a rule so often at most, in all: about a second."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file of rules."""

    parts: tuple[re.Pattern[str] | None, ...]
    """For each name of a path one pattern; None for any number of names."""
    anywhere: bool
    """Whether it is held against a name alone, wherever that lies."""
    folders_only: bool
    takes_back: bool
    """Whether what it matches is not ignored after all."""

    def matches(self, names: Sequence[str]) -> bool:
        """Whether it matches a path, given as its names from the rule's own folder on."""
        if self.anywhere:
            pattern = self.parts[0]
            return pattern is not None and pattern.match(names[-1]) is not None
        return _matches(self.parts, names)


def read_rules(text: str) -> Sequence[Rule]:
    """The rules of one file, the later ones first: those decide."""
    lines = text.removeprefix("\ufeff").split("\n")
    if len(lines) > _RULES:
        return ()
    return [rule for line in reversed(lines) if (rule := _rule(line.removesuffix("\r")))]


class IgnoreRules:
    """The rules of one repository."""

    def __init__(
        self, rules_in: Callable[[str], Sequence[Rule]], rules_of_its_own: Sequence[Rule]
    ) -> None:
        """`rules_in`: those of a folder below the repository, which is empty for itself.
        `rules_of_its_own`: those that lie in its settings, which all others come before."""
        self._rules_in = rules_in
        self._own = rules_of_its_own
        self._rules: dict[str, Sequence[Rule]] = {}
        self._folders: dict[str, bool] = {"": False}
        """Whether what lies in a folder is ignored with it."""
        self._looks = _LOOKS

    def ignores(self, path: str, *, folder: bool) -> bool:
        """Whether git ignores a path below the repository, were it not tracked."""
        above = path.rpartition("/")[0]
        return self._ignores_folder(above) or self._decides(path, folder=folder)

    def _ignores_folder(self, path: str) -> bool:
        if path not in self._folders:
            above = path.rpartition("/")[0]
            ignored = self._ignores_folder(above) or self._decides(path, folder=True)
            self._folders[path] = ignored
        return self._folders[path]

    def _decides(self, path: str, *, folder: bool) -> bool:
        names = path.split("/")
        for depth in reversed(range(len(names))):
            where = "/".join(names[:depth])
            if where not in self._rules:
                self._rules[where] = self._rules_in(where)
            if (rule := self._first(self._rules[where], names[depth:], folder)) is not None:
                return not rule.takes_back
        rule = self._first(self._own, names, folder)
        return rule is not None and not rule.takes_back

    def _first(self, rules: Sequence[Rule], names: Sequence[str], folder: bool) -> Rule | None:
        self._looks -= len(rules)
        if self._looks < 0:
            return None
        fitting = (rule for rule in rules if folder or not rule.folders_only)
        return next((rule for rule in fitting if rule.matches(names)), None)


def _rule(line: str) -> Rule | None:
    line = _without_blanks_behind(line)
    takes_back = line.startswith("!")
    if not line or line.startswith("#"):
        return None
    line = line[1:] if takes_back else line
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    anywhere = "/" not in line
    try:
        names = line.removeprefix("/").split("/")
        parts = tuple(None if name == "**" else _pattern(name) for name in names)
    except (_NoPattern, re.error):
        return None
    if not line.strip("/"):
        return None
    if parts == (None,):
        parts = (_pattern("*"),)
    if parts[-1] is None:  # what lies in it, and not itself
        parts = (*parts, _pattern("*"))
    return Rule(parts, anywhere, folders_only, takes_back)


def _without_blanks_behind(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2
    return bare + " " if escaped and len(bare) < len(line) else bare


class _NoPattern(Exception):
    """It matches nothing."""


def _pattern(name: str) -> re.Pattern[str]:
    """One name of a path. The standard library's translation never goes back over a text twice."""
    plain, place = "", 0
    while place < len(name):
        sign = name[place]
        if sign == "\\":
            place += 1
            if place == len(name):
                raise _NoPattern
            plain += f"[{name[place]}]" if name[place] in "*?[" else name[place]
        elif sign == "[" and name[place + 1 : place + 2] == "^":
            plain += "[!"
            place += 1
        else:
            plain += sign
        place += 1
    return re.compile(fnmatch.translate(plain))


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Whether the patterns match all names. Going back to the last "any number" is enough."""
    part = name = 0
    back: tuple[int, int] | None = None
    while name < len(names):
        pattern = parts[part] if part < len(parts) else None
        if part < len(parts) and pattern is None:
            part, back = part + 1, (part + 1, name)
        elif pattern is not None and pattern.match(names[name]):
            part, name = part + 1, name + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            part, name = back
        else:
            return False
    return all(each is None for each in parts[part:])
