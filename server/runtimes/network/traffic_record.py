"""Collects which network traffic was allowed or refused, until it is written to the log."""

from dataclasses import dataclass, replace
from typing import Final, Literal

ONE_BY_ONE: Final = 500
"""Passages that are kept each for itself: more in one run are one program's loop."""
IN_SUM: Final = 500
"""Hosts whose further ones are summed up. Of those that were refused, more are not told apart; of
those to which anything passed, none is left out: there are no more connections before."""

OTHERS: Final = "many other hosts"


@dataclass(frozen=True, slots=True)
class Transfer:
    """What came of one wish to connect."""

    host: str
    port: int
    verdict: Literal["passed", "refused", "failed"]
    """`refused`: it was not granted, or leads into a private network."""
    sent: int = 0
    """Bytes that code sent there."""
    received: int = 0
    trouble: str = ""
    """Why there was no way to a host that is granted, as a clause."""


class Passages:
    """Those of one conversation."""

    def __init__(self) -> None:
        self._each: list[Transfer] = []
        self._sums: dict[tuple[str, int, str], Transfer] = {}

    @property
    def full(self) -> bool:
        """Whether nothing more can be told of, so that nothing more may pass."""
        return len(self._each) >= ONE_BY_ONE and len(self._sums) >= IN_SUM

    def note(self, passage: Transfer) -> None:
        """This passed, or did not. What passed is never forgotten for what came later."""
        if len(self._each) < ONE_BY_ONE:
            self._each.append(passage)
            return
        if passage.verdict != "passed" and self.full:
            passage = replace(passage, host=OTHERS, port=0)
        key = passage.host, passage.port, passage.verdict
        before = self._sums.get(key)
        if before:
            sent, received = before.sent + passage.sent, before.received + passage.received
            passage = replace(passage, sent=sent, received=received)
        self._sums[key] = passage

    def take(self) -> tuple[Transfer, ...]:
        """All of it, once."""
        taken = (*self._each, *self._sums.values())
        self._each.clear()
        self._sums.clear()
        return taken
