"""What happened to timers, alarms, reminders and lists, as it is kept."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReminderSet:
    """A timer, an alarm or a reminder was asked for. A later one of the same id takes its place."""

    id: str
    kind: Literal["timer", "alarm", "reminder"]
    due: float
    """Unix seconds."""
    what: str = ""
    """A timer's name, or what to remind of."""
    seconds: int = 0
    """For how long a timer was set."""
    by: str = ""
    """The device it was asked from, and is told on."""
    language: str = "en"
    """Code of the language in which it was asked for, and is told."""
    days: tuple[int, ...] = ()
    """Weekdays on which it comes again, Monday is 0; empty: it comes once."""
    left: float = 0.0
    """Seconds that a timer has left which is paused; zero: it runs."""


@dataclass(frozen=True, slots=True)
class ReminderTold:
    """Its time came, and the person was told."""

    id: str
    late_s: float = 0.0


@dataclass(frozen=True, slots=True)
class ReminderCancelled:
    """The person called it off."""

    id: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class ListAdded:
    """Things were put on a list of the person's."""

    name: str
    """Of the list: a key that is the same in all languages, or what the person calls it."""
    items: tuple[str, ...]
    by: str = ""
    """The device on which it was said."""


@dataclass(frozen=True, slots=True)
class ListTaken:
    """Things were taken off a list, onto which they had been put in this conversation."""

    name: str
    items: tuple[str, ...]
    by: str = ""
