"""What the turn machine wants done."""

from dataclasses import dataclass
from typing import Literal

from sayso.protocol.messages import FromServer
from sayso.server.turn.events import ApprovalAnswered, Preferred, Ticket


@dataclass(frozen=True, slots=True)
class Listen:
    """Start to recognise a new utterance."""

    utterance: int
    device: str
    mode: Literal["ptt", "hands_free"] = "ptt"
    """`hands_free`: tell when somebody begins to speak, and when the utterance is over."""
    wait_ms: int = 0
    """Hands-free: how long somebody is waited for, in milliseconds of sound."""
    addressed: bool | None = None
    """Hands-free: whether the wake word was said; None: its device did not say."""


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
class Steer:
    """Tell the model this about the request that it works on, before its next reply."""

    ticket: Ticket
    text: str
    device: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class StopAfter:
    """Stop the work when what runs now has ended, and tell how far it is."""

    ticket: Ticket
    device: str


@dataclass(frozen=True, slots=True)
class AnswerAside:
    """Answer this without a language model, while the work goes on."""

    device: str
    text: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class ExplainCode:
    """Answer this about the code that waits for a yes, or runs, and let it."""

    ticket: Ticket
    device: str
    text: str
    spoken: bool


@dataclass(frozen=True, slots=True)
class StopThinking:
    """Stop the work: the model's stream, and code that runs."""

    ticket: Ticket
    by: str = ""
    """The device whose person wants all of it to stop: what it left in the background ends, too."""


@dataclass(frozen=True, slots=True)
class Withdraw:
    """The person goes on with the same sentence: this request was never complete. What was done
    about it stops, and is nothing to be remembered."""

    ticket: Ticket
    text: str
    """The request."""


@dataclass(frozen=True, slots=True)
class SpeechBegan:
    """The first of an answer has become sound, for this device."""

    ticket: Ticket
    device: str


@dataclass(frozen=True, slots=True)
class SpokenOut:
    """An answer whose speech had begun was heard to its end."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class HeardOnly:
    """The answer was cut short: the person heard only this much of it."""

    ticket: Ticket
    text: str


@dataclass(frozen=True, slots=True)
class Speak:
    """Say this next; it need not be a whole sentence."""

    ticket: Ticket
    text: str
    device: str
    tone: float = 0.0
    """How loud a tone rings before the words, from 0 (none) to 1."""


@dataclass(frozen=True, slots=True)
class FinishSpeaking:
    """No more text comes for this ticket."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Hush:
    """Stop synthesizing for this ticket."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Prefer:
    """Remember how a device likes to be spoken to."""

    preferred: Preferred


@dataclass(frozen=True, slots=True)
class AnswerApproval:
    """Hand a person's answer to those who asked for it."""

    answer: ApprovalAnswered

    @property
    def device(self) -> str:
        """Where it was given."""
        return self.answer.device


@dataclass(frozen=True, slots=True)
class AnswerApprovalByWord:
    """The person said yes or no to the question that waits."""

    device: str
    id: str
    decision: Literal["yes", "no"]
    opens: bool = False
    """It may let code reach more: its device has that right, and the question was heard whole."""


@dataclass(frozen=True, slots=True)
class AnswerCode:
    """The person answered what running code asked."""

    device: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class UseTime:
    """The person said how what runs is to go on: with more time, or in the background."""

    device: str
    how: Literal["anew", "background"]


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
    | Steer
    | StopAfter
    | AnswerAside
    | ExplainCode
    | StopThinking
    | Withdraw
    | SpeechBegan
    | SpokenOut
    | HeardOnly
    | Speak
    | FinishSpeaking
    | Hush
    | Prefer
    | AnswerApproval
    | AnswerApprovalByWord
    | AnswerCode
    | UseTime
    | Tell
    | Send
)


def ids_of(effect: Effect) -> dict[str, str]:
    """Which device and turn an effect is for, as log lines tell it; empty where it is for none."""
    device: str | None = getattr(effect, "device", None)
    ticket: Ticket | None = getattr(effect, "ticket", None)
    return {"device": device or "", "turn": str(ticket.turn) if ticket else ""}
