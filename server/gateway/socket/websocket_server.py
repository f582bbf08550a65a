"""Opens a port: h11 reads HTTP and the WebSocket library the sockets, within all of our limits.

Apart from the listener, so that it can be tested with nothing behind it but an echo
(tests/autobahn).
"""

import logging
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, cast

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from sayso.server.gateway.admission.unauthenticated import (
    Guest,
    UnauthenticatedClients,
    guests_of,
)
from sayso.server.gateway.admission.waiting import CountingSocket
from sayso.server.gateway.http.http_connection import HttpConnection
from sayso.server.gateway.http.http_server import HttpServer
from sayso.server.gateway.http.request_handler import NOTHING, SOCKET_PATH
from sayso.server.gateway.http.response_body import end, pieces_of, send_piece
from sayso.server.gateway.http.responses import refused
from sayso.server.gateway.limits import Limits

Answer = Callable[[Any, Request], Awaitable[Response | None]]
"""The response to a request that came by an `HttpConnection` or, for a socket, by a `Guest`; none
lets the socket open."""


class GatewayServer:
    """One port: its HTTP connections, and the sockets that some of them became."""

    def __init__(self, sockets: Server, http: HttpServer) -> None:
        self._sockets = sockets
        self._http = http

    @property
    def port(self) -> int:
        """Which the system chose, if 0 was asked for."""
        return int(next(iter(self._sockets.sockets)).getsockname()[1])

    async def start_serving(self) -> None:
        """Let clients in."""
        await self._sockets.start_serving()

    def close(self, code: int = 1001, reason: str = "") -> None:
        """Stop listening, and tell everybody who has a socket why."""
        self._sockets.close(code=code, reason=reason)
        self._http.close()

    async def wait_closed(self) -> None:
        """Wait until all are gone."""
        await self._http.wait_closed()
        await self._sockets.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
        await self.wait_closed()


async def prepare(
    welcome: Callable[[ServerConnection], Awaitable[None]],
    answer: Answer | None,
    address: str,
    port: int,
    limits: Limits,
    *,
    strangers: int,
    refused_stranger: Callable[[str], None] = lambda _: None,
    tls: ssl.SSLContext | None = None,
    opens_socket: Callable[[str], bool] = lambda path: path == SOCKET_PATH,
) -> GatewayServer:
    """Bind the address; nobody is let in before `start_serving`. `refused_stranger` is told the
    address of who finds no place; `opens_socket` says at which paths there are sockets: at all of
    them, where nothing is answered. Raises OSError."""
    among = UnauthenticatedClients(strangers, limits.settled_s, refused_stranger)
    guest = guests_of(among, limits)
    logger = logging.getLogger("sayso.websockets")

    def websocket() -> Guest:
        protocol = ServerProtocol(max_size=limits.text_bytes, logger=logger)
        return guest(
            protocol,
            sockets,
            ping_interval=limits.ping_s,
            ping_timeout=limits.ping_s,
            close_timeout=limits.goodbye_s,
        )

    async def answer_plainly(line: HttpConnection, request: Request) -> Response:
        response = await answer(line, request) if answer else None
        return response or refused(HTTPStatus.NOT_FOUND, NOTHING)

    http = HttpServer(
        answer_plainly,
        limits,
        among,
        opens_socket=opens_socket if answer else lambda _: True,
        websocket=websocket,
        tls=tls,
    )
    here: dict[str, Any] = {"host": address, "port": port}
    if tls:
        listening = CountingSocket.at(address, port, among)
        listening.waiting = http.waiting
        here = {
            "sock": listening,
            "ssl": tls,
            "ssl_handshake_timeout": limits.handshake_s,
            # The end of an answer may still wait then: it is watched over where it is sent.
            "ssl_shutdown_timeout": limits.ping_s,
        }

    async def respond(socket: ServerConnection, _: Request, response: Response) -> None:
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            await _refuse(socket, response, limits)

    sockets = await serve(
        welcome,
        **here,
        process_request=answer,
        process_response=respond,
        open_timeout=None,  # a guest bounds its request itself
        close_timeout=limits.goodbye_s,
        ping_interval=limits.ping_s,
        ping_timeout=limits.ping_s,
        max_size=limits.text_bytes,
        compression=None,
        server_header=None,
        logger=logger,
        create_connection=cast(Any, lambda *_, **__: http.connection()),
        start_serving=False,
    )
    return GatewayServer(sockets, http)


async def _refuse(socket: ServerConnection, response: Response, limits: Limits) -> None:
    """Say why no socket opens, and end the connection."""

    def stops() -> bool:
        return not socket.server.is_serving()

    if socket.state is State.CONNECTING:
        response.headers["Connection"] = "close"
        socket.protocol.send_response(replace(response, body=b""))
        head = b"".join(socket.protocol.data_to_send())
        with suppress(OSError):  # it broke
            await send_piece(socket, head, limits, stops)
            async for piece in pieces_of(response, limits):
                await send_piece(socket, piece, limits, stops)
    await end(socket, limits, stops)
