"""What can happen to a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sayso.protocol.messages import FromServer, Word
from sayso.server.turn.during_work.events import (
    AsideAnswered,
    BackgroundChanged,
    LeftEnded,
    SteerKept,
    SteersGiven,
    SteerTooLate,
)
from sayso.server.turn.ticket import Ticket

__all__ = [
    "AsideAnswered",
    "BackgroundChanged",
    "LeftEnded",
    "SteerKept",
    "SteerTooLate",
    "SteersGiven",
    "Ticket",
]

Meaning = Literal["request", "yes", "no", "stop", "stop_after", "aside"]
"""What words mean beyond what they say, where that needs no language model. `stop_after`: stop when
what runs now has ended. `aside`: it is answered at once, and ends nothing."""

Form = Literal["reflex", "request", "remark"]
"""`reflex`: words that are answered without a language model. `request`: they ask for something, by
their form. `remark`: nothing tells that they do."""


# From devices


@dataclass(frozen=True, slots=True)
class Joined:
    device: str
    speaks: bool = True
    """It has a loudspeaker and wants speech."""
    play_buffer_s: float = 0.8
    """Seconds of sound that it can hold beyond what it has played."""
    max_frame_bytes: int = 8_192
    returns: bool = False
    """It was here before, its connection broke, and it goes on where it was."""
    language: str = "en"
    """In which it is spoken to, as far as is known when it comes: as in `LanguageFound`."""
    is_asked: bool = True
    """It is sent what waits for a yes, where that fits."""
    reads_out: bool = False
    """It shows nothing: what waits for a yes is read out to its person, whole."""
    may_approve: bool = True
    """What is said or typed there may answer a question."""
    may_open: bool = False
    """A spoken yes there may let code reach more, for once, after that was read out."""
    may_admin: bool = True
    """It may manage devices."""
    rates: tuple[int, ...] = ()
    """Samples a second that its loudspeaker takes; empty: any."""
    offers: tuple[str, ...] = ()
    """What it can be asked to do; empty also where it may not be asked."""
    at_console: bool = False
    """It is the server's own machine, and has shown that machine's token."""
    is_agent: bool = False
    """An agent, whose words are a model's, that may have them from strangers."""


@dataclass(frozen=True, slots=True)
class Left:
    device: str
    may_return: bool = False
    """Its connection broke; it keeps what it says meanwhile, and sends it when it is back."""


@dataclass(frozen=True, slots=True)
class ListenStarted:
    device: str
    stream: int
    mode: Literal["ptt", "hands_free"] = "ptt"
    pre_roll: int = 0
    """Samples at the beginning of the stream that are from before this."""
    wait_ms: int = 6_000
    """Hands-free: how long somebody is waited for, in milliseconds of sound."""
    question: str | None = None
    """The approval request that was on its screen when the words began; empty: none. None: it did
    not say."""
    addressed: bool | None = None
    """Hands-free: whether the wake word was said; None: it did not say, and all words count."""
    files: tuple[str, ...] = ()
    """Names of files in the workspace that were sent along."""


@dataclass(frozen=True, slots=True)
class AudioHeard:
    device: str
    stream: int
    first_sample: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class ListenStopped:
    device: str
    stream: int
    samples: int
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListenCancelled:
    device: str
    stream: int


