"""What was understood: one small record for each thing that needs no language model.

What a reflex means depends on the turn: a Yes counts while an approval waits, a Stop silences what
speaks. Matching knows nothing of that; it only says what the words are.
"""

from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from typing import Literal

from sayso.server.reflexes.context.continuations import (
    AboutDay,
    Another,
    CallOff,
    Instead,
    Length,
    Moment,
    MoreItems,
    Place,
    Which,
)
from sayso.server.reflexes.household.list_reflexes import (
    AddToList,
    BeginList,
    ClearList,
    LookOnList,
    ReadList,
    TakeOffList,
    TellLists,
)
from sayso.server.reflexes.memory.memory_reflexes import ForgetMemory, Recall, Remember
from sayso.server.reflexes.time_expressions import After, At, Day, When

Kind = Literal["timer", "alarm", "reminder"]
"""A timer counts down, an alarm rings at a time, a reminder says at a time what was asked."""

Topic = Literal[
    "hello",
    "here",
    "thanks",
    "morning",
    "day",
    "evening",
    "night",
    "bye",
    "wellbeing",
    "identity",
    "ability",
]

Need = Literal["home", "music", "web"]
"""`home`: lights and heating; `web`: the weather and the news."""


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
class NormalSpeed:
    """Speak as fast as is usual."""


@dataclass(frozen=True, slots=True)
class Louder:
    """Speak louder."""


@dataclass(frozen=True, slots=True)
class Quieter:
    """Speak more quietly."""


@dataclass(frozen=True, slots=True)
class SetVolume:
    """Speak this loud from now on."""

    percent: int


@dataclass(frozen=True, slots=True)
class ChangeVoice:
    """Speak with another voice."""

    name: str = ""
    """As it was said; empty for any other one."""


@dataclass(frozen=True, slots=True)
class TellTime:
    """What time is it, here or elsewhere?"""

    place: str = ""
    """As it was said; empty for here."""
    zone: tzinfo | None = None
    """The place's."""
    later_s: int = 0
    """Seconds from now: "what time will it be in six hours?"."""


@dataclass(frozen=True, slots=True)
class TellDate:
    """Which day is it, today or on a day that was named?"""

    day: Day | After | None = None
    """None is today."""


@dataclass(frozen=True, slots=True)
class TellWeek:
    """Which week of the year is it?"""


@dataclass(frozen=True, slots=True)
class TimeUntil:
    """How long is it until then?"""

    when: When
    unit: Literal["day", "week"] = "day"
    """In which a day is counted down to."""


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Count down."""

    seconds: int
    """Zero: it was not said how long."""
    name: str = ""
    """What it was called, as it was said; empty if nothing."""


@dataclass(frozen=True, slots=True)
class ChangeTimer:
    """Do something with a timer that runs."""

    action: Literal["add", "subtract", "set", "pause", "resume"]
    seconds: int = 0
    """To add, to take off, or to have left."""
    name: str = ""
    length: int = 0
    """The one that was set for this long; zero if no length was said."""
    which: Literal["one", "all"] = "one"


@dataclass(frozen=True, slots=True)
class SetReminder:
    """Speak up at a time."""

    when: When | None
    """None: it was not said when."""
    what: str = ""
    """What to remind of, as it was said; empty if nothing, as with an alarm."""
    kind: Literal["alarm", "reminder"] = "reminder"
    days: tuple[int, ...] = ()
    """Weekdays on which it comes again and again, Monday is 0; empty: it comes once."""


@dataclass(frozen=True, slots=True)
class ChangeAlarm:
    """Let an alarm ring, or a reminder come, at another time."""

    when: When
    before: When | None = None
    """The time of the one that is meant; None if it was not said."""
    kind: Literal["alarm", "reminder"] = "alarm"
    name: str = ""
    """What the one that is meant reminds of; empty if it was not named."""


@dataclass(frozen=True, slots=True)
class Snooze:
    """Ring again later."""

    seconds: int = 0
    """After so long; zero: as long as is usual."""


@dataclass(frozen=True, slots=True)
class ListTimers:
    """Which of these are open, and how long do they take?"""

    kind: Kind
    name: str = ""
    """Only those of this name; empty for all."""
    which: Literal["all", "next"] = "all"
    when: At | None = None
    """Only those that are due then."""
    seconds: int = 0
    """Only those that were set for this long; zero if no length was said."""


@dataclass(frozen=True, slots=True)
class CancelTimer:
    """Call off what is open."""

    kind: Kind
    which: Literal["one", "all"]
    name: str = ""
    """The one of this name, or that reminds of this; empty if it was not named."""
    seconds: int = 0
    """The one that was set for this long; zero if no length was said."""
    when: When | None = None
    """The one that is due then; None if no time was said."""
    days: tuple[int, ...] = ()
    """The one that comes again on these weekdays."""


@dataclass(frozen=True, slots=True)
class Calculate:
    """A sum, in words or figures."""

    said: str
    value: Decimal
    unit: str = ""
    """What is counted, in the person's own words: "euros"."""


