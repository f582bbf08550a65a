"""How long to wait before calling again: at once, then ever longer, as the protocol's page says."""

WAITS_S = (0.0, 1.0, 2.0, 5.0, 10.0)

SPREAD = 0.2
"""Give or take a fifth."""


class Backoff:
    """Counts the tries that failed."""

    def __init__(self, spread: float) -> None:
        """`spread` from -1 to 1: this device's own place within the fifth."""
        self._factor = 1 + SPREAD * spread
        self._tries = 0

    def next(self) -> float:
        """Seconds before the next try."""
        wait = WAITS_S[min(self._tries, len(WAITS_S) - 1)]
        self._tries += 1
        return wait * self._factor

    def reset(self) -> None:
        """It worked."""
        self._tries = 0
