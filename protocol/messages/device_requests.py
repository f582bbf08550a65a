"""What a server asks a device to do, and what came of it: with the feature `desktop` alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sayso.protocol.messages.bounds import Count, Stream


@dataclass(frozen=True, slots=True)
class ActRequest:
    """Asks a device to do one thing that it offers."""

    id: str
    method: str
    """One of those that the device's `hello` offers."""
    deadline_s: float
    """Seconds, from when it was sent, after which the answer counts for nothing."""
    stream: Stream
    """Under this number the device sends the pictures of its answer."""
    lease: str = ""
    """The say-so under which this is asked."""
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an answer; its bytes travel in binary frames."""

    mime: Literal["image/png", "image/jpeg", "image/webp"]
    size: Count
    """In bytes."""


@dataclass(frozen=True, slots=True)
class ActResult:
    """What came of an `act.request`."""

    id: str
    effect: Literal["confirmed", "unconfirmed", "refused"]
    """`confirmed`: it was done. `unconfirmed`: perhaps it was. `refused`: nothing was done."""
    data: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    """Why it is not confirmed, in a sentence."""
    pictures: tuple[Picture, ...] = ()
    """In the order in which their bytes lie in the stream."""
