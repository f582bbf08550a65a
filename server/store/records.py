"""What happened, as it is kept: one frozen record per kind of happening, wrapped in an event.

Records only ever gain fields with defaults. A reader ignores fields that it does not know, and
reads a kind that it does not know as `Unread`, so that a log outlives the version that wrote it.
"""

from dataclasses import dataclass
from typing import Literal

from sayso.server.store.access import AccessRecord
from sayso.server.store.changes import NO_CHANGES, Changes
from sayso.server.store.decisions import DecisionRecord, Seen
from sayso.server.store.jobs import JobRecord
from sayso.server.store.plans import PlanChanged
from sayso.server.store.reminders import (
    ListAdded,
    ListTaken,
    ReminderCancelled,
    ReminderSet,
    ReminderTold,
)
from sayso.server.store.steering import SteeringRecord
from sayso.server.store.testing import TestingRecord

Source = Literal["person", "model", "runtime", "server"]


@dataclass(frozen=True, slots=True)
class Call:
    """Code that the model wants run."""

    id: str
    """Ours: names the run everywhere."""
    language: str
    code: str
    given_id: str = ""
    """The provider's, which some want to see again unchanged."""
    written: str = ""
    """How a text model wrote it, fences and all; empty if it came as a tool call."""
    raw: str = ""
    """The beginning of a tool call's arguments as they came, where they were not as they should."""
    called: str = ""
    """The tool that was called, where there is none of that name."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The circumstances of a request, kept so that what a model was told of them stays the same."""

    day: str = ""
    """Weekday and date, in words."""
    time: str = ""
    """Hours and minutes."""
    zone: str = ""
    """The time zone, with its distance from UTC."""
    mode: str = ""
    """What runs unasked; empty where no code runs."""
    granted: tuple[str, ...] = ()
    """Which folders and hosts are open to code, in words."""
    running: tuple[str, ...] = ()
    """Titles of the jobs that go on."""
    renewed: bool = False
    """What runs next begins in new interpreters."""
    device: str = ""
    """The name of the device it was asked from; empty for this machine."""
    person: str = ""
    """Who that belongs to; empty for the owner."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The person asked for something."""

    text: str
    by: str = ""
    """The device it was asked from."""
    places: tuple[str, ...] = ()
    """Folders and files of the person's own that are named in it, as whole paths."""
    situation: Situation | None = None
    """The circumstances that the model is told of with it."""
    pictures: tuple[str, ...] = ()
    """Names of files with pictures that are named in it, for models that see."""
    told_with: str = ""
    """What the model is told with it: of the person's own, and, between marks, of the folder."""
    outside: tuple[str, ...] = ()
    """From where strangers' words may have come with that."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The model (or, at a limit, the server) said something, or wants code run, or both."""

    text: str
    calls: tuple[Call, ...] = ()
    model: str = ""
    whole: Literal["whole", "cut"] = "whole"
    """`cut`: the stream ended before the model did."""
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    seconds: float = 0.0
    """How long the model took."""
    steers: int = 0
    """How much of what the person had said meanwhile (`Steered`) it had been told by then, counted
    from the request on."""


@dataclass(frozen=True, slots=True)
class ApprovalOpened:
    """The person was asked whether code may run."""

    id: str
    run: str
    language: str
    code: str
    where: str
    may_touch: tuple[str, ...]
    binding: str
    """Hash of code, language, folder and permissions: what exactly was asked."""
    expires_s: float
    kind: Literal["run", "access"] = "run"
    """`access`: not whether code may run, but whether it may reach more."""
    warnings: tuple[str, ...] = ()
    why: str = ""
    wider: str = ""
    """What the person could say yes to besides, until the request is done."""


@dataclass(frozen=True, slots=True)
class ApprovalClosed:
    """The question was settled."""

    id: str
    run: str
    decision: Literal["yes", "no", "edit", "expired", "cancelled"]
    by: str = ""
    """The device that decided."""
    binding: str = ""
    """Hash of what was approved; empty unless something was."""
    lasting: bool = False
    """More reach was granted for good; or, of a run, what was `wider`, too."""


@dataclass(frozen=True, slots=True)
class RunIntended:
    """Code is about to run. Written before it starts, so that nothing runs unrecorded."""

    run: str
    language: str
    code: str
    """As it runs, which is the person's version if it was edited."""
    where: str = ""
    binding: str = ""
    outside: tuple[str, ...] = ()
    """What it could read besides its workspace and the system, as a person is told it."""
    prepared: bool = False
    """Where `code` is not what the model wrote: a tool made it of that, and not the person."""
    under: str = ""
    """The run whose yes covered this one, too; empty if it was asked about, or none was needed."""


