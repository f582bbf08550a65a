"""What is understood only after something else was said: "and in Tokyo?", "ten minutes".

What each goes on from stands in `follow_ups.py`; by itself it is for the language model.
"""

from dataclasses import dataclass
from datetime import tzinfo
from typing import Final, Literal

from sayso.server.reflexes.time_expressions import After, Day, When


@dataclass(frozen=True, slots=True)
class Place:
    """The same, for another place: "and in Tokyo?"."""

    place: str
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class AboutDay:
    """The same, for another day: "and tomorrow?"."""

    day: Day | After


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time and nothing else: the answer to how long a timer is to run."""

    seconds: int


@dataclass(frozen=True, slots=True)
class Moment:
    """A time and nothing else: the answer to when it is to be."""

    when: When


@dataclass(frozen=True, slots=True)
class Instead:
    """What was just set is for another time: "make that six", "no, ten minutes"."""

    seconds: int = 0
    """Zero: a moment was said, or a number."""
    when: When | None = None
    number: int = 0
    """Without a unit: "make it five" after a timer for four minutes."""


@dataclass(frozen=True, slots=True)
class CallOff:
    """What was just spoken of is not wanted: "delete it", "cancel both", "the Sunday one off"."""

    which: Literal["one", "all"] = "one"
    name: str = ""
    """The one of several that is called so …"""
    seconds: int = 0
    """… or was set for this long …"""
    when: When | None = None
    """… or is due then …"""
    days: tuple[int, ...] = ()
    """… or on these weekdays."""


@dataclass(frozen=True, slots=True)
class Another:
    """The same once more, for another time: "and one for three minutes"."""

    seconds: int = 0
    """Of a timer."""
    name: str = ""
    when: When | None = None
    """Of an alarm."""
    days: tuple[int, ...] = ()
    """On which the alarm comes again and again."""
    number: int = 0
    """Of a timer, in the unit of the one before."""


@dataclass(frozen=True, slots=True)
class Which:
    """The one of several that is meant: "the pasta timer", "all of them"."""

    which: Literal["one", "all"] = "one"
    name: str = ""
    seconds: int = 0
    """The one that was set for this long."""
    when: When | None = None
    """The one that is due then."""


@dataclass(frozen=True, slots=True)
class MoreItems:
    """The same with other things: "and cheese"."""

    items: str
    """As they were said."""


CONTINUATIONS: Final = (
    *(Place, AboutDay, Length, Moment, Instead, CallOff, Another, Which, MoreItems),
)
