"""What the server and the MCP worker say to each other: JSON objects, each after its length.

server → worker   {"id", "op", …}   {"cancel": id}              {"reply": number, "value"}
worker → server   {"id", "value"}   {"id", "error", "kind"}     {"question": number, "id", …}
                  {"changed": server}   {"gone": server, "why"}
"""

import asyncio
import json
import struct
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

LENGTH: Final = struct.Struct("<I")

MOST_BYTES: Final = 16 * 1024**2
"""A result with a few pictures; more is cut by the worker before it is sent."""

Message = dict[str, Any]


class WireError(Exception):
    """The other end sent what is no message, or has gone."""


async def receive(reader: asyncio.StreamReader) -> Message:
    """The next message. Raises WireError."""
    try:
        (length,) = LENGTH.unpack(await reader.readexactly(LENGTH.size))
        if length > MOST_BYTES:
            raise WireError(f"a message of {length} bytes")
        message = read_json(await reader.readexactly(length), most_bytes=MOST_BYTES)
    except (asyncio.IncompleteReadError, OSError):
        raise WireError("it has hung up") from None
    except UntrustedJsonError as error:
        raise WireError(str(error)) from None
    if not isinstance(message, dict):
        raise WireError("a message that is no object")
    return message


def packed(message: Message) -> bytes:
    """A message as bytes. Raises ValueError where it is too long."""
    body = json.dumps(message, ensure_ascii=True, allow_nan=False).encode()
    if len(body) > MOST_BYTES:
        raise ValueError(f"{len(body)} bytes are more than is sent at once")
    return LENGTH.pack(len(body)) + body
