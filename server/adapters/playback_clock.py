"""Says how far a client has played that does not tell by itself. Pure.

Such a client plays what it was sent, at once and without a pause:

    sent     |---- 1.0 s ----|          |-- more --|
    played   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁            ▁▁▁▁▁▁▁▁▁▁     (it stands still where nothing is left)
"""


class PlaybackClock:
    """Of one stream of sound."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._sent = 0
        self._played = 0.0
        self._at = 0.0

    def sent(self, samples: int, now: float) -> None:
        """So much more was sent."""
        self.played(now)
        self._sent += samples

    def played(self, now: float) -> int:
        """How many samples have been played by now."""
        self._played = min(self._sent, self._played + max(0.0, now - self._at) * self._rate)
        self._at = max(now, self._at)
        return round(self._played)

    @property
    def is_done(self) -> bool:
        """All that was sent was played, when it was looked at last."""
        return self._played >= self._sent
