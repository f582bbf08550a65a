"""Defines the events that a screen shows: from the server, and from this client."""

from dataclasses import dataclass
from typing import Literal, Protocol

from sayso.audio.devices.microphone import DeviceChange
from sayso.client.session.link_events import LinkChange
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import FromClient


@dataclass(frozen=True, slots=True)
class MicPressed:
    """The key went down; speech is being sent."""


@dataclass(frozen=True, slots=True)
class MicReleased:
    """The key came up."""


@dataclass(frozen=True, slots=True)
class MicLevel:
    """How loud it is at the microphone."""

    needle: float
    """0 is a quiet room, 1 is as loud as it should get."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of ours is on its way."""

    message: FromClient


@dataclass(frozen=True, slots=True)
class FirstAudioReceived:
    """The first sound of an answer has arrived."""

    stream: int


@dataclass(frozen=True, slots=True)
class FirstAudioPlayed:
    """The first sample of an answer has left the loudspeaker."""

    stream: int


@dataclass(frozen=True, slots=True)
class AudioDone:
    """Nothing of the stream is left to be played."""

    stream: int
    samples: int
    """Played."""


@dataclass(frozen=True, slots=True)
class AudioGap:
    """The sound stopped in mid-stream because nothing had arrived, and goes on."""

    stream: int
    seconds: float
    """How long it had stopped."""


@dataclass(frozen=True, slots=True)
class FileSaved:
    """A result of code lies in a file now."""

    path: str
    mime: str


HandsFreeState = Literal["waiting", "open", "listening", "working", "speaking", "inviting", "muted"]
"""Without a key. `waiting`: for the wake word. `open`: for any voice. `inviting`: for whatever the
person adds."""


@dataclass(frozen=True, slots=True)
class HandsFree:
    """What the device that is talked to without a key is doing now."""

    state: HandsFreeState


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know, in a sentence."""

    text: str


ANEW = "A new session with the server began; the conversation goes on."
"""What is said when the session could not be taken up: nothing that was written down is lost."""

Seen = (
    Envelope
    | LinkChange
    | DeviceChange
    | MicPressed
    | MicReleased
    | MicLevel
    | Sent
    | FirstAudioReceived
    | FirstAudioPlayed
    | AudioDone
    | AudioGap
    | FileSaved
    | HandsFree
    | Notice
)


class Screen(Protocol):
    """Where a person, or a program, sees what goes on."""

    def show(self, seen: Seen) -> None:
        """Takes the next thing that happened. Must not block."""
        ...
