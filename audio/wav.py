"""Reads WAV files, also damaged ones, and writes clean ones.

In: 8 to 192 kHz, one to eight channels, integers of 8, 16, 24 or 32 bits or floats of 32 or 64,
also in the "extensible" wrapping. Recorders that were cut off write data lengths of 0 or 4 GB: what
the file really holds counts, and a broken last frame is dropped. Out: PCM16 mono.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sayso.audio.errors import BadSound
from sayso.audio.pcm import RATE, SAMPLE_BYTES
from sayso.audio.resample import HIGHEST_RATE, LOWEST_RATE, resample

LARGEST_FILE_BYTES = 256 * 1024 * 1024
"""Twenty minutes of the largest common format (48 kHz stereo floats); more is not a question."""
MOST_CHANNELS = 8

_RIFF_BYTES = 12
"""`RIFF`, a size, `WAVE`."""
_FORMAT_BYTES = 16
_EXTENSIBLE_BYTES = 26
"""How long a description must be to hold what it must hold."""
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_HEADER = struct.Struct("<4sI4s4sIHHIIHH4sI")


@dataclass(frozen=True, slots=True)
class Wav:
    """The samples of a file as they lie there."""

    rate: int
    """Samples a second, per channel."""
    channels: int
    kind: str
    """`u1`, `i2`, `i3`, `i4`, `f4` or `f8`: numpy's names, and `i3` for 24 bits."""
    data: bytes

    @property
    def frame_bytes(self) -> int:
        return self.channels * int(self.kind[1])


_OTHERS = {b"fLaC": "FLAC", b"OggS": "Ogg", b"ID3": "MP3", b"\xff\xfb": "MP3", b"FORM": "AIFF"}
"""Sound of other forms, by how it begins."""

RAW = {".raw", ".pcm"}
"""A file that is named so has no header: PCM16 mono 16 kHz, what Sayso itself speaks."""


def read_speech(path: Path, rate: int = RATE) -> bytes:
    """Reads a WAV file, or a raw one, as PCM16 mono at `rate`."""
    wav = read(path)
    if wav.kind == "i2" and wav.channels == 1:
        return resample(wav.data, wav.rate, rate)
    from sayso.audio.convert import mix  # numpy costs 100 ms

    return resample(mix(wav.data, wav.kind, wav.channels), wav.rate, rate)


def read(path: Path) -> Wav:
    """Reads a WAV file as it is."""
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadSound(f"{path} is larger than {LARGEST_FILE_BYTES >> 20} MB; cut it first.")
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadSound(f"{path} cannot be read: {reason}; check the path.") from error
    if path.suffix.lower() in RAW and raw[:4] != b"RIFF":
        return Wav(RATE, 1, "i2", raw[: len(raw) - len(raw) % SAMPLE_BYTES])
    try:
        return parse(raw)
    except BadSound as error:
        raise BadSound(f"{path} {error}") from error


def parse(raw: bytes) -> Wav:
    """Takes the bytes of a WAV file apart. Errors are sentences without a subject."""
    if len(raw) < _RIFF_BYTES or raw[:4] not in {b"RIFF", b"RF64"} or raw[8:12] != b"WAVE":
        raise BadSound(_not_wav(raw))
    description = b""
    at = _RIFF_BYTES
    while at + 8 <= len(raw):
        name, size = struct.unpack_from("<4sI", raw, at)
        body = at + 8
        if name == b"fmt ":
            description = raw[body : body + size]
        elif name == b"data":
            # A size that reaches past the end, or none at all, marks a recorder that was cut off.
            end = body + size if 0 < size <= len(raw) - body else len(raw)
            return _described(description, raw[body:end])
        at = body + size + size % 2
    raise BadSound("holds no sound; record it again.")


def _not_wav(raw: bytes) -> str:
    """What to do about a file of another form."""
    for mark, form in _OTHERS.items():
        if raw.startswith(mark):
            return f"is {form} and not a WAV file; convert it: `ffmpeg -i IN -ar {RATE} OUT.wav`."
    return (
        "is not a WAV file: it has no header. Convert it, or if it holds nothing but samples "
        f"(16 bits, mono, {RATE} a second), name it .raw."
    )


def _described(description: bytes, data: bytes) -> Wav:
    if len(description) < _FORMAT_BYTES:
        raise BadSound("does not say what format its sound has; convert it with `sox`.")
    code, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", description)
    if code == _EXTENSIBLE and len(description) >= _EXTENSIBLE_BYTES:
        (code,) = struct.unpack_from("<H", description, _EXTENSIBLE_BYTES - 2)
    kinds = {(_PCM, 8): "u1", (_PCM, 16): "i2", (_PCM, 24): "i3", (_PCM, 32): "i4"}
    kind = (kinds | {(_FLOAT, 32): "f4", (_FLOAT, 64): "f8"}).get((code, bits))
    if kind is None:
        raise BadSound(f"has format {code} with {bits} bits, which Sayso does not read; use `sox`.")
    if not 1 <= channels <= MOST_CHANNELS:
        raise BadSound(f"claims {channels} channels; Sayso reads 1 to {MOST_CHANNELS}.")
    if not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise BadSound(f"claims {rate} samples a second; {LOWEST_RATE} to {HIGHEST_RATE} can be.")
    frame = channels * int(kind[1])
    return Wav(rate, channels, kind, data[: len(data) - len(data) % frame])


def header(rate: int, data_bytes: int) -> bytes:
    """The 44 bytes before PCM16 mono samples."""
    byte_rate = rate * SAMPLE_BYTES
    return _HEADER.pack(
        b"RIFF", 36 + data_bytes, b"WAVE", b"fmt ", 16, _PCM, 1, rate, byte_rate, SAMPLE_BYTES, 16,
        b"data", data_bytes,
    )  # fmt: skip


def write(path: Path, pcm: bytes, rate: int) -> None:
    """Writes a whole sound."""
    with Writer(path) as writer:
        writer.append(pcm, rate)


class Writer:
    """Writes a WAV file piece by piece, at the rate of the first; later ones are converted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rate = RATE
        self._data_bytes = 0
        try:
            self._file: BinaryIO = path.open("wb")
            self._file.write(header(self._rate, 0))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise BadSound(f"{path} cannot be written: {reason}; choose another place.") from error

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, pcm: bytes, rate: int) -> None:
        """Adds sound at the end."""
        if not pcm:
            return
        if not self._data_bytes:
            self._rate = rate
        elif rate != self._rate:
            pcm = resample(pcm, rate, self._rate)
        self._write(pcm)
        self._data_bytes += len(pcm)

    def close(self) -> None:
        """Writes the true length into the header. Closing twice does no harm."""
        if self._file.closed:
            return
        try:
            self._file.seek(0)
            self._write(header(self._rate, self._data_bytes))
        finally:
            self._file.close()

    def _write(self, raw: bytes) -> None:
        try:
            self._file.write(raw)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise BadSound(f"{self._path} cannot be written: {reason}; make room.") from error
