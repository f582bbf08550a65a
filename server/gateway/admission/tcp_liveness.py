"""Sets and reads TCP options that find out early that a client is gone.

Where the system has no such option, this is found out later, by the heartbeat.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sayso.server.gateway.limits import Limits

ACKNOWLEDGED_AT = 120
"""Of Linux's tcp_info (linux/tcp.h): how many bytes the other end has acknowledged, as a u64."""
TCP_INFO_BYTES = 128

LOOKS = 6
"""In a row at which a client has taken nothing, before it is let go."""


def tend(transport: asyncio.BaseTransport, limits: Limits) -> None:
    """Have the system end the line to a machine that is gone, and hold back little.

    What the system holds cannot be overtaken: the word that silences an answer would stand behind
    megabytes of a program's output on a slow line, which would look as if it were sent.
    """
    options = {
        "TCP_USER_TIMEOUT": int(limits.vanished_s * 1_000),
        "TCP_NOTSENT_LOWAT": limits.unsent_bytes,
    }
    line = transport.get_extra_info("socket")
    for name, value in options.items():
        if (option := getattr(socket, name, None)) is not None:
            with suppress(OSError):  # it is gone already
                line.setsockopt(socket.IPPROTO_TCP, option, value)


def taken(transport: asyncio.WriteTransport) -> int:
    """A number that grows whenever the client takes some of what it is sent."""
    if sys.platform == "linux":  # elsewhere TCP_INFO is laid out differently
        with suppress(OSError, struct.error):
            line = transport.get_extra_info("socket")
            told = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
            return int(struct.unpack_from("=Q", told, ACKNOWLEDGED_AT)[0])
    return -transport.get_write_buffer_size()


async def comes(
    what: Callable[[], Awaitable[object]],
    transport: asyncio.WriteTransport,
    patience_s: float,
    *,
    in_vain: Callable[[], bool],
) -> bool:
    """Wait for something for as long as the client takes some of what it is sent.

    Raises OSError if the line breaks.
    """
    before, still = taken(transport), 0
    while still < LOOKS and not in_vain():
        look = asyncio.timeout(patience_s / LOOKS)
        try:
            async with look:
                await what()
                return True
        except TimeoutError:
            if not look.expired():
                raise
        now = taken(transport)
        still = 0 if now > before else still + 1
        before = now
    return False
