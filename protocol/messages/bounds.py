"""How far the numbers of the wire may reach, and how long a typed text may be."""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the greatest value that a whole number may have."""

    least: int
    most: int


LONGEST_TYPED = 16_384
"""Characters of a typed request: longer ones belong into a file."""

GREATEST = 2**53 - 1
"""Above this, JavaScript and other readers of JSON round: no number of the wire goes beyond."""

Count = Annotated[int, Between(0, GREATEST)]
"""A number that only grows: `seq`, `turn`, `gen`."""

Stream = Annotated[int, Between(0, 2**16 - 1)]
"""The number of a stream of audio; u16, as in the binary header."""

Samples = Annotated[int, Between(0, 2**32 - 1)]
"""A position in a stream or a length of it, in samples; u32, as in the binary header."""

PreRoll = Annotated[int, Between(0, 16_000)]
"""Samples from before a microphone was opened: at most a second, so that little leaves unasked."""

Wait = Annotated[int, Between(500, 30_000)]
"""Milliseconds that somebody is waited for: long enough for a word, too short to be forgotten."""

Rate = Annotated[int, Between(8_000, 192_000)]
"""Samples a second, from telephone to studio."""

Milliseconds = Annotated[int, Between(0, 2**32 - 1)]
"""A span of time."""

TextBytes = Annotated[int, Between(1_024, 2**32 - 1)]
"""The longest text frame that one end takes: at least what any greeting or question needs."""

FrameBytes = Annotated[int, Between(256, 2**32 - 1)]
"""The longest binary frame that one end takes: at least the header and a few milliseconds."""

BufferMilliseconds = Annotated[int, Between(40, 60_000)]
"""What a device can hold of sound: at least one frame of usual length."""

Version = Annotated[int, Between(1, 65_535)]
"""A version of the protocol."""
