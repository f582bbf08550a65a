"""Reads git's index: which files it tracks, and with which content. Pure.

The bytes are what code may have written. Whatever is not an index in every part is none.
"""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_HEADER: Final = struct.Struct(">4sLL")
_FIXED: Final = struct.Struct(">24xL8xL20sH")
"""Of an entry: dates, device and inode are passed over; mode, size, content and flags are read."""
_EXTENSION: Final = struct.Struct(">4sL")
_HASH_BYTES: Final = 20
_EXTENDED: Final = 0x4000
_STAGE: Final = 0x3000
_COMPRESSED: Final = 4
"""From this version on a path is told by what it shares with the one before."""
_MOST: Final = 1_000_000
"""Entries; more than any folder that is looked after holds."""


class _NoIndex(Exception):
    """The bytes are something else."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """One file that git tracks."""

    mode: int
    size: int
    content: bytes
    """The hash of its content, as git makes it."""
    stage: int
    """Not zero while a merge waits for a decision."""


Index = Mapping[str, Tracked]
"""By path below the repository, as the file system has it."""


def read_index(data: bytes) -> Index | None:
    """What is in an index; None if it is none, or only a part of one."""
    try:
        return _read(data)
    except (_NoIndex, struct.error, IndexError, ValueError):
        return None


def blob_name(content: bytes) -> bytes:
    """The hash by which git knows a file of this content."""
    whole = hashlib.sha1(b"blob %d\0" % len(content), usedforsecurity=False)
    whole.update(content)
    return whole.digest()


def _read(data: bytes) -> Index:
    signature, version, count = _HEADER.unpack_from(data)
    if signature != b"DIRC" or version not in (2, 3, _COMPRESSED) or count > _MOST:
        raise _NoIndex
    body = data[:-_HASH_BYTES]
    told = data[-_HASH_BYTES:]
    if any(told) and told != hashlib.sha1(body, usedforsecurity=False).digest():
        raise _NoIndex  # also a repository with longer hashes
    found: dict[str, Tracked] = {}
    place, name = _HEADER.size, b""
    for _ in range(count):
        mode, size, content, flags = _FIXED.unpack_from(body, place)
        begun, place = place, place + _FIXED.size + (2 if flags & _EXTENDED else 0)
        if version == _COMPRESSED:
            less, place = _number(body, place)
            if less > len(name):
                raise _NoIndex
            end = body.index(b"\0", place)
            name = name[: len(name) - less] + body[place:end]
            place = end + 1
        else:
            end = body.index(b"\0", place)
            name = body[place:end]
            place = begun + (end - begun + 8) // 8 * 8
        path = name.decode("utf-8", "surrogateescape")
        found[path] = Tracked(mode, size, content, flags & _STAGE)
    while place < len(body):
        kind, length = _EXTENSION.unpack_from(body, place)
        if kind == b"link":
            raise _NoIndex  # most of it lies in another file
        place += _EXTENSION.size + length
    return found


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of variable length, and where what follows it begins."""
    byte = data[place]
    number = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        number = (number + 1 << 7) | byte & 0x7F
        if number > _MOST:
            raise _NoIndex
    return number, place + 1
