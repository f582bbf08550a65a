"""How the answer to a plain request is sent: in pieces, for as long as the client takes them.

The WebSocket library would have it taken within the time for a handshake, and cut the rest off.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import nullcontext, suppress
from dataclasses import replace

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Response
from websockets.protocol import State

from sayso.server.gateway.admission.limits import Limits
from sayso.server.gateway.admission.tcp_liveness import comes
from sayso.server.gateway.http.responses import FileResponse

log = logging.getLogger(__name__)

PIECE_BYTES = 65_536


async def send(socket: ServerConnection, response: Response, limits: Limits) -> None:
    """Send it all, and end the connection; who takes nothing any more is let go."""
    with response.file if isinstance(response, FileResponse) else nullcontext():
        if socket.state is State.CONNECTING:
            with suppress(OSError):  # it broke
                await _send(socket, response, limits)
        socket.transport.abort()
        await socket.wait_closed()


async def _send(socket: ServerConnection, response: Response, limits: Limits) -> None:
    transport = socket.transport

    def server_stops() -> bool:
        return not socket.server.is_serving()

    socket.protocol.send_response(replace(response, body=b""))
    transport.write(b"".join(socket.protocol.data_to_send()))
    async for piece in _pieces(response):
        if transport.is_closing():
            return
        transport.write(piece)
        if not await comes(socket.drain, transport, limits.send_s, in_vain=server_stops):
            return
    if transport.is_closing():  # a TLS one that is closed twice cannot be asked anything any more
        return
    if transport.can_write_eof():
        transport.write_eof()
    else:
        transport.close()
    await comes(socket.wait_closed, transport, limits.send_s, in_vain=server_stops)


async def _pieces(response: Response) -> AsyncIterator[bytes | memoryview]:
    if isinstance(response, FileResponse):
        left = response.size
        try:
            while piece := await asyncio.to_thread(response.file.read, min(PIECE_BYTES, left)):
                left -= len(piece)
                yield piece
        except OSError as error:
            log.warning("A file cannot be read to its end: %s.", error.strerror)
        return  # One that became shorter meanwhile ends before its promised size: that is seen.
    body = memoryview(response.body)
    for start in range(0, len(body), PIECE_BYTES):
        yield body[start : start + PIECE_BYTES]
