"""Delays the answer to a wrong token or code: longer each time, up to a bound.

Only wrong answers are slowed down. Who has the right one is let in at once, however often somebody
else at the same address has guessed: nobody can lock the owner out. Pure: time is an argument.
"""

from dataclasses import dataclass

FIRST_S = 0.1
"""A slip costs nothing that a person would notice."""
LONGEST_S = 4.0
"""Within the time that a client waits for its welcome."""
FORGOTTEN_S = 300.0
"""An address that was quiet for so long begins anew."""
MOST_ADDRESSES = 1_024
"""Remembered; the longest quiet one gives way. A network at home has a few dozen."""


@dataclass(slots=True)
class _Record:
    failures: int
    last: float


class GuessDelay:
    """Counts the failures of each address."""

    def __init__(self) -> None:
        self._records: dict[str, _Record] = {}

    def failed(self, address: str, now: float) -> float:
        """Another failure; returns for how many seconds the answer is to wait."""
        record = self._records.pop(address, None)
        if record is None or now - record.last > FORGOTTEN_S:
            record = _Record(0, now)
        self._records[address] = record
        while len(self._records) > MOST_ADDRESSES:
            del self._records[next(iter(self._records))]
        record.failures += 1
        record.last = now
        return float(min(FIRST_S * 2 ** min(record.failures - 1, 16), LONGEST_S))

    def succeeded(self, address: str) -> None:
        """Forget the failures of an address: the right token came from there."""
        self._records.pop(address, None)
