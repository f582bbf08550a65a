"""One client's connection: its requests one after another, until one of them opens a WebSocket.

h11 reads the requests and frames the answers. A request for a WebSocket is handed over as it came,
byte for byte: the WebSocket library reads it again, with bounds of its own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, aclosing, nullcontext, suppress
from http import HTTPStatus
from typing import Protocol, cast

import h11
from websockets.http11 import Request, Response

from sayso.server.gateway.admission.tcp_liveness import tend
from sayso.server.gateway.admission.unauthenticated import Peer, UnauthenticatedClients
from sayso.server.gateway.http.request_body import BodyRefused, body_of
from sayso.server.gateway.http.request_head import has_body, is_ambiguous, is_too_large, read
from sayso.server.gateway.http.response_body import end, pieces_of, send_piece
from sayso.server.gateway.http.responses import FileResponse, StreamedResponse, refused
from sayso.server.gateway.limits import Limits

log = logging.getLogger(__name__)

HEAD_BYTES = 32_768
"""Longest head of a request: browsers send one, and a proxy adds as much."""

AHEAD_BYTES = 65_536
"""What a client may send before its turn: some requests more. One that sends more is cut off."""

DISCARDED_BYTES = 1_048_576
"""What a client may go on sending of a body that was refused; then its answer is lost, too."""


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
    """A connection that speaks HTTP/1.1; it counts as unauthenticated while it is."""

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
        self._more: asyncio.Future[None] | None = None
        """Resolved when more of a request's body is here; none where nobody waits for it."""
        self._answered = ExitStack()
        """What is to be done when the answer is sent, or will never be."""
        self._ends_with_client = False
        """Whether the answer is made for as long as the client is there."""
        self._has_asked = False
        self._is_ending = False
        self._discarded = 0

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
        elif self._is_ending:
            self._discarded += len(data)
            if self._discarded > DISCARDED_BYTES:
                self.transport.abort()
        elif self._parser and self._parser.their_state is h11.SEND_BODY:
            self._parser.receive_data(data)
            self.transport.pause_reading()
            if self._more and not self._more.done():
                self._more.set_result(None)
        else:
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
        if self._ends_with_client and self._answering:
            self._answering.cancel()

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
        elif self._ends_with_client:
            self._answering.cancel()

    def lasts(self, answered: Callable[[], None], *, has_place: bool) -> None:
        """What is answered may last: it ends with its client, and `answered` is called then.

        `has_place`: it is counted elsewhere meanwhile, and not as unauthenticated.
        """
        self._ends_with_client = True
        self._answered.callback(answered)
        if has_place:
            self._server.strangers.leave(self)

    async def body(self, most: int) -> AsyncIterator[bytes]:
        """Of the request that is being answered. Raises BodyRefused."""
        if self._parser is None or self._parser.their_state is not h11.SEND_BODY:
            return
        try:
            async for piece in body_of(self, self._parser, most, self._limits):
                yield piece
        finally:
            if self._parser.their_state is not h11.SEND_BODY:
                self.transport.resume_reading()

    async def more(self) -> None:
        """Wait until more of a body was received."""
        self._more = self._loop.create_future()
        self.transport.resume_reading()
        await self._more

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
            if isinstance(event, h11.Request) and not has_body(event):
                parser.next_event()  # its end
        except h11.RemoteProtocolError as error:
            status = HTTPStatus(error.error_status_hint)
            self._begin(self._refuse(parser, status, "This is no request that can be read."))
            return
        if not isinstance(event, h11.Request):
            return
        request = read(event)
        if self._server.opens_socket(request.path):
            self._hand_over()
        elif is_too_large(event):
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            self._begin(self._refuse(parser, status, "The request's head is too large."))
        elif is_ambiguous(event):
            sentence = "Where this request ends can be read in two ways."
            self._begin(self._refuse(parser, HTTPStatus.BAD_REQUEST, sentence))
        else:
            self._begin(self._answer(parser, request))

    def _begin(self, answer: Coroutine[object, object, None]) -> None:
        if self._timer:
            self._timer.cancel()
        self._has_asked = True
        self.came_at = self._loop.time()
        self._received.clear()
        if self._parser and self._parser.their_state is h11.SEND_BODY:
            self.transport.pause_reading()  # until somebody wants the body
        self._start(answer)

    def _start(self, answer: Coroutine[object, object, None]) -> None:
        self._answering = self._loop.create_task(self._carry_out(answer))
        self._server.begun(self._answering)

    async def _carry_out(self, answer: Coroutine[object, object, None]) -> None:
        try:
            with self._answered:
                await answer
        except asyncio.CancelledError:
            self.transport.abort()
            raise
        except BodyRefused:
            self.transport.abort()  # the answer has begun already
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
        except BodyRefused as refusal:
            response = refused(refusal.status, str(refusal))
        except Exception:
            log.exception("a request could not be answered")
            response = refused(HTTPStatus.INTERNAL_SERVER_ERROR, "Something went wrong here.")
        wants_body = request.method != "HEAD"
        is_whole = await self._send(parser, response, has_body=wants_body)
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
        if isinstance(response, StreamedResponse):  # its first piece may take its time
            await send_piece(self, waiting, self._limits, self._stops)
            waiting = b""
        async with aclosing(pieces_of(response, self._limits, none=not has_body)) as pieces:
            async for piece in pieces:
                framed = parser.send_with_data_passthrough(h11.Data(data=piece)) or ()
                data, waiting = waiting + b"".join(framed), b""
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
        self._answered.close()
        self._parser = self._answering = None
        self._ends_with_client = False
        self.gives_way = self.is_idle = True
        self._end_at(self._loop.time() + self._limits.idle_s)
        if not self._server.strangers.enter_again(self):
            self.turn_away()
        elif ahead:
            self._read(ahead)
        else:
            self._server.strangers.changed()

    async def _end(self) -> None:
        self._is_ending = True
        self.transport.resume_reading()  # what nobody wanted is let go, so that the answer arrives
        await end(self, self._limits, self._stops)

    def _stops(self) -> bool:
        return self._server.stops

    def _end_at(self, moment: float) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = self._loop.call_at(moment, self.turn_away)
