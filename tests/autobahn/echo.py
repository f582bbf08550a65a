"""Two servers that send back what they are sent: ours, as the listener opens it, and the plain
library's, to compare with."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.websocket_server import prepare

LARGEST = 64 * 2**20
"""Bytes of a message: Autobahn sends up to sixteen megabytes, which no client of ours may."""
LIMITS = Limits(text_bytes=LARGEST)


async def _echo(socket: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        async for message in socket:
            await socket.send(message)


@asynccontextmanager
async def ours(port: int = 0) -> AsyncIterator[int]:
    """Gives the port."""
    server = await prepare(_echo, None, "127.0.0.1", port, LIMITS, strangers=LIMITS.near_strangers)
    await server.start_serving()
    async with server:
        yield server.port


@asynccontextmanager
async def plain(port: int = 0) -> AsyncIterator[int]:
    """Gives the port."""
    async with serve(
        _echo,
        "127.0.0.1",
        port,
        compression=None,
        max_size=LARGEST,
        close_timeout=LIMITS.goodbye_s,
    ) as server:
        yield int(next(iter(server.sockets)).getsockname()[1])
