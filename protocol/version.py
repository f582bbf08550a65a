"""Which version of the protocol two ends speak."""

from sayso.protocol.errors import VersionMismatch
from sayso.protocol.messages.session import VersionRange

__all__ = ["SPOKEN", "VERSION", "VersionRange", "choose"]

VERSION = 1
"""The newest version that this code speaks."""

SPOKEN = VersionRange(1, VERSION)
"""All versions that it speaks; what `hello` offers."""


def choose(offered: VersionRange) -> int:
    """Return the newest version that both ends speak, or raise `VersionMismatch`."""
    newest = min(SPOKEN.max, offered.max)
    if newest < max(SPOKEN.min, offered.min):
        older = "server" if offered.min > SPOKEN.max else "client"
        raise VersionMismatch(
            f"This server speaks protocol versions {SPOKEN.min} to {SPOKEN.max}, the client "
            f"{offered.min} to {offered.max}: update the {older}."
        )
    return newest
