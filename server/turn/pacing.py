"""Decides how far ahead of a device's playback speech is sent: little, more on a bad network.

A device's reports say where it plays. If it played without a stop and every report came at once,
all of them would tell of the same beginning; how much later than the earliest one they tell it is
what the line delays by chance, or what the loudspeaker stood still for want of sound:

    position  report came   so it began
    0.06 s    at 10.08 s    10.02            the earliest of all
    0.12 s    at 10.29 s    10.17            0.15 s late: the line needs more
"""

AHEAD_S = 0.3
"""Sound sent ahead of what was played: covers a home network's jitter, leaves little to flush."""

FAR_AHEAD_S = 0.8
"""The most of it, for a device on a line that delays by chance, as mobile ones do."""

COVERED_S = 0.05
"""So much is covered by what is ahead in any case, and by steps in which small devices report."""

TIMES = 3
"""Sound is delayed on its way down as a report is on its way up, and the worst was not seen yet."""


class Pacing:
    """Of one device. It grows with what the line needs, and stays."""

    def __init__(self, buffer_s: float) -> None:
        self._usual_s = min(AHEAD_S, buffer_s)
        self._most_s = min(FAR_AHEAD_S, buffer_s)
        self._began: float | None = None
        self.ahead_s = self._usual_s

    def reported(self, position_s: float, now: float) -> None:
        """It plays this, and has more to play."""
        began = now - position_s
        self._began = began if self._began is None else min(self._began, began)
        needed = self._usual_s + TIMES * (began - self._began - COVERED_S)
        self.ahead_s = min(self._most_s, max(self.ahead_s, needed))

    def pauses(self) -> None:
        """It has nothing to play, or another stream begins: what comes then is counted anew."""
        self._began = None
