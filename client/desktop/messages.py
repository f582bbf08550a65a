"""How the client and its process at the screen talk: length, JSON, and the bytes of pictures."""

import json
import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, Final

LENGTH: Final = struct.Struct(">I")
MOST_BYTES: Final = 2**20
"""Of a message without its pictures: a request has 32 KB, an answer far less."""


def packed(message: dict[str, Any]) -> bytes:
    """A message as it travels."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


def read_message(file: BinaryIO) -> dict[str, Any] | None:
    """The next message; None once there is none any more."""
    head = file.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    if length > MOST_BYTES:
        return None
    body = file.read(length)
    if len(body) < length:
        return None
    message = json.loads(body)
    return message if isinstance(message, dict) else None


def write_message(file: BinaryIO, message: dict[str, Any], after: Sequence[bytes] = ()) -> None:
    file.write(packed(message))
    file.writelines(after)
    file.flush()
