"""Simulates the sound bus's quartz: its 20 ms of sound differ a little from 20 ms of real time."""

LOOP_S = 0.02
"""What one interrupt of the sound bus brings, and takes."""

LATEST_S = 1.0
"""A host that pauses the simulator for longer has stopped time for the device, too; a shorter delay
is caught up, as the bus went on meanwhile."""


class SampleClock:
    """Says when the next piece of sound is due, however late the last one was fetched."""

    def __init__(self, now: float, ppm: float = 0.0) -> None:
        """`ppm`: how many millionths it runs fast."""
        self._period_s = LOOP_S / (1 + ppm / 1_000_000)
        self._due = now

    def next(self, now: float) -> float:
        """When the loop is to wake again."""
        self._due += self._period_s
        if now - self._due > LATEST_S:
            self._due = now
        return self._due

    def rested(self, now: float) -> None:
        """Nothing had to be fetched for a while."""
        self._due = now
