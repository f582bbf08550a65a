"""HTTP routes for adapters: each route is a method, a path and a handler.

A client is authenticated before its body is read, and has the right that the
route names. An adapter for a foreign protocol adds its routes here, and sees no socket.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from websockets.datastructures import Headers
from websockets.http11 import Response

from sayso.server.gateway.admission.limits import Limits
from sayso.server.gateway.admission.rate_limits import MINUTE_S, Bucket
from sayso.server.trust.principal import THIS_MACHINE, Principal, Scope

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


class RequestRates:
    """How much each device asks, and how much of it is being answered."""

    def __init__(self, limits: Limits) -> None:
        self._a_minute = limits.requests_a_minute
        self._at_once = limits.device_requests
        self._buckets: dict[str, Bucket] = {}
        self._answering: dict[str, int] = {}

    def begin(self, who: Principal) -> bool:
        """Whether one more is answered; then `end` is called. Programs of this machine are their
        owner's own, and not counted."""
        if who is THIS_MACHINE:
            return True
        bucket = self._buckets.setdefault(
            who.device, Bucket(self._a_minute, self._a_minute / MINUTE_S)
        )
        answering = self._answering.get(who.device, 0)
        now = asyncio.get_running_loop().time()
        if answering >= self._at_once or not bucket.take(1, now):
            return False
        self._answering[who.device] = answering + 1
        return True

    def end(self, who: Principal) -> None:
        """It was answered."""
        if who is THIS_MACHINE:
            return
        self._answering[who.device] -= 1
        if not self._answering[who.device]:
            del self._answering[who.device]


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
