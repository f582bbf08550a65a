"""Reads a file as chunks with offsets, without its holes, and derives its name by hash.

Two files with the same pieces have the same name, so each content is kept once. A disk image of a
hundred gigabytes with one megabyte in it is one megabyte here.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Final

PIECE_BYTES: Final = 1024**2
"""As much of a file as is held in memory at once."""

_BLOCK_BYTES: Final = 512
"""The unit of `st_blocks`, whatever the file system's own is."""

_NAME_BYTES: Final = 20
"""160 bits: no two contents of a home ever share a name."""

Piece = tuple[int, bytes]
"""Where it begins in the file, and what stands there."""


def stored_bytes(status: os.stat_result) -> int:
    """How much of a file is not hole."""
    return (
        min(status.st_size, status.st_blocks * _BLOCK_BYTES)
        if has_holes(status)
        else status.st_size
    )


def has_holes(status: os.stat_result) -> bool:
    return status.st_size > PIECE_BYTES and status.st_blocks * _BLOCK_BYTES < status.st_size


def pieces(descriptor: int, status: os.stat_result) -> Iterator[Piece]:
    """The content of an open file."""
    for start, end in _filled(descriptor, status):
        place = start
        while place < end:
            data = os.pread(descriptor, min(PIECE_BYTES, end - place), place)
            if not data:
                return
            yield place, data
            place += len(data)


def _filled(descriptor: int, status: os.stat_result) -> Iterator[tuple[int, int]]:
    if not has_holes(status):
        yield 0, status.st_size
        return
    end = 0
    while end < status.st_size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
            end = os.lseek(descriptor, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left
                return
            raise
        yield start, end


class Name:
    """Computes the name of a content."""

    def __init__(self, size: int) -> None:
        """`size`: of the whole file; a hole at its end belongs to its content."""
        self._hash = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=_NAME_BYTES)

    def take(self, piece: Piece) -> None:
        place, data = piece
        self._hash.update(place.to_bytes(8, "little") + len(data).to_bytes(8, "little"))
        self._hash.update(data)

    @property
    def name(self) -> bytes:
        return self._hash.digest()


def name_of(size: int, content: Iterable[Piece]) -> bytes:
    name = Name(size)
    for piece in content:
        name.take(piece)
    return name.name
