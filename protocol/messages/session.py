"""Who is there: greeting, keeping alive, trouble and farewell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.protocol.messages.bounds import (
    BufferMilliseconds,
    Count,
    FrameBytes,
    Milliseconds,
    Rate,
    TextBytes,
    Version,
)


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The protocol versions that a client can speak, both ends included."""

    min: Version
    max: Version


@dataclass(frozen=True, slots=True)
class Limits:
    """What one end can take. The other end keeps to it."""

    max_text_bytes: TextBytes = 65_536
    """Longest text frame, in bytes of UTF-8."""
    max_frame_bytes: FrameBytes = 8_192
    """Longest binary frame, in bytes, header included."""
    play_buffer_ms: BufferMilliseconds = 800
    """Milliseconds of sound that the device can hold beyond what it has played."""


@dataclass(frozen=True, slots=True)
class AudioOffer:
    """What a client can send and play."""

    up: tuple[str, ...] = ("pcm16",)
    """Codecs it can send, best first."""
    up_rate: Rate = 16_000
    """Samples a second that it will send."""
    down: tuple[str, ...] = ("pcm16",)
    """Codecs it can play, best first."""
    down_rates: tuple[Rate, ...] = ()
    """Rates that it can play, in samples a second; empty means any."""
    echo: Literal["cancelled", "half_duplex", "headphones"] = "half_duplex"
    """How it keeps its own voice out of its microphone."""


@dataclass(frozen=True, slots=True)
class AudioAgreed:
    """The codecs that the server chose from the offer."""

    up: str = "pcm16"
    up_rate: Rate = 16_000
    down: str = "pcm16"


@dataclass(frozen=True, slots=True)
class Hello:
    """The client's first message; it must arrive within five seconds."""

    protocol: VersionRange
    client: str
    """Name and version of the program, for people who read logs."""
    device: str = ""
    """The device's own lasting name; the server addresses it by this."""
    features: tuple[str, ...] = ()
    audio: AudioOffer = field(default_factory=AudioOffer)
    limits: Limits = field(default_factory=Limits)
    wants: tuple[str, ...] = ()
    """Names of the messages that it wants to be sent; empty means all."""
    token: str | None = None
    """The proof of who it is, unless that came in the Authorization header."""
    session: str | None = None
    """The session that it wants to resume."""
    last_seq: Count | None = None
    """The last `seq` that it received in that session."""
    conversation: str = ""
    """The conversation that it wants to take part in, by id or name; empty: the server chooses."""
    offers: tuple[str, ...] = ()
    """Methods that it can be asked for by `act.request`."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The conversation as it stands, for a client that missed more than can be replayed."""

    turns: tuple[Mapping[str, Any], ...] = ()
    """Past turns, oldest first, each `{"turn", "said", "reply", "code"}`.

    `code` is a list of `{"language", "code", "status"}`.
    """
    approvals: tuple[Mapping[str, Any], ...] = ()
    """Approval requests that are still open, in the shape of `approval.request`."""
    tasks: tuple[Mapping[str, Any], ...] = ()
    """Jobs that go on, in the shape of `task.update`."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's answer to `hello`."""

    protocol: Version
    """The version that both ends speak from here on."""
    server: str
    session: str
    """What to send in `hello` to resume after a cut."""
    resume: Literal["new", "ok", "snapshot"] = "new"
    """`ok`: what was missed follows. `snapshot`: too much was missed, `snapshot` replaces it."""
    features: tuple[str, ...] = ()
    audio: AudioAgreed = field(default_factory=AudioAgreed)
    limits: Limits = field(default_factory=Limits)
    last_seq: Count | None = None
    """The last `seq` of the client's that arrived in the resumed session."""
    conversation: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    """What is in use: `ears`, `voice` and `language_model`, in words for a screen."""
    snapshot: Snapshot | None = None
    commands: Mapping[str, str] = field(default_factory=dict)
    """What `command` may name, and a line about each."""


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for a `pong` with the same `id`."""

    id: Count


@dataclass(frozen=True, slots=True)
class Pong:
    id: Count


@dataclass(frozen=True, slots=True)
class Error:
    """Something went wrong. A fatal error is followed by the end of the connection."""

    code: str
    """One of the codes in SPEC.md."""
    message: str
    """One sentence for the person: what happened and what to do."""
    fatal: bool = False
    retry_ms: Milliseconds | None = None
    """When it makes sense to try again, in milliseconds; none means not by itself."""


@dataclass(frozen=True, slots=True)
class Bye:
    """The sender leaves on purpose."""

    reason: str = ""
