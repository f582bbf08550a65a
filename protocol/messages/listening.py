"""From the person: speech, typed words, and what was heard of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sayso.protocol.messages.bounds import PreRoll, Samples, Stream, Wait


@dataclass(frozen=True, slots=True)
class ListenStart:
    """The microphone opens. Audio frames of `stream` follow."""

    mode: Literal["ptt", "hands_free"]
    stream: Stream
    """The client's number for this utterance; not used again in the session."""
    pre_roll: PreRoll = 0
    """How many samples at the beginning of the stream are from before this message."""
    wait_ms: Wait = 6000
    """Hands-free: how long the server waits for somebody to begin, in milliseconds of sound."""
    question: str | None = None
    """Id of the `approval.request` that stood on the screen when the words began; empty: none did.
    Without it, it is not known."""
    addressed: bool | None = None
    """Hands-free: true after the wake word; false where a voice alone opened it, and words that ask
    for nothing are dropped. Without it, all words count."""
    files: tuple[str, ...] = ()
    """Names of files in the workspace that belong to the words."""


@dataclass(frozen=True, slots=True)
class ListenStop:
    """The key was released: what was sent is the whole utterance."""

    stream: Stream
    samples: Samples
    """How many samples the utterance has, so that the server knows when it holds them all."""
    files: tuple[str, ...] = ()
    """Names of files in the workspace that belong to the words, beside those of `listen.start`."""


@dataclass(frozen=True, slots=True)
class ListenCancel:
    """Forget what was said in `stream`."""

    stream: Stream


@dataclass(frozen=True, slots=True)
class Text:
    """Typed words, as good as spoken ones."""

    text: str
    files: tuple[str, ...] = ()
    """Names of files in the workspace that belong to the words."""
    question: str | None = None
    """Id of the `approval.request` that stood on the screen when the words were begun; empty: none
    did. Without it, it is not known."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The person wants silence, now. The client has already stopped playing."""

    stream: Stream | None = None
    """The stream that was playing, if one was."""
    heard_samples: Samples = 0
    """How many samples of it reached the loudspeaker."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Changes what this device prefers, for example `{"voice": …, "speed": 1.2}`."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ListenEnd:
    """The server has found the end of a hands-free utterance; the client stops sending it."""

    stream: Stream
    samples: Samples
    """How many samples of it were heard."""
    reason: Literal["ended", "timeout"]
    """`ended`: it is committed. `timeout`: nobody spoke, and it is forgotten."""


@dataclass(frozen=True, slots=True)
class AudioAck:
    """The audio of `stream` up to here is safe at the server; the client may drop its copy."""

    stream: Stream
    samples: Samples
    """Samples held, from the first; a hole that was filled with silence counts."""


@dataclass(frozen=True, slots=True)
class SttPartial:
    """What has been understood so far."""

    stable: str
    """Will not change any more."""
    tail: str
    """May still change."""


@dataclass(frozen=True, slots=True)
class SttFinal:
    """What was understood. Empty: nothing was said."""

    text: str
