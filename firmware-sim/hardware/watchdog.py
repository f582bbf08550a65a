"""The hardware watchdog: restarts a program that does not feed it in time."""

WATCHDOG_S = 8.0
"""Longer than any wait of the main loop, and short enough that a person tries once more."""


class Watchdog:
    """Counts down in silicon, whatever the program does."""

    def __init__(self, now: float) -> None:
        self._fed_at = now

    def feed(self, now: float) -> None:
        self._fed_at = now

    def bites(self, now: float) -> bool:
        """Whether the device is reset now."""
        return now - self._fed_at >= WATCHDOG_S
