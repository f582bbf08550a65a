"""The pairing window: the owner opens it for two minutes, the first paired device closes it.

Pure: the time is an argument. A device shows the long code from the QR, or the six digits that a
person typed; of those a few may be wrong, then the window shuts.
"""

import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from sayso.server.trust.principal import OWNER, Scope

OPEN_S = 120.0
"""Long enough to fetch the phone, and too short to forget it."""
TRUSTING_S = 300.0
"""So long it stays open after a device looked at the page that introduces the server: a phone takes
minutes to install a certificate."""
LONGEST_S = 900.0
"""Whoever looks at that page: no window is open for longer."""
CODE_BYTES = 16
"""128 bits: beyond guessing in two minutes, or ever."""
DIGITS = 6
"""As many as a person types without a slip; with five tries a guess succeeds once in 200,000."""
TRIES = 5

Verdict = Literal["right", "wrong", "shut"]


@dataclass(slots=True)
class Window:
    """Open for one device."""

    until: float
    latest: float = 0.0
    """It is never open beyond this."""
    name: str = ""
    """What the device will be called; empty lets it say."""
    person: str = OWNER
    scopes: tuple[Scope, ...] = ("talk", "approve")
    code: str = field(default_factory=lambda: secrets.token_urlsafe(CODE_BYTES))
    digits: str = field(default_factory=lambda: f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}")
    tries: int = TRIES


class Pairing:
    """At most one window is open."""

    def __init__(self) -> None:
        self._window: Window | None = None

    def open(
        self, now: float, name: str = "", person: str = OWNER, scopes: Iterable[Scope] = ()
    ) -> Window:
        """A new window; one that was open is shut."""
        given = tuple(scopes) or ("talk", "approve")
        self._window = Window(now + OPEN_S, now + LONGEST_S, name, person, given)
        return self._window

    def is_looked_at(self, window: Window, now: float) -> None:
        """A device is on its way, on the page that introduces the server: it has more time."""
        if self._window is window and now < window.until:
            window.until = max(window.until, min(now + TRUSTING_S, window.latest))

    def shut(self, window: Window) -> None:
        """This window is over, if it is still the one."""
        if self._window is window:
            self._window = None

    def show(self, code: str, now: float) -> tuple[Verdict, Window | None]:
        """A device shows a code. The right one shuts the window; so does the last wrong try."""
        window = self._window
        if window is None or now >= window.until:
            self._window = None
            return "shut", None
        typed = "".join(code.split()).replace("-", "")
        right = _same(code, window.code) | _same(typed, window.digits)
        if right:
            self._window = None
            return "right", window
        if len(typed) <= DIGITS:
            window.tries -= 1
        if not window.tries:
            self._window = None
        return "wrong", window


def _same(shown: str, right: str) -> bool:
    return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), right.encode())