@dataclass(frozen=True, slots=True)
class Convert:
    """So many of one unit in another."""

    said: str
    """The amount and its unit, in the person's own words."""
    result: Decimal
    into: str
    """The other unit, in the person's own words."""


@dataclass(frozen=True, slots=True)
class FlipCoin:
    """Heads or tails?"""


@dataclass(frozen=True, slots=True)
class RollDie:
    """One to six, or to as many as the die has sides."""

    count: int = 1
    """Dice."""
    sides: int = 6


@dataclass(frozen=True, slots=True)
class PickNumber:
    """A whole number at random, from the lowest to the highest."""

    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Talk:
    """Something that is said to anybody, and answered in a sentence."""

    about: Topic


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Something that Sayso does only with what is not part of it."""

    needs: Need


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back what code changed for the last requests, or for the one that was named."""

    requests: int = 1
    about: str = ""
    """Words of the one that is meant, as they were said; empty for the last ones."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Do again what was taken back."""


@dataclass(frozen=True, slots=True)
class StopAfter:
    """Stop working when what runs now has ended."""


@dataclass(frozen=True, slots=True)
class TellStatus:
    """What is being worked on, how much of it is left, or what did it take?"""

    about: Literal["all", "left", "spent", "jobs", "changes"] = "all"
    """`jobs`: what goes on in the background. `changes`: which files are other than before."""


@dataclass(frozen=True, slots=True)
class StopJobs:
    """Stop what goes on in the background."""


@dataclass(frozen=True, slots=True)
class IfKnown:
    """The same, where what it names is there; where it is not, other things are meant: "how long
    does the rice need?" asks for a timer only if one is called so."""

    reflex: "Reflex"


Reflex = (
    Stop
    | Cancel
    | Yes
    | No
    | Repeat
    | Slower
    | Faster
    | NormalSpeed
    | Louder
    | Quieter
    | SetVolume
    | ChangeVoice
    | TellTime
    | TellDate
    | TellWeek
    | TimeUntil
    | AboutDay
    | Place
    | SetTimer
    | Length
    | Moment
    | Instead
    | CallOff
    | Another
    | Which
    | ChangeTimer
    | SetReminder
    | ChangeAlarm
    | Snooze
    | ListTimers
    | CancelTimer
    | AddToList
    | TakeOffList
    | ReadList
    | LookOnList
    | ClearList
    | MoreItems
    | TellLists
    | BeginList
    | Remember
    | Recall
    | ForgetMemory
    | Calculate
    | Convert
    | FlipCoin
    | RollDie
    | PickNumber
    | Talk
    | Elsewhere
    | Undo
    | Redo
    | StopAfter
    | TellStatus
    | IfKnown
    | StopJobs
)
