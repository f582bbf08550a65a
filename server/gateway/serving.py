"""How sockets are opened: the WebSocket library with every bound of ours, whatever stands behind.

Apart from the listener, so that what it is built of can be tried with nothing behind it but an
echo (tests/autobahn).
"""

import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.http11 import Request, Response

from sayso.server.gateway.limits import Limits
from sayso.server.gateway.strangers import Doorstep, Strangers, guests_of

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
    among = Strangers(strangers, limits.settled_s)
    here: dict[str, Any] = {"host": address, "port": port}
    if tls:
        here = {"sock": Doorstep.at(address, port, among), "ssl": tls}
    return await serve(
        welcome,
        **here,
        process_request=answer,
        open_timeout=limits.handshake_s,
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
