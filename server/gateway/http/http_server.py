"""Accepts connections that speak HTTP, and ends them when the server stops."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress

from websockets.http11 import Request, Response

from sayso.server.gateway.admission.unauthenticated import UnauthenticatedClients
from sayso.server.gateway.admission.waiting import Caller, WaitingClients
from sayso.server.gateway.http.http_connection import HttpConnection
from sayso.server.gateway.limits import Limits

Answer = Callable[[HttpConnection, Request], Awaitable[Response]]
"""The response to a request."""


class HttpServer:
    """The HTTP connections of one port."""

    def __init__(
        self,
        answer: Answer,
        limits: Limits,
        strangers: UnauthenticatedClients,
        *,
        opens_socket: Callable[[str], bool] = lambda _: False,
        websocket: Callable[[], asyncio.Protocol] = asyncio.Protocol,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`opens_socket`: whether requests for a path are handed over to what `websocket` makes."""
        self.limits = limits
        self.strangers = strangers
        self.stops = False
        self.waiting = WaitingClients(strangers, limits, self._let_in)
        self._answer = answer
        self._opens_socket = opens_socket
        self._websocket = websocket
        self._tls = tls
        self._here: set[HttpConnection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def connection(self) -> HttpConnection:
        """For a client that was accepted."""
        return HttpConnection(self)

    def close(self) -> None:
        """End all connections; those that are being answered as soon as their answer notices."""
        self.stops = True
        self.waiting.close()
        for line in list(self._here):
            line.stop()

    async def wait_closed(self) -> None:
        """Wait until nobody is being answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        for line in list(self._here):
            line.transport.abort()

    # ── For connections ──────────────────────────────────────────────────────────────────────────

    async def answer(self, line: HttpConnection, request: Request) -> Response:
        """The response to a request."""
        return await self._answer(line, request)

    def opens_socket(self, path: str) -> bool:
        """Whether a request for this path is the WebSocket library's."""
        return self._opens_socket(path.partition("?")[0])

    def websocket(self) -> asyncio.Protocol:
        """What takes a connection over."""
        return self._websocket()

    def came(self, line: HttpConnection) -> None:
        """One more connection."""
        self._here.add(line)
        if self.stops:
            line.turn_away()

    def begun(self, task: asyncio.Task[None]) -> None:
        """A client is being answered."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def left(self, line: HttpConnection) -> None:
        """It is gone, or a WebSocket's now."""
        self._here.discard(line)

    def is_crowded(self, line: HttpConnection) -> bool:
        """Whether others of its address wait for a place."""
        return self.waiting.has(line.peer)

    # ── For those that waited ────────────────────────────────────────────────────────────────────

    def _let_in(self, caller: Caller) -> None:
        self.begun(asyncio.get_running_loop().create_task(self._accept(caller)))

    async def _accept(self, caller: Caller) -> None:
        loop = asyncio.get_running_loop()
        with suppress(OSError):  # TLS was not agreed on
            await loop.connect_accepted_socket(
                self.connection,
                caller,
                ssl=self._tls,
                ssl_handshake_timeout=self.limits.handshake_s,
                ssl_shutdown_timeout=self.limits.ping_s,
            )
