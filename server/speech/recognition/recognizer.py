"""The seam for recognition: samples in, words out."""

from dataclasses import dataclass
from typing import Protocol

HEARING_RATE = 16_000
"""Samples a second of all audio that a recognizer is given: 16-bit, mono, little-endian."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood. An empty text means that nothing was said."""

    text: str
    language: str = "en"
    confidence: float = 1.0
    """How sure the recognizer is, from 0 to 1: the mean probability of what it wrote."""
    language_sure: float = 1.0
    """How sure it is of the language, from 0 to 1."""
    foreign: bool = False
    """It was hardly said in a language that the recognizer hears: the text is nonsense."""


class RecognizerLost(Exception):
    """The recognizer died under this request; it is being restarted and may be asked again."""


class DraftNotMade(Exception):
    """The recognizer is too slow or too busy for drafts now; a later one may be made."""


class Recognizer(Protocol):
    """Turns speech into text. What it does not serve at once waits.

    Cancelling a request gives it up: the next one need not wait for its end.
    """

    async def transcribe(
        self, pcm: bytes, *, draft: bool = False, prompt: str = "", language: str = ""
    ) -> Transcript:
        """Transcribe one utterance. A draft may be less exact for being quicker.

        `prompt` is what was said just before, when the utterance is a later part of a long one.
        `language` is the one that is expected; empty, it is found out.
        """
        ...
