"""What can happen to a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sayso.protocol.messages import FromServer, Word


@dataclass(frozen=True, slots=True, order=True)
class Ticket:
    """Names one attempt at one answer. What carries an older ticket is stale and dropped."""

    turn: int
    gen: int


Meaning = Literal["request", "yes", "no", "stop"]
"""What words mean beyond what they say, where that needs no language model."""


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
    may_approve: bool = True
    """What is said or typed there may answer a question."""
    may_admin: bool = True
    """It may manage devices."""
    rates: tuple[int, ...] = ()
    """Samples a second that its loudspeaker takes; empty: any."""
    offers: tuple[str, ...] = ()
    """What it can be asked to do; empty also where it may not be asked."""
    at_console: bool = False
    """It is the server's own machine, and has shown that machine's token."""


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
class Answered:
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


@dataclass(frozen=True, slots=True)
class EarsRemarked:
    """Recognition reports something about itself that belongs on a screen."""

    utterance: int
    message: str


@dataclass(frozen=True, slots=True)
class EarsFailed:
    utterance: int
    message: str


# From the work


@dataclass(frozen=True, slots=True)
class ReplyGrew:
    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class AgentShowed:
    """The work has something for the screens, and stands where `state` says."""

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
class WorkEnded:
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


@dataclass(frozen=True, slots=True)
class MouthDone:
    ticket: Ticket


@dataclass(frozen=True, slots=True)
class MouthRemarked:
    """Synthesis reports something about itself that belongs on a screen."""

    ticket: Ticket
    message: str


@dataclass(frozen=True, slots=True)
class MouthFailed:
    ticket: Ticket
    message: str


# From the server itself


@dataclass(frozen=True, slots=True)
class Announced:
    """Something to be said that nobody asked for just now: a reminder."""

    text: str
    device: str
    """Where it is said aloud; all devices show it."""


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
    | Answered
    | QuestionShown
    | VoiceBegan
    | VoiceEnded
    | PartlyHeard
    | Heard
    | EarsRemarked
    | EarsFailed
    | ReplyGrew
    | AgentShowed
    | CodeAsked
    | WorkEnded
    | WorkFailed
    | ChunkSpoken
    | MouthDone
    | MouthRemarked
    | MouthFailed
    | Announced
    | TimePassed
)
