"""Checks whether the server still answers: an open connection does not prove it."""

from typing import Literal

from sayso.protocol.messages import Ping

QUIET_S = 3.0
"""After so long without a word from the server it is asked."""
DEAD_S = 7.0
"""After so long the line counts as cut, before the watchdog would have to act."""


class Heartbeat:
    """Counts the seconds since the server's last sign of life."""

    def __init__(self, now: float) -> None:
        self._heard_at = now
        self._asked_at = now
        self._pings = 0

    def heard(self, now: float) -> None:
        self._heard_at = now

    def ask(self, now: float) -> Ping:
        """The question."""
        self._pings += 1
        self._asked_at = now
        return Ping(self._pings)

    def answered(self, now: float) -> float:
        """Seconds that the answer took."""
        return now - self._asked_at

    def look(self, now: float) -> Literal["fine", "quiet", "dead"]:
        """How it is; `quiet` is the time to ask."""
        silence = now - self._heard_at
        if silence > DEAD_S:
            return "dead"
        return "quiet" if silence > QUIET_S and now - self._asked_at > QUIET_S else "fine"
