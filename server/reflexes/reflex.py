"""What was understood: one small record for each thing that needs no language model.

What a reflex means depends on the turn: a Yes counts while an approval waits, a Stop silences what
speaks. Matching knows nothing of that; it only says what the words are.
"""

from dataclasses import dataclass
from typing import Literal

from sayso.server.reflexes.time_expressions import When

Kind = Literal["timer", "alarm", "reminder"]
"""A timer counts down, an alarm rings at a time, a reminder says at a time what was asked."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Be silent, and stop what you are doing."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """Never mind what I asked."""


@dataclass(frozen=True, slots=True)
class Yes:
    """Consent, with nothing attached to it."""


@dataclass(frozen=True, slots=True)
class No:
    """Refusal, with nothing attached to it."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """Say your last answer again."""


@dataclass(frozen=True, slots=True)
class Slower:
    """Speak more slowly."""


@dataclass(frozen=True, slots=True)
class Faster:
    """Speak faster."""


@dataclass(frozen=True, slots=True)
class Louder:
    """Speak louder."""


@dataclass(frozen=True, slots=True)
class Quieter:
    """Speak more quietly."""


@dataclass(frozen=True, slots=True)
class TellTime:
    """What time is it here?"""


@dataclass(frozen=True, slots=True)
class TellDate:
    """Which day is it today?"""


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Count down."""

    seconds: int
    name: str = ""
    """What it was called, as it was said; empty if nothing."""


@dataclass(frozen=True, slots=True)
class SetReminder:
    """Speak up at a time."""

    when: When
    what: str = ""
    """What to remind of, as it was said; empty if nothing, as with an alarm."""
    kind: Literal["alarm", "reminder"] = "reminder"


@dataclass(frozen=True, slots=True)
class ListTimers:
    """Which of these are open, and how long do they take?"""

    kind: Kind
    name: str = ""
    """Only those of this name; empty for all."""


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Call off what is open."""

    kind: Kind
    which: Literal["one", "all"]
    name: str = ""
    """The one of this name, or that reminds of this; empty if it was not named."""
    seconds: int = 0
    """The one that was set for this long; zero if no length was said."""


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back what the last run of code changed."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Do again what was taken back."""


Reflex = (
    Stop
    | Cancel
    | Yes
    | No
    | Repeat
    | Slower
    | Faster
    | Louder
    | Quieter
    | TellTime
    | TellDate
    | SetTimer
    | SetReminder
    | ListTimers
    | CancelTimer
    | Undo
    | Redo
)
