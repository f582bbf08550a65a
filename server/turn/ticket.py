"""Names the attempts at an answer."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Ticket:
    """Names one attempt at one answer. What carries an older ticket is stale and dropped."""

    turn: int
    gen: int
