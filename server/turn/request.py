"""What a person wants done."""

from dataclasses import dataclass
from typing import Literal

WorkState = Literal["idle", "thinking", "acting", "awaiting_approval"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a person wants, and when they had finished saying so."""

    device: str
    text: str
    at: float
    spoken: bool
    question: str | None = None
    """The approval request that stood on the screen when its words were begun."""
