"""What a person wants done, and the few words that the turn says by itself."""

from dataclasses import dataclass
from typing import Literal

SENTENCE_BREAK = "\n\n"
"""Ends a sentence for the mouth, so that what was said before a run is heard before it."""

MAY_I = "May I run this?"
ASK_AGAIN = "I was still speaking. May I run it, yes or no?" + SENTENCE_BREAK

Work = Literal["idle", "thinking", "acting", "awaiting_approval"]


@dataclass(frozen=True, slots=True)
class Request:
    """What a person wants, and when they had finished saying so."""

    device: str
    text: str
    at: float
    spoken: bool
