"""The seam for ears: samples in, words out."""

from dataclasses import dataclass
from typing import Protocol

HEARING_RATE = 16_000
"""Samples a second of all audio that a recognizer is given: 16-bit, mono, little-endian."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood. An empty text means that nothing was said."""

    text: str
    language: str = "en"


class RecognizerLost(Exception):
    """The recognizer died under this request; it is being restarted and may be asked again."""


class Recognizer(Protocol):
    """Turns speech into text. One request at a time is served; further ones wait."""

    async def transcribe(self, pcm: bytes, *, draft: bool = False) -> Transcript:
        """Transcribe one utterance. A draft may be less exact and yields to what is final."""
        ...
