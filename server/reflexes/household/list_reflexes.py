"""What is understood of lists: add, take off, read, look, clear, begin."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AddToList:
    """Put things on a list."""

    items: str
    """As they were said, several in a row perhaps."""
    name: str = ""
    """Of the list; empty: the one that was last spoken of."""


@dataclass(frozen=True, slots=True)
class TakeOffList:
    """Take things off a list."""

    items: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ReadList:
    """What is on a list?"""

    name: str = ""


@dataclass(frozen=True, slots=True)
class LookOnList:
    """Is this on a list?"""

    items: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class ClearList:
    """Take everything off a list."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class TellLists:
    """Which lists are there?"""


@dataclass(frozen=True, slots=True)
class BeginList:
    """Speak of this list from now on."""

    name: str
