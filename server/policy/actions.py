"""What a piece of code would do, as far as reading it tells."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

UNKNOWN = "\ufffc"
"""Stands in a word for what is only known when the code runs."""

Trait = Literal[
    "fork bomb",
    "runs a download",
    "runs decoded text",
    "shell over the network",
    "deletes without looking",
    "cannot be read",
]
"""What shows in how things are put together, and not in any one command."""

How = Literal["read", "write", "delete"]


@dataclass(frozen=True, slots=True)
class Command:
    """A program that would be started, with its words as it would get them."""

    words: tuple[str, ...]
    """The name comes first, without its folder."""
    wraps: bool = False
    """It only starts another one, which is told too: `time`, `nice`, `env`."""

    @property
    def name(self) -> str:
        return self.words[0]

    @property
    def options(self) -> frozenset[str]:
        """Single letters of short options, and whole long ones."""
        found: set[str] = set()
        for word in self.words[1:]:
            if word.startswith("--"):
                found.add(word.partition("=")[0])
            elif word.startswith("-") and len(word) > 1:
                found.update(f"-{letter}" for letter in word[1:])
                found.add(word)
        return frozenset(found)

    @property
    def operands(self) -> tuple[str, ...]:
        """The words that are no options."""
        return tuple(word for word in self.words[1:] if not word.startswith("-"))


@dataclass(frozen=True, slots=True)
class Touched:
    """A file or folder that is named."""

    path: str
    how: How


@dataclass(frozen=True, slots=True)
class Actions:
    """All that was found."""

    commands: tuple[Command, ...] = ()
    paths: tuple[Touched, ...] = ()
    hosts: tuple[str, ...] = ()
    traits: frozenset[Trait] = frozenset()
    unclear: tuple[str, ...] = ()
    """What cannot be told, in words that complete "it …"."""

    def __add__(self, other: "Actions") -> "Actions":
        return Actions(
            commands=self.commands + other.commands,
            paths=self.paths + other.paths,
            hosts=tuple(dict.fromkeys(self.hosts + other.hosts)),
            traits=self.traits | other.traits,
            unclear=tuple(dict.fromkeys(self.unclear + other.unclear)),
        )


_ADDRESS = re.compile(r"\b(?:https?|ftp|wss?|ssh|git)://(?:[^/@\s]*@)?(\[[^\]]+\]|[\w.-]+)")


def hosts_in(text: str) -> tuple[str, ...]:
    """The hosts of all addresses in a text."""
    return tuple(dict.fromkeys(host.lower().strip(".[]") for host in _ADDRESS.findall(text)))


def is_path(word: str) -> bool:
    """Whether a word names a place, as far as its looks tell."""
    return word.startswith(("/", "~", "./", "../")) or word in (".", "..")


def normal(path: str) -> str:
    """A path without detours, a home folder as `~`. What is relative stays so."""
    path = re.sub(r"^(?:\$HOME|\$\{HOME\})(?=/|$)", "~", path)
    if path.startswith("~/"):
        rest = posixpath.normpath(path[2:])
        return "~" if rest == "." else f"~/{rest}"  # which may begin with dots, and is elsewhere
    return posixpath.normpath(path) if path else path


def home_as_tilde(path: str, home: str) -> str:
    """The same place, named from the home folder where it lies in there."""
    if home and (path == home or path.startswith(f"{home}/")):
        return f"~{path[len(home) :]}"
    return re.sub(r"^/(?:home/[^/]+|root|Users/[^/]+)(?=/|$)", "~", path)


def unique(parts: Iterable[Actions]) -> Actions:
    """All of these together."""
    whole = Actions()
    for part in parts:
        whole += part
    return whole
