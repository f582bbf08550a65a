"""How sockets are opened: the WebSocket library with every bound of ours, whatever stands behind.

Apart from the listener, so that what it is built of can be tried with nothing behind it but an
echo (tests/autobahn).
"""

import logging
import ssl
from collections.abc import Awaitable, Callable

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from sayso.server.gateway.guard import Strangers, guests_of
from sayso.server.gateway.limits import Limits

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
    return await serve(
        welcome,
        address,
        port,
        ssl=tls,
        process_request=answer,
        open_timeout=limits.handshake_s,
        close_timeout=limits.goodbye_s,
        ping_interval=limits.ping_s,
        ping_timeout=limits.ping_s,
        max_size=limits.text_bytes,
        compression=None,
        server_header=None,
        logger=logging.getLogger("sayso.websockets"),
        create_connection=guests_of(Strangers(strangers, limits.settled_s), limits),
        start_serving=False,
    )
