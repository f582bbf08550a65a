"""Errors in what the other end sent, and what follows from each.

    ProtocolError
    ├── Malformed          not a frame of this protocol: the connection ends
    │   └── Invalid        a known message with a wrong field: ignored, and said so
    ├── Oversized          longer than the agreed limit: the connection ends
    ├── OutOfOrder         sound, but not now: ignored; before the welcome the connection ends
    ├── VersionMismatch    no version of the protocol that both ends speak
    └── Refused            understood and declined, for example for want of a token

    HomeError              this machine's own files are not as they must be

`CODES` holds every code that travels in an `error` message, also those that no exception
stands for, because only the server's rooms can notice them.
"""

from dataclasses import dataclass
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class Code:
    """What a code of an `error` message means for the connection."""

    fatal: bool
    """Whether the connection ends, unless the message itself says otherwise."""
    close: int
    """The WebSocket close code that follows when it ends."""


CODES: dict[str, Code] = {
    # What arrived was wrong.
    "malformed": Code(fatal=True, close=1007),
    "invalid": Code(fatal=False, close=1008),
    "oversized": Code(fatal=True, close=1009),
    "out_of_order": Code(fatal=False, close=1002),
    "version_mismatch": Code(fatal=True, close=4406),
    # Who sent it may not, or not now.
    "unauthorized": Code(fatal=True, close=4401),
    "forbidden": Code(fatal=False, close=4403),
    "hello_timeout": Code(fatal=True, close=4408),
    "replaced": Code(fatal=True, close=4409),
    "too_fast": Code(fatal=False, close=4429),
    "too_many": Code(fatal=True, close=4430),
    # The server could not do its part.
    "ears_failed": Code(fatal=False, close=1011),
    "model_failed": Code(fatal=False, close=1011),
    "store_failed": Code(fatal=False, close=1011),
    "mouth_failed": Code(fatal=False, close=1011),
    "internal": Code(fatal=False, close=1011),
}
"""Every code of version 1. SPEC.md says for each when it is sent and what a client should do."""

UNKNOWN_CLOSE = 1008
"""The close code for an error whose code is not in the table: "policy violation"."""


class ProtocolError(Exception):
    """Something that arrived cannot be accepted.

    It holds all that an `error` message needs, so that the reader of a socket can answer
    every kind in one place.
    """

    default_code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, code: str | None = None, fatal: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        """One sentence for a person: what happened and, where it helps, what to do."""
        self.code = self.default_code if code is None else code
        """One of `CODES`."""
        known = CODES.get(self.code)
        self.fatal = (known is not None and known.fatal) if fatal is None else fatal
        """Whether the connection must end."""
        self.close_code = UNKNOWN_CLOSE if known is None else known.close
        """The WebSocket close code, should the connection end."""
        self.reason = self.code
        """Why, for this end's own records; it does not travel."""

    def because(self, reason: str) -> Self:
        """The same, with a narrower reason than its code."""
        self.reason = reason
        return self


class Malformed(ProtocolError):
    """The frame is not of this protocol. Its sender cannot be trusted to be in step any more."""

    default_code = "malformed"


class Invalid(Malformed):
    """The frame is sound, but a known message has a wrong or missing field. It is ignored."""

    default_code = "invalid"


class Oversized(ProtocolError):
    """The frame is longer than agreed."""

    default_code = "oversized"


class OutOfOrder(ProtocolError):
    """The message is sound, but does not belong here."""

    default_code = "out_of_order"


class VersionMismatch(ProtocolError):
    """The two ends share no version of the protocol."""

    default_code = "version_mismatch"


class Refused(ProtocolError):
    """Understood and declined. `code` says why; by itself, for want of a valid token."""

    default_code = "unauthorized"


class HomeError(Exception):
    """This machine's own files are not as they must be. The sentence says how to mend it."""
