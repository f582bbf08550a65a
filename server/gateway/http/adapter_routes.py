"""HTTP routes for adapters: each route is a method, a path and a handler.

A client is authenticated before its body is read, and has the right that the
route names. An adapter for a foreign protocol adds its routes here, and sees no socket.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from websockets.datastructures import Headers
from websockets.http11 import Response

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


class Routes:
    """All routes of a server; the first that fits answers."""

    def __init__(self) -> None:
        self._routes: list[Route] = []

    def add(self, route: Route) -> None:
        """From now on it is answered, at every way in."""
        self._routes.append(route)

    def find(self, method: str, path: str) -> Route | None:
        """What answers this; nothing, if no route does."""
        methods = (method, "GET") if method == "HEAD" else (method,)
        return next((one for one in self.at(path) if one.method in methods), None)

    def at(self, path: str) -> list[Route]:
        """Whatever can be asked of this path."""
        return [one for one in self._routes if one.leads_from(path)]