@dataclass(frozen=True, slots=True)
class RunReported:
    """How a call ended, and what the model is told about it."""

    run: str
    status: Literal["ok", "error", "interrupted", "died", "refused", "unknown"]
    """`refused`: it never started. `unknown`: the server ended while it ran."""
    seconds: float = 0.0
    detail: str = ""
    output: str = ""
    """Bounded text of the output, as the model gets it."""
    changes: Changes = NO_CHANGES
    pictures: tuple[str, ...] = ()
    """Names of files with pictures that it showed, for models that see."""


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What runs of code had changed in files was undone, at the person's wish."""

    runs: tuple[str, ...]
    restored: tuple[str, ...] = ()
    """Paths that are as they were before; a bounded number of them."""
    removed: tuple[str, ...] = ()
    """Paths that had not been there before."""
    left: tuple[str, ...] = ()
    """Paths that could not be put back."""
    by: str = ""
    """The device on which it was wished."""


@dataclass(frozen=True, slots=True)
class MadeAgain:
    """What was taken back was done again, without running the code again."""

    runs: tuple[str, ...]
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    """The answer begins to be heard."""

    to: str
    """The device that says it."""


@dataclass(frozen=True, slots=True)
class SpokenOut:
    """The answer was said to its end, or is said once more because its end may be missing."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer was cut short in the speaking: this much of it was heard."""

    text: str


@dataclass(frozen=True, slots=True)
class Uttered:
    """A further piece of a reply that has not ended. What was answered takes the place of all."""

    text: str


@dataclass(frozen=True, slots=True)
class CutOff:
    """The server had ended in the middle of the last request, and is back. Nothing of it is done
    again by itself."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The person stopped the work."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The person went on with the same sentence: their last request was never complete, and what
    was done about it counts for nothing."""

    text: str
    """The request."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A request could not be answered; this is what the person was told."""

    message: str


@dataclass(frozen=True, slots=True)
class DevicePreferred:
    """How a device likes to be spoken to, whatever it preferred before."""

    device: str
    voice: str = ""
    """A voice's name, or a part of it; empty: as the settings have it."""
    speed: float = 0.0
    """2.0 is twice as fast; 0: as the settings have it."""
    language: str = ""
    """BCP 47; empty: the voice's."""
    volume: int = 0
    """Percent; 0: as loud as is usual."""


@dataclass(frozen=True, slots=True)
class ConversationBegan:
    """A conversation was set up."""

    name: str = ""
    """What the person calls it; empty if they did not say."""
    owner: str = ""
    """Whose it is; empty: the household's."""
    workspace: str = ""
    """The folder in which its code runs; empty: one of its own."""
    seen: tuple[Seen, ...] = ()
    """Which folder that was then."""
    device: str = ""
    """The paired device whose own it is, by its lasting id; empty: no device's."""
    instructions: str = ""
    """What the program that set it up wants the model to keep to."""


@dataclass(frozen=True, slots=True)
class DeviceEntered:
    """A device takes part in the conversation from here on, and comes back to it."""

    device: str
    """Its lasting id."""


@dataclass(frozen=True, slots=True)
class ConversationNamed:
    """The person gave it another name."""

    name: str


@dataclass(frozen=True, slots=True)
class ConversationReset:
    """The person wants to begin anew: what was before is kept, and no longer told to the model."""


@dataclass(frozen=True, slots=True)
class InterpretersEnded:
    """The interpreters, with all variables, ended between requests."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A record of a kind that this version does not know."""

    kind: str


Record = (
    Asked
    | SteeringRecord
    | Answered
    | ApprovalOpened
    | ApprovalClosed
    | DecisionRecord
    | RunIntended
    | RunReported
    | JobRecord
    | TestingRecord
    | PlanChanged
    | TakenBack
    | MadeAgain
    | Uttered
    | CutOff
    | SpeechBegan
    | SpokenOut
    | Heard
    | Interrupted
    | Withdrawn
    | Failed
    | ReminderSet
    | ReminderTold
    | ReminderCancelled
    | ListAdded
    | ListTaken
    | DevicePreferred
    | ConversationBegan
    | DeviceEntered
    | ConversationNamed
    | ConversationReset
    | InterpretersEnded
    | AccessRecord
    | Unread
)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the log."""

    conversation: str
    """Its id; empty where it belongs to none."""
    source: Source
    record: Record
    parent: int | None = None
    """The event that this one follows on."""
    time: float = 0.0
    """Unix seconds. Zero lets the log say when."""
    id: int = 0
    """Given by the log; rises with every event."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What can be said of a conversation without reading it."""

    id: str
    began: float
    """Unix seconds of the first event."""
    last: float
    """Unix seconds of the last event."""
    events: int
    title: str
    """The first thing that the person asked."""
    name: str = ""
    """What the person calls it; empty if they did not say."""
    owner: str = ""
    """Whose it is; empty: the household's."""
    workspace: str = ""
    """The folder in which its code runs; empty: one of its own."""
    seen: tuple[Seen, ...] = ()
    """Which folder that was when it was chosen."""
    device: str = ""
    """The paired device whose own it is; empty: no device's."""
    pinned: bool = False
    """It stays at the top of the list."""
