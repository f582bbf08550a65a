"""Opens a port of its own without encryption, for an adapter whose clients know none.

The bounds on connections are those of the server's own ports. Foreign pages are kept out: a browser
on a machine that may come in would otherwise lend them its way.
"""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from sayso.protocol.errors import ProtocolError
from sayso.server.gateway.admission.rate_limits import Rates
from sayso.server.gateway.admission.unauthenticated import address_of, known
from sayso.server.gateway.http.responses import refused
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import CannotListenError
from sayso.server.gateway.socket.connection import close_with
from sayso.server.gateway.socket.websocket_server import GatewayServer, prepare
from sayso.server.trust.principal import Principal

__all__ = ["CannotListenError", "PlainPort", "Rates", "open_plain_port", "rates_of"]

Answer = Callable[[Request], Awaitable[Response | None]]
"""The response to a request; none lets a socket open where there is one."""

Talk = Callable[[ServerConnection, Mapping[str, str]], Awaitable[None]]
"""Talks to whoever opened a socket, until it is done; the headers of its request are by small
letters."""

PlainPort = GatewayServer
"""An open port; `close` and `wait_closed` end it."""

MESSAGE_BYTES = 65_536
"""Longest message of a client: a second of sound is half of it."""


def rates_of(who: Principal) -> Rates:
    """How fast what it sends is read."""
    return Rates(Limits(), who)


async def open_plain_port(
    setting: str,
    where: tuple[str, int],
    lets_in: Callable[[str], bool],
    answer: Answer,
    talk: Talk,
    *,
    opens_socket: Callable[[str], bool],
) -> PlainPort:
    """Begin to listen. `lets_in` says from which addresses one may come. Raises CannotListenError,
    whose text names the setting."""
    limits = Limits()
    host, port = where

    async def answer_here(line: Any, request: Request) -> Response | None:  # noqa: ANN401
        if not lets_in(address_of(line)):
            return refused(HTTPStatus.FORBIDDEN, "This machine is not named in adapters.peers.")
        if "Origin" in request.headers:
            return refused(HTTPStatus.FORBIDDEN, "Pages are not answered here.")
        return await answer(request)

    async def welcome(socket: ServerConnection) -> None:
        socket.protocol.max_message_size = MESSAGE_BYTES
        sent = socket.request.headers.raw_items() if socket.request else ()
        headers = {name.lower(): value for name, value in sent}
        known(socket)
        try:
            await talk(socket, headers)
        except ProtocolError as error:
            await close_with(socket, error, limits.goodbye_s)
        except (ConnectionClosed, TimeoutError):
            pass
        finally:
            await socket.close()

    try:
        server = await prepare(
            welcome,
            answer_here,
            host,
            port,
            limits,
            strangers=limits.near_strangers,
            opens_socket=opens_socket,
        )
    except OSError as error:
        raise CannotListenError(
            f"{setting}: port {port} on {host} can't be opened ({error.strerror or error}). "
            "Choose another one."
        ) from error
    await server.start_serving()
    return server
