"""Routes for adapters: a method, a path and a handler; or a path at which a WebSocket opens.

A client is authenticated before its body is read or its socket opens, and has the right that the
route names. An adapter for a foreign protocol adds its routes here.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Response

from sayso.server.gateway.admission.rate_limits import Rates
from sayso.server.trust.principal import Principal, Scope

BODY_BYTES: Final = 1_048_576
"""Longest body, where a route says nothing else: a long conversation as JSON."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request and the principal that sent it."""

    method: str
    path: str
    """Without the query, as it was sent."""
    query: str
    headers: Headers
    who: Principal
    body: AsyncIterator[bytes]
    """In pieces, as they come; it can be read once. Raises BodyRefused, which the handler lets
    pass."""

    async def whole_body(self) -> bytes:
        """All of it, which the route's bound keeps small."""
        return b"".join([piece async for piece in self.body])


Handler = Callable[[HttpRequest], Awaitable[Response]]
"""Answers a request. It is cancelled when the client leaves."""


@dataclass(frozen=True, slots=True)
class Route:
    """One thing that can be asked."""

    method: str
    path: str
    """Exact; one that ends with a slash stands for all that begin with it."""
    handler: Handler
    scope: Scope = "talk"
    body_bytes: int = BODY_BYTES

    def leads_from(self, path: str) -> bool:
        """Whether a request for this path is meant."""
        return path == self.path or (self.path.endswith("/") and path.startswith(self.path))


@dataclass(frozen=True, slots=True)
class OpenedSocket:
    """A WebSocket that opened, and the principal behind it."""

    socket: ServerConnection
    query: str
    """Of its address, without the question mark."""
    who: Principal
    rates: Rates
    """How fast what it sends is read."""


SocketHandler = Callable[[OpenedSocket], Awaitable[None]]
"""Talks to a client until it leaves; the socket is closed then. It is cancelled when the server
stops."""


@dataclass(frozen=True, slots=True)
class SocketRoute:
    """A path at which a WebSocket opens."""

    path: str
    """Exact."""
    handler: SocketHandler
    scope: Scope = "talk"
    message_bytes: int = BODY_BYTES
    """Longest message of a client."""


class Routes:
    """All routes of a server; the first that fits answers."""

    def __init__(self) -> None:
        self._routes: list[Route] = []
        self._sockets: dict[str, SocketRoute] = {}

    def add(self, route: Route) -> None:
        """From now on it is answered, at every way in."""
        self._routes.append(route)

    def add_socket(self, route: SocketRoute) -> None:
        """From now on sockets open there, at every way in."""
        self._sockets[route.path] = route

    def socket_at(self, path: str) -> SocketRoute | None:
        """What a socket at this path is for; nothing, if none opens there."""
        return self._sockets.get(path)

    def find(self, method: str, path: str) -> Route | None:
        """What answers this; nothing, if no route does."""
        methods = (method, "GET") if method == "HEAD" else (method,)
        return next((one for one in self.at(path) if one.method in methods), None)

    def at(self, path: str) -> list[Route]:
        """Whatever can be asked of this path."""
        return [one for one in self._routes if one.leads_from(path)]
