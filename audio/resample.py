"""Converts a stream from any sample rate to any other.

numpy and soxr are loaded when rates really differ: a client whose microphone gives 16 kHz never
pays for them.
"""

from typing import Protocol

LOWEST_RATE = 8_000
HIGHEST_RATE = 192_000
"""The rates that sound cards and files have; anything else is a broken header."""


class Resampler(Protocol):
    """Takes PCM16 mono at one rate, gives it at another. Pieces may be of any length."""

    def feed(self, pcm: bytes) -> bytes:
        """Takes the next piece, gives what is ready; the filter keeps some milliseconds back."""
        ...

    def finish(self) -> bytes:
        """Gives what was kept back. The resampler is used up."""
        ...


class Straight:
    """Nothing to do: both rates are the same."""

    def feed(self, pcm: bytes) -> bytes:
        return pcm

    def finish(self) -> bytes:
        return b""


def resampler(from_rate: int, to_rate: int) -> Resampler:
    """Makes the resampler that these rates need."""
    if from_rate == to_rate:
        return Straight()
    from sayso.audio.convert import Soxr  # numpy and soxr cost 150 ms

    return Soxr(from_rate, to_rate)


def resample(pcm: bytes, from_rate: int, to_rate: int) -> bytes:
    """Converts a whole sound at once."""
    stream = resampler(from_rate, to_rate)
    return stream.feed(pcm) + stream.finish()
