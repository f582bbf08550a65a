"""What the turn machine wants done."""

from dataclasses import dataclass
from typing import Literal

from sayso.protocol.messages import FromServer
from sayso.server.turn.events import Ticket


@dataclass(frozen=True, slots=True)
class Listen:
    """Open the ears for a new utterance."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Feed:
    utterance: int
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Finish:
    """The utterance is whole: tell what was said."""

    utterance: int


@dataclass(frozen=True, slots=True)
class Forget:
    utterance: int


@dataclass(frozen=True, slots=True)
class Think:
    """Work on this request."""

    ticket: Ticket
    text: str
    """Empty: what waited for the person when the server ended."""
    device: str


@dataclass(frozen=True, slots=True)
class StopThinking:
    """Stop the work: the model's stream, and code that runs."""

    ticket: Ticket
    withdrawn: bool = False
    """The person goes on with the same sentence: the request was never complete."""


@dataclass(frozen=True, slots=True)
class HeardOnly:
    """The answer was cut short: only this much of it reached the person's ears."""

    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class Speak:
    """Say this next; it need not be a whole sentence."""

    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class FinishSpeaking:
    """No more text comes for this ticket."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Hush:
    """Stop synthesizing for this ticket."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Settle:
    """Hand a person's decision to those who asked for it."""

    device: str
    id: str
    nonce: str
    decision: Literal["yes", "no", "edit"]
    code: str | None


@dataclass(frozen=True, slots=True)
class SettleByWord:
    """The person said yes or no to the question that waits."""

    device: str
    decision: Literal["yes", "no"]


@dataclass(frozen=True, slots=True)
class Tell:
    """Send a message to one device, or to all."""

    message: FromServer
    ticket: Ticket
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """Send a frame of speech to a device."""

    device: str
    stream: int
    first_sample: int
    pcm: bytes
    last: bool


Effect = (
    Listen
    | Feed
    | Finish
    | Forget
    | Think
    | StopThinking
    | HeardOnly
    | Speak
    | FinishSpeaking
    | Hush
    | Settle
    | SettleByWord
    | Tell
    | Send
)
