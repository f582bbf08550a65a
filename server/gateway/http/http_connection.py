"""One client's connection: its requests one after another, until one of them opens a WebSocket.

h11 reads the requests and frames the answers. A request for a WebSocket is handed over as it came,
byte for byte: the WebSocket library reads it again, with bounds of its own.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import nullcontext, suppress
from http import HTTPStatus
from typing import Protocol, cast

import h11
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from sayso.server.gateway.admission.limits import HEADER_LINE_BYTES, HEADER_LINES, Limits
from sayso.server.gateway.admission.tcp_liveness import tend
from sayso.server.gateway.admission.unauthenticated import Peer, UnauthenticatedClients
from sayso.server.gateway.http.response_body import end, pieces_of, send_piece
from sayso.server.gateway.http.responses import FileResponse, refused

log = logging.getLogger(__name__)

HEAD_BYTES = 32_768
"""Longest head of a request: browsers send one, and a proxy adds as much."""

AHEAD_BYTES = 65_536
"""What a client may send before its turn: some requests more. One that sends more is cut off."""


class HttpServer(Protocol):
    """What a connection needs of the server that accepted it."""

    limits: Limits
    strangers: UnauthenticatedClients
    stops: bool
    """No answer is kept on with any more."""

    async def answer(self, line: "HttpConnection", request: Request) -> Response: ...

    def opens_socket(self, path: str) -> bool: ...

    def websocket(self) -> asyncio.Protocol: ...

    def came(self, line: "HttpConnection") -> None: ...

    def begun(self, answering: asyncio.Task[None]) -> None: ...

    def left(self, line: "HttpConnection") -> None: ...

    def is_crowded(self, line: "HttpConnection") -> bool:
        """Whether others wait for its place."""
        ...


class HttpConnection(asyncio.Protocol):
    """A connection that speaks HTTP/1.1; it counts as a stranger's as long as it is one."""

    peer: Peer = None
    came_at = 0.0
    """When what it is busy with began: to come in, to ask again, or to be answered."""
    gives_way = True
    is_idle = False
    transport: asyncio.Transport

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._writable: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._parser: h11.Connection | None = None
        self._received = bytearray()
        """Of the request that is being read; then what was sent before its turn."""
        self._answering: asyncio.Task[None] | None = None
        self._has_asked = False

    # ── What the transport tells ─────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        tend(transport, self._limits)
        self.peer = transport.get_extra_info("peername")
        self.came_at = self._loop.time()
        self._server.came(self)
        strangers = self._server.strangers
        if not strangers.go_on_as(self) and not strangers.enter(self):
            strangers.refuse(self)
            self.turn_away()
        self._end_at(self.came_at + self._limits.handshake_s)

    def data_received(self, data: bytes) -> None:
        if self._answering is None:
            self._read(data)
            return
        self._received += data
        if len(self._received) > AHEAD_BYTES:
            self.transport.abort()

    def eof_received(self) -> None:
        """A client that shuts its side is gone."""

    def pause_writing(self) -> None:
        if self._writable is None:
            self._writable = self._loop.create_future()

    def resume_writing(self) -> None:
        writable, self._writable = self._writable, None
        if writable and not writable.done():
            writable.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        self.resume_writing()
        self._closed.set_result(None)
        self._server.strangers.leave(self)
        self._server.left(self)

    # ── What others want of it ───────────────────────────────────────────────────────────────────

    def turn_away(self) -> None:
        """End it at once; one that was answered, as soon as its client has taken the answer."""
        if self.is_idle and self._answering is None:
            self._start(self._end())
        else:
            self.transport.abort()

    def stop(self) -> None:
        """The server stops: end it unless it is being answered."""
        if self._answering is None:
            self.transport.close()
            self.transport.abort()

    async def drain(self) -> None:
        """Wait until the system has taken all that was written. Raises OSError if it broke."""
        if self._writable:
            await asyncio.shield(self._writable)
        if self._closed.done():
            raise ConnectionResetError

    async def wait_closed(self) -> None:
        """Wait until the connection is gone."""
        await asyncio.shield(self._closed)

    # ── Requests ─────────────────────────────────────────────────────────────────────────────────

    def _read(self, data: bytes) -> None:
        if (parser := self._parser) is None:
            parser = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
            self._parser = parser
            self.is_idle = False
            if self._has_asked:
                self.came_at = self._loop.time()
                self._end_at(self.came_at + self._limits.handshake_s)
        self._received += data
        try:
            parser.receive_data(data)
            event = parser.next_event()
            if isinstance(event, h11.Request):
                parser.next_event()  # its end, where it has no body
        except h11.RemoteProtocolError as error:
            status = HTTPStatus(error.error_status_hint)
            self._begin(self._refuse(parser, status, "This is no request that can be read."))
            return
        if not isinstance(event, h11.Request):
            return
        request = _request(event)
        if self._server.opens_socket(request.path):
            self._hand_over()
        elif _is_too_large(event):
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._begin(self._refuse(parser, status, "The request's head is too large."))
        else:
            self._begin(self._answer(parser, request))

    def _begin(self, answer: Coroutine[object, object, None]) -> None:
        if self._timer:
            self._timer.cancel()
        self._has_asked = True
        self.came_at = self._loop.time()
        self._received.clear()
        self._start(answer)

    def _start(self, answer: Coroutine[object, object, None]) -> None:
        self._answering = self._loop.create_task(self._carry_out(answer))
        self._server.begun(self._answering)

    async def _carry_out(self, answer: Coroutine[object, object, None]) -> None:
        try:
            await answer
        except Exception:
            log.exception("an answer could not be sent")
            self.transport.abort()

    def _hand_over(self) -> None:
        """From here on it is a WebSocket's."""
        if self._timer:
            self._timer.cancel()
        socket, received = self._server.websocket(), bytes(self._received)
        self._server.left(self)
        self.transport.set_protocol(socket)
        socket.connection_made(self.transport)
        if self._writable:
            socket.pause_writing()
        socket.data_received(received)

    async def _refuse(self, parser: h11.Connection, status: HTTPStatus, sentence: str) -> None:
        await self._send(parser, refused(status, sentence))
        await self._end()

    async def _answer(self, parser: h11.Connection, request: Request) -> None:
        try:
            response = await self._server.answer(self, request)
        except Exception:
            log.exception("a request could not be answered")
            response = refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here.")
        has_body = request.method != "HEAD"
        is_whole = await self._send(parser, response, has_body=has_body)
        is_over = (parser.our_state, parser.their_state) == (h11.DONE, h11.DONE)
        if is_whole and is_over and not self._stops():
            self._go_on(parser.trailing_data[0])
        else:
            await self._end()

    async def _send(
        self, parser: h11.Connection, response: Response, *, has_body: bool = True
    ) -> bool:
        """Whether the client took all of it."""
        with response.file if isinstance(response, FileResponse) else nullcontext():
            if not self.transport.is_closing():
                with suppress(OSError):  # it broke
                    return await self._send_pieces(parser, response, has_body=has_body)
        return False

    async def _send_pieces(
        self, parser: h11.Connection, response: Response, *, has_body: bool
    ) -> bool:
        self.transport.set_write_buffer_limits(high=1, low=0)  # so that little waits at the end
        headers = list(response.headers.raw_items())
        is_last = parser.their_state in (h11.SEND_BODY, h11.ERROR)
        if is_last or isinstance(response, FileResponse) or self._server.is_crowded(self):
            headers.append(("Connection", "close"))
        head = h11.Response(
            status_code=response.status_code, headers=headers, reason=response.reason_phrase
        )
        waiting = parser.send(head) or b""
        async for piece in pieces_of(response, none=not has_body):
            data = waiting + b"".join(parser.send_with_data_passthrough(h11.Data(data=piece)) or ())
            waiting = b""
            if not await send_piece(self, data, self._limits, self._stops):
                return False
        try:
            rest = waiting + (parser.send(h11.EndOfMessage()) or b"")
        except h11.LocalProtocolError:
            return False  # A file became shorter than was promised: that is seen.
        return not rest or await send_piece(self, rest, self._limits, self._stops)

    def _go_on(self, ahead: bytes) -> None:
        """Wait for the next request, or take up the one that is here already."""
        self.transport.set_write_buffer_limits()
        ahead += bytes(self._received)
        self._received.clear()
        self._parser = self._answering = None
        self.gives_way = self.is_idle = True
        self._end_at(self._loop.time() + self._limits.idle_s)
        if ahead:
            self._read(ahead)
        else:
            self._server.strangers.changed()

    async def _end(self) -> None:
        await end(self, self._limits, self._stops)

    def _stops(self) -> bool:
        return self._server.stops

    def _end_at(self, moment: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self.turn_away)


def _request(event: h11.Request) -> Request:
    headers = Headers()
    for name, value in event.headers.raw_items():
        headers[name.decode("latin-1")] = value.decode("latin-1")
    return Request(event.target.decode("ascii"), headers, event.method.decode("ascii"))


def _is_too_large(event: h11.Request) -> bool:
    lines = [len(event.target), *(len(name) + len(value) for name, value in event.headers)]
    return len(lines) > HEADER_LINES or max(lines) > HEADER_LINE_BYTES
