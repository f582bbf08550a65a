"""The seam for synthesis: words in, samples out."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from sayso.protocol.messages import Word


@dataclass(frozen=True, slots=True)
class Sound:
    """Synthesized speech: 16-bit, mono, little-endian."""

    pcm: bytes
    rate: int
    """Samples a second."""
    words: tuple[Word, ...] = ()
    """One for each word of the text (as `str.split` tells them), in samples from the start, without
    gap or overlap from the first sample to the last; empty if the voice can't tell."""


class SynthesizerLost(Exception):
    """The synthesizer died under this request; it is being restarted and may be asked again."""


class Synthesizer(Protocol):
    """Turns text into speech."""

    async def synthesize(self, text: str, *, speed: float = 1.0) -> Sound:
        """Speak one chunk of speakable text. `speed` 2.0 is twice as fast."""
        ...


@runtime_checkable
class StreamingSynthesizer(Synthesizer, Protocol):
    """A synthesizer whose sound comes piece by piece while it is made."""

    def stream(self, text: str, *, speed: float = 1.0) -> AsyncGenerator[Sound, None]:
        """Speak one chunk. The pieces have one rate; closing it ends the work.

        Either none has words, or the first has all of them: their times then count from its first
        sample to the end of the last piece, and are as exact as those of a whole sound.
        """
        ...
