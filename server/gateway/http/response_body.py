"""Sends the body of a response in pieces, as long as the client takes them."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Protocol

from websockets.http11 import Response

from sayso.server.gateway.admission.tcp_liveness import comes
from sayso.server.gateway.http.responses import FileResponse, StreamedResponse
from sayso.server.gateway.limits import Limits

log = logging.getLogger(__name__)

PIECE_BYTES = 65_536


class Line(Protocol):
    """A connection to write to."""

    @property
    def transport(self) -> asyncio.Transport: ...

    async def drain(self) -> None: ...

    async def wait_closed(self) -> None: ...


async def send_piece(line: Line, piece: bytes, limits: Limits, in_vain: Callable[[], bool]) -> bool:
    """Whether the client took it; one that takes nothing any more is not waited for.

    Raises OSError if the line breaks.
    """
    if line.transport.is_closing():
        return False
    line.transport.write(piece)
    return await comes(line.drain, line.transport, limits.send_s, in_vain=in_vain)


async def end(line: Line, limits: Limits, in_vain: Callable[[], bool]) -> None:
    """End the connection as soon as the client has taken what it was sent, or takes nothing."""
    transport = line.transport
    if not transport.is_closing():  # a TLS one that is closed twice can't be asked anything more
        try:
            if transport.can_write_eof():
                transport.write_eof()  # which fails where the client reset it just now
            else:
                transport.close()
            await comes(line.wait_closed, transport, limits.send_s, in_vain=in_vain)
        except OSError:
            log.debug("a connection broke at its end")
    transport.abort()
    await line.wait_closed()


async def pieces_of(
    response: Response, limits: Limits, *, none: bool = False
) -> AsyncGenerator[bytes, None]:
    """The body; or none of it, for who asked for the head alone."""
    if none:
        return
    if isinstance(response, StreamedResponse):
        async with aclosing(_with_beats(response, limits.ping_s)) as pieces:
            async for piece in pieces:
                yield piece
        return
    if isinstance(response, FileResponse):
        left = response.size
        try:
            while piece := await asyncio.to_thread(response.file.read, min(PIECE_BYTES, left)):
                left -= len(piece)
                yield piece
        except OSError as error:
            log.warning("A file cannot be read to its end: %s.", error.strerror)
        return  # One that became shorter meanwhile ends before its promised size: that is seen.
    for start in range(0, len(response.body), PIECE_BYTES):
        yield bytes(response.body[start : start + PIECE_BYTES])


async def _with_beats(response: StreamedResponse, every_s: float) -> AsyncGenerator[bytes, None]:
    """What is made, and in its pauses a beat."""
    coming = asyncio.ensure_future(_next(response.pieces))
    try:
        while True:
            await asyncio.wait((coming,), timeout=every_s)
            if not coming.done():
                if response.beat:
                    yield response.beat
                continue
            if (piece := coming.result()) is None:
                return
            coming = asyncio.ensure_future(_next(response.pieces))
            if piece:  # an empty one would end the body
                yield piece
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        if isinstance(response.pieces, AsyncGenerator):
            await response.pieces.aclose()


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)
