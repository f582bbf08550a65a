"""Reads sound as it arrives: WAV, whose head tells the format, or raw PCM16. Pure."""

import struct
from typing import Final

from sayso.audio.convert import mix
from sayso.audio.errors import BadSound
from sayso.audio.wav import Wav, parse

RAW_RATE: Final = 24_000
"""Samples a second of raw sound whose server does not tell: the wire's own."""

LOWEST_RATE, HIGHEST_RATE = 8_000, 48_000
"""What speech is sent with."""

RIFF: Final = b"RIFF"
"""What a WAV file begins with."""

LONGEST_HEAD: Final = 65_536
"""Bytes before the first sample; real ones have 44, or a few hundred with names of programs."""

RAW_TYPES: Final = frozenset({"audio/pcm", "audio/x-pcm", "audio/raw", "audio/x-raw"})
"""Not `audio/l16`, whose bytes come in one order by its standard, and in the other from servers."""
UNTOLD_TYPES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})


class SoundStream:
    """Takes bytes of any size and gives mono PCM16. Raises BadSound for what is none.

    `raw_wanted`: raw sound was asked for, so what does not say what it is counts as that.
    """

    def __init__(self, content_type: str, *, raw_wanted: bool) -> None:
        kind, _, parameters = content_type.lower().partition(";")
        self._is_raw = kind.strip() in RAW_TYPES
        self._may_be_raw = self._is_raw or (raw_wanted and kind.strip() in UNTOLD_TYPES)
        self._raw_rate = _rate_in(parameters)
        self._waiting = b""
        """What does not make a whole frame yet; before the format is known, all that came."""
        self._format: Wav | None = None

    @property
    def rate(self) -> int:
        """Samples a second; 0 until it is known."""
        return self._format.rate if self._format else 0

    def feed(self, block: bytes) -> bytes:
        """The samples that are complete now."""
        self._waiting += block
        form = self._format = self._format or self._begin()
        if form is None:
            return b""
        whole = len(self._waiting) - len(self._waiting) % form.frame_bytes
        data, self._waiting = self._waiting[:whole], self._waiting[whole:]
        if form.kind == "i2" and form.channels == 1:
            return data
        return mix(data, form.kind, form.channels)

    def finish(self) -> None:
        """It is over; raises BadSound if it never began."""
        if self._format is None:
            raise BadSound("ends before its first sample.")

    def _begin(self) -> Wav | None:
        """The format, once it is known; its own data is empty."""
        head = self._waiting
        if len(head) < len(RIFF) and RIFF.startswith(head):
            return None
        if head.startswith(RIFF):
            at = _first_sample(head)
            if at == 0:
                if len(head) > LONGEST_HEAD:
                    raise BadSound("has no samples where they should begin.")
                return None
            form, self._waiting = parse(head[:at]), head[at:]
        elif self._may_be_raw:
            form = Wav(self._raw_rate, 1, "i2", b"")
        else:
            raise BadSound("is neither WAV nor raw sound.")
        if not LOWEST_RATE <= form.rate <= HIGHEST_RATE:
            raise BadSound(f"has {form.rate} samples a second.")
        return form


def _first_sample(head: bytes) -> int:
    """Where the samples of a WAV file begin; 0 if that has not come yet."""
    at = 12
    while at + 8 <= len(head):
        name, size = struct.unpack_from("<4sI", head, at)
        if name == b"data":
            return at + 8
        at += 8 + int(size) + int(size) % 2
        if at > LONGEST_HEAD:
            raise BadSound("has no samples where they should begin.")
    return 0


def _rate_in(parameters: str) -> int:
    """`rate=22050` of a content type."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() in {"rate", "sample_rate"} and value.strip().isdecimal():
            return int(value.strip()[:9])
    return RAW_RATE
