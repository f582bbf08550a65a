"""Packs and parses binary frames: audio or a picture after a 12-byte, little-endian header.

 0      1       2        4        8              12
+------+-------+--------+--------+--------------+----------
| kind | flags | stream |  seq   | first sample | payload …
|  u8  |  u8   |  u16   |  u32   |     u32      |
+------+-------+--------+--------+--------------+----------
"""

import struct
from dataclasses import dataclass

from sayso.protocol.errors import Invalid, Malformed, Oversized

HEADER = struct.Struct("<BBHII")
HEADER_BYTES = HEADER.size

AUDIO = 1
"""Audio in the codec that was agreed for its direction."""

PICTURE = 2
"""A piece of the pictures of an `act.result`; only with the feature `desktop` at both ends."""

LAST = 0b0000_0001
"""Flag: no frame of this stream follows. The other bits are sent as 0 and ignored."""

MAX_FRAME_BYTES = 8_192
"""20 ms of PCM16 take 652 bytes at 16 kHz and 1,932 at 48 kHz; this holds 85 ms of the latter."""

PCM16_BYTES = 2


@dataclass(frozen=True, slots=True)
class AudioFrame:
    """A piece of one stream of audio."""

    stream: int
    """Which utterance or answer it belongs to; each direction numbers its own. u16."""
    seq: int
    """Counts the frames of the stream from 0; a frame that is sent again keeps its number. u32."""
    first_sample: int
    """Where in the stream the payload begins, in samples. u32."""
    payload: bytes
    """Audio in the agreed codec; may be empty."""
    last: bool = False
    """No frame of this stream follows."""

    def pack(self) -> bytes:
        """Return the frame as it travels."""
        flags = LAST if self.last else 0
        try:
            header = HEADER.pack(AUDIO, flags, self.stream, self.seq, self.first_sample)
        except struct.error as error:
            raise Invalid(f"This audio frame's header cannot be sent: {error}.") from None
        return header + self.payload


@dataclass(frozen=True, slots=True)
class PictureFrame:
    """A piece of the pictures that belong to one answer of a device."""

    stream: int
    """The number of the `act.request`. u16."""
    seq: int
    """Counts the frames of the stream from 0. u32."""
    offset: int
    """Where in all the pictures' bytes the payload begins. u32."""
    payload: bytes
    last: bool = False
    """No frame of this stream follows."""

    def pack(self) -> bytes:
        """Return the frame as it travels."""
        flags = LAST if self.last else 0
        try:
            header = HEADER.pack(PICTURE, flags, self.stream, self.seq, self.offset)
        except struct.error as error:
            raise Invalid(f"This picture's header cannot be sent: {error}.") from None
        return header + self.payload


def is_picture(data: bytes) -> bool:
    """Whether a binary frame says that it is a piece of a picture."""
    return data[:1] == bytes((PICTURE,))


def unpack_picture(data: bytes, *, max_bytes: int = MAX_FRAME_BYTES) -> PictureFrame:
    """Read a piece of a picture, or raise a `ProtocolError`. Any bytes at all may be given."""
    kind, flags, stream, seq, offset = _header(data, max_bytes)
    if kind != PICTURE:
        raise Invalid(f"A binary frame of kind {kind} came where only a picture may.")
    return PictureFrame(stream, seq, offset, data[HEADER_BYTES:], bool(flags & LAST))


def unpack(data: bytes, *, max_bytes: int = MAX_FRAME_BYTES) -> AudioFrame:
    """Read a frame of audio, or raise a `ProtocolError`. Any bytes at all may be given."""
    kind, flags, stream, seq, first_sample = _header(data, max_bytes)
    if kind != AUDIO:
        raise Invalid(f"A binary frame of kind {kind} came; only {AUDIO}, audio, is known here.")
    return AudioFrame(stream, seq, first_sample, data[HEADER_BYTES:], bool(flags & LAST))


def _header(data: bytes, max_bytes: int) -> tuple[int, int, int, int, int]:
    if len(data) > max_bytes:
        raise Oversized(
            f"A binary frame of {len(data)} bytes came; at most {max_bytes} were agreed."
        )
    if len(data) < HEADER_BYTES:
        raise Malformed(
            f"A binary frame of {len(data)} bytes came; its header alone takes {HEADER_BYTES}."
        )
    kind, flags, stream, seq, first = HEADER.unpack_from(data)
    return kind, flags, stream, seq, first