@dataclass(frozen=True, slots=True)
class Typed:
    device: str
    text: str
    meaning: Meaning = "request"
    question: str | None = None
    """As in `ListenStarted`."""
    rang: bool = False
    """It is a stop, and silenced an alarm."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    device: str
    stream: int | None
    heard_samples: int


@dataclass(frozen=True, slots=True)
class Played:
    device: str
    stream: int
    samples: int
    done: bool


@dataclass(frozen=True, slots=True)
class Preferred:
    """A device says how it likes to be spoken to. None leaves things as they are."""

    device: str
    voice: str | None = None
    speed: float | None = None
    """2.0 is twice as fast."""
    language: str | None = None
    """BCP 47."""


@dataclass(frozen=True, slots=True)
class LanguageFound:
    """The language in which a device is spoken to."""

    device: str
    language: str
    """BCP 47; empty: its person wants one that no voice here speaks."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    """A person answered an approval request."""

    device: str
    id: str
    nonce: str
    decision: Literal["yes", "no", "edit"]
    code: str | None
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class QuestionShown:
    """An approval request has left for a device, whole."""

    device: str
    id: str


# From recognition


@dataclass(frozen=True, slots=True)
class PartlyHeard:
    utterance: int
    stable: str
    tail: str
    meaning: Meaning = "request"
    """Of what is understood so far."""


@dataclass(frozen=True, slots=True)
class VoiceBegan:
    """Hands-free: somebody began to speak."""

    utterance: int
    sample: int
    """Where in the utterance."""


@dataclass(frozen=True, slots=True)
class VoiceEnded:
    """Hands-free: the utterance is over."""

    utterance: int
    reason: Literal["ended", "timeout"]
    """`timeout`: nobody spoke."""


@dataclass(frozen=True, slots=True)
class Heard:
    utterance: int
    text: str
    meaning: Meaning = "request"
    form: Form = "request"
    rang: bool = False
    """As in `Typed`."""


@dataclass(frozen=True, slots=True)
class RecognitionRemarked:
    """Recognition reports something about itself that belongs on a screen."""

    utterance: int
    message: str


@dataclass(frozen=True, slots=True)
class RecognitionFailed:
    utterance: int
    message: str


# From the work


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """The agent has a message for the devices, and stands where `state` says."""

    ticket: Ticket
    state: Literal["thinking", "acting", "awaiting_approval"]
    message: FromServer


@dataclass(frozen=True, slots=True)
class CodeAsked:
    """Code that runs asks the person something."""

    ticket: Ticket
    id: str = ""
    """Empty: what it asked last is settled."""
    text: str = ""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """Most of the work's time is used: the person is asked what to do, while it goes on."""

    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class WorkDone:
    ticket: Ticket
    cost: Mapping[str, float] = field(default_factory=dict)
    """What it took, as `metrics` tells it."""


@dataclass(frozen=True, slots=True)
class WorkFailed:
    ticket: Ticket
    message: str
    what: Literal["model_failed", "store_failed"] = "model_failed"
    """In a word, as on the wire."""


# From synthesis


@dataclass(frozen=True, slots=True)
class ChunkSpoken:
    ticket: Ticket
    text: str
    rate: int
    pcm: bytes
    words: tuple[Word, ...]
    begun_at: float | None = None
    """When its words were complete."""
    samples: int = 0
    """Of all of its sound, as far as that is known; 0 if it is all here."""
    more: bool = False
    """The rest of its sound follows, in `SoundCame`."""


@dataclass(frozen=True, slots=True)
class SoundCame:
    """The sound of a chunk goes on."""

    ticket: Ticket
    pcm: bytes
    more: bool
    """And there is still more of it."""


@dataclass(frozen=True, slots=True)
class SynthesisDone:
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class SynthesisRemarked:
    """Synthesis reports something about itself that belongs on a screen."""

    ticket: Ticket
    message: str


@dataclass(frozen=True, slots=True)
class SynthesisFailed:
    ticket: Ticket
    message: str


# From the server itself


@dataclass(frozen=True, slots=True)
class Announced:
    """Something to be said that nobody asked for just now: a reminder."""

    text: str
    device: str
    """Where it is said aloud; all devices show it."""
    tone: float = 0.0
    """How loud a tone rings before the words, from 0 (none) to 1."""


# From the clock


@dataclass(frozen=True, slots=True)
class TimePassed:
    """The machine's deadline has come."""


Event = (
    Joined
    | Left
    | ListenStarted
    | AudioHeard
    | ListenStopped
    | ListenCancelled
    | Typed
    | Interrupted
    | Played
    | Preferred
    | LanguageFound
    | ApprovalAnswered
    | QuestionShown
    | VoiceBegan
    | VoiceEnded
    | PartlyHeard
    | Heard
    | RecognitionRemarked
    | RecognitionFailed
    | ReplyDelta
    | AgentMessage
    | CodeAsked
    | TimeAsked
    | LeftEnded
    | SteerKept
    | SteersGiven
    | SteerTooLate
    | AsideAnswered
    | BackgroundChanged
    | WorkDone
    | WorkFailed
    | ChunkSpoken
    | SoundCame
    | SynthesisDone
    | SynthesisRemarked
    | SynthesisFailed
    | Announced
    | TimePassed
)
