"""Defines the events of the link: what the server sent, and the state of the link itself."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from sayso.protocol.codec import Envelope
from sayso.protocol.frames import AudioFrame
from sayso.protocol.messages import FromClient, Welcome


class LinkState(Enum):
    CONNECTING = "connecting"
    GREETING = "greeting"
    UP = "up"
    WAITING = "waiting"
    REFUSED = "refused"
    CLOSED = "closed"


FINAL = (LinkState.REFUSED, LinkState.CLOSED)
"""States after which nothing comes."""


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The line's state changed."""

    state: LinkState
    reason: str = ""
    """One sentence, when there is something to say."""
    retry_s: float | None = None
    """With WAITING: seconds until the next try."""
    session: Literal["", "first", "resumed", "snapshot", "anew"] = ""
    """With UP. `anew`: the server has forgotten the session that we had."""
    welcome: Welcome | None = None
    """With UP."""
    lost: tuple[FromClient, ...] = ()
    """With UP and `anew`: what was sent to the old session and may never have been answered."""


LinkEvent = Envelope | AudioFrame | LinkChange
