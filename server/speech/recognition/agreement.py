"""Partial transcripts that do not flicker: what two passes agree on is stable, the rest is tail."""

from dataclasses import dataclass

from sayso.server.speech.recognition.hallucinations import plain

HELD_BACK = 1
"""Newest words that never count as stable: the speaker may be in the middle of them."""


@dataclass(frozen=True, slots=True)
class Partial:
    """What is understood so far, while the person speaks."""

    stable: str
    """Only grows."""
    tail: str
    """May change with the next pass."""


class Agreement:
    """Compares each pass with the one before."""

    def __init__(self) -> None:
        self._settled: list[str] = []
        """Words of parts that are transcribed for good."""
        self._stable: list[str] = []
        self._before: list[str] = []

    def hear(self, text: str) -> Partial:
        """A further pass over the part that is still open."""
        words = text.split()
        agreed = _common(words[: len(words) - HELD_BACK], self._before)
        if agreed > len(self._stable) and _common(words, self._stable) == len(self._stable):
            self._stable += words[len(self._stable) : agreed]
        self._before = words
        return self._partial(words[len(self._stable) :])

    def settle(self, text: str) -> Partial:
        """The open part is closed with its final text; the next one begins."""
        words = text.split()
        # What was shown as stable stays as it was shown: better a wrong word than a jumping line.
        self._settled += self._stable + words[len(self._stable) :]
        self._stable, self._before = [], []
        return self._partial([])

    def _partial(self, tail: list[str]) -> Partial:
        return Partial(" ".join(self._settled + self._stable), " ".join(tail))


def _common(ours: list[str], theirs: list[str]) -> int:
    """How many words two texts begin with alike, whatever their case and punctuation."""
    count = 0
    for one, other in zip(ours, theirs, strict=False):
        if plain(one) != plain(other):
            break
        count += 1
    return count
