"""How sockets are opened: the WebSocket library with every bound of ours, whatever stands behind.

Apart from the listener, so that what it is built of can be tried with nothing behind it but an
echo (tests/autobahn).
"""

import logging
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from sayso.server.gateway.admission.limits import Limits
from sayso.server.gateway.admission.unauthenticated import (
    CountingSocket,
    UnauthenticatedClients,
    guests_of,
)
from sayso.server.gateway.http.response_body import send

Answer = Callable[[ServerConnection, Request], Awaitable[Response | None]]
"""The response to a request; none lets the socket open."""


async def prepare(
    welcome: Callable[[ServerConnection], Awaitable[None]],
    answer: Answer | None,
    address: str,
    port: int,
    limits: Limits,
    *,
    strangers: int,
    tls: ssl.SSLContext | None = None,
) -> Server:
    """Bind the address; nobody is let in before `start_serving`. Raises OSError."""
    among = UnauthenticatedClients(strangers, limits.settled_s)
    here: dict[str, Any] = {"host": address, "port": port}
    if tls:
        here = {
            "sock": CountingSocket.at(address, port, among),
            "ssl": tls,
            "ssl_handshake_timeout": limits.handshake_s,
            # The end of an answer may still wait then: it is watched over where it is sent.
            "ssl_shutdown_timeout": limits.ping_s,
        }

    async def respond(socket: ServerConnection, _: Request, response: Response) -> None:
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            await send(socket, response, limits)

    return await serve(
        welcome,
        **here,
        process_request=answer,
        process_response=respond,
        open_timeout=None,  # it would cut long answers; a guest bounds its request itself
        close_timeout=limits.goodbye_s,
        ping_interval=limits.ping_s,
        ping_timeout=limits.ping_s,
        max_size=limits.text_bytes,
        compression=None,
        server_header=None,
        logger=logging.getLogger("sayso.websockets"),
        create_connection=guests_of(among, limits),
        start_serving=False,
    )
