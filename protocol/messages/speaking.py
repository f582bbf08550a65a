"""To the person: the answer, as text and as sound."""

from dataclasses import dataclass
from typing import Literal

from sayso.protocol.messages.bounds import Rate, Samples, Stream


@dataclass(frozen=True, slots=True)
class ReplyDelta:
    """The next piece of the answer, as it is to be shown."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word and where it lies in the stream."""

    text: str
    start: Samples
    """First sample."""
    end: Samples
    """The sample after its last."""


@dataclass(frozen=True, slots=True)
class SpeechStart:
    """A chunk of speech begins. Audio frames of `stream` follow.

    The first chunk opens the stream; later chunks of the same answer go on in it.
    """

    stream: Stream
    rate: Rate
    """Samples a second."""
    text: str
    """The words of this chunk."""
    first_sample: Samples = 0
    """Where this chunk begins in the stream."""
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class SpeechStop:
    """The stream ends."""

    stream: Stream
    reason: Literal["done", "interrupted", "failed"]
    """`interrupted`: drop at once what has not been played."""
    samples: Samples | None = None
    """With `done`: the length of the whole stream."""


@dataclass(frozen=True, slots=True)
class PlayState:
    """How far the client has played. Sent at least every 100 ms while playing."""

    stream: Stream
    samples: Samples
    """Samples of the stream that have left the loudspeaker."""
    done: bool = False
    """The stream is finished: nothing of it is left to play."""


@dataclass(frozen=True, slots=True)
class Announce:
    """Sayso speaks up by itself: a reminder, a finished task, a warning."""

    text: str
    priority: Literal["low", "normal", "high"] = "normal"
    answers: bool = False
    """It is the answer to what this device's person last said or typed, which begins no turn: code
    is at work, and goes on."""
    asks: bool = False
    """It is a question of code that runs, or of how long it may: what is typed next may answer it.
    It is no approval."""
    choices: tuple[str, ...] = ()
    """With `asks`: words that answer it, for those who would rather choose than write."""
    question: str = ""
    """The name of what is asked. Without `asks`: it is settled, and no answer counts any more."""
