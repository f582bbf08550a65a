"""Handles requests before a WebSocket opens: plain GETs, and which clients may connect.

Browsers send the page's own address as Origin, and a name that was made to point here as Host. Both
are checked, so that no foreign page can talk to a server at home.
"""

from http import HTTPStatus
from typing import Protocol
from urllib.parse import unquote

from websockets.http11 import Request, Response

from sayso.server.gateway.admission.authentication import REASONS, Authentication, ListenerKind
from sayso.server.gateway.admission.rate_limits import RequestRates
from sayso.server.gateway.admission.unauthenticated import (
    Line,
    UnauthenticatedClient,
    recognised,
)
from sayso.server.gateway.host import Host
from sayso.server.gateway.http.adapter_routes import HttpRequest, Routes, SocketRoute
from sayso.server.gateway.http.http_connection import HttpConnection
from sayso.server.gateway.http.request_body import too_large
from sayso.server.gateway.http.responses import (
    AUTHORITY,
    answered,
    answered_file,
    answered_frame,
    answered_json,
    answered_packed,
    refused,
    takes_gzip,
)
from sayso.server.gateway.http.static_files import page
from sayso.server.trust.principal import OWNER, THIS_MACHINE, Principal

SOCKET_PATH = "/ws"
FILES = "/files/"
HEALTH = "/health"
FOR_MONITORS = (HEALTH, "/metrics")
TO_LOOK_AT = ("/conversations", "/choices", "/found/")
"""A person's own things, for a screen that lets them choose."""

FRAME = "/frame.html"
"""Where the page shows HTML that is not its own."""

METRICS = "text/plain; version=0.0.4; charset=utf-8"
"""The type of Prometheus' text format."""

NOTHING = "There is nothing here. Try /"


class Requester(UnauthenticatedClient, Line, Protocol):
    """A connection that a request came by."""


class RequestHandler:
    """Answers GETs at one entrance, and lets those open a socket who may."""

    def __init__(
        self,
        host: Host,
        guard: Authentication,
        entrance: ListenerKind,
        routes: Routes,
        rates: RequestRates,
    ) -> None:
        self._host = host
        self._guard = guard
        self._entrance = entrance
        self._routes = routes
        self._rates = rates

    async def answer(self, socket: Requester, request: Request) -> Response | None:
        """The response to a GET, or none to let the socket open."""
        path, _, query = request.path.partition("?")
        routed = bool(self._routes.at(path))
        if refusal := self._refusal(socket, request, routed=routed):
            return refusal
        who = self._guard.who_asks(request.headers, self._entrance)
        if who is None and "Authorization" in request.headers:
            self._guard.refused(socket, "wrong_token")
            await self._guard.keep_waiting(socket)
            return refused(HTTPStatus.UNAUTHORIZED, "The token is not valid.")
        if path == SOCKET_PATH:
            return None
        if who is not None:
            recognised(socket)
            self._guard.answers(socket, who)
        if route := self._routes.socket_at(path):
            return self._refused_socket(socket, route, who)
        if routed and isinstance(socket, HttpConnection):
            return await self._by_route(socket, request, path, query, who)
        return await self._answer_own(socket, request, path, who)

    async def _answer_own(
        self, socket: Requester, request: Request, path: str, who: Principal | None
    ) -> Response:
        """What is no adapter's."""
        if open_to_all := self._page(path, request):
            return open_to_all
        if path in FOR_MONITORS and self._entrance.is_near(request.headers):
            return self._of_the_server(path)
        if who is not None:
            return await self._of_this_person(path, who)
        if path in FOR_MONITORS or path.startswith((FILES, *TO_LOOK_AT)):
            self._guard.refused(socket, "no_token")
            return refused(HTTPStatus.UNAUTHORIZED, "The token is missing.")
        return refused(HTTPStatus.NOT_FOUND, NOTHING)

    def _refusal(self, socket: Requester, request: Request, *, routed: bool) -> Response | None:
        if foreign := self._entrance.refusal(request.headers):
            self._guard.refused(socket, REASONS[foreign])
            return refused(HTTPStatus.FORBIDDEN, foreign)
        if request.method != "GET" and not routed:
            return refused(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET is answered.")
        return None

    def _refused_socket(
        self, socket: Requester, route: SocketRoute, who: Principal | None
    ) -> Response | None:
        """None lets it open."""
        if who is None:
            self._guard.refused(socket, "no_token")
            return refused(HTTPStatus.UNAUTHORIZED, "The token is missing.")
        if not who.may(route.scope):
            return refused(HTTPStatus.FORBIDDEN, "This device may not ask for this.")
        return None

    async def _by_route(
        self,
        line: HttpConnection,
        request: Request,
        path: str,
        query: str,
        who: Principal | None,
    ) -> Response:
        """What an adapter answers: nothing of a body is read before it is clear who asks."""
        if who is None:
            self._guard.refused(line, "no_token")
            return refused(HTTPStatus.UNAUTHORIZED, "The token is missing.")
        route = self._routes.find(request.method, path)
        if route is None:
            return refused(HTTPStatus.METHOD_NOT_ALLOWED, "This is asked in another way.")
        if not who.may(route.scope):
            return refused(HTTPStatus.FORBIDDEN, "This device may not ask for this.")
        if int(request.headers.get("Content-Length", "0")) > route.body_bytes:
            raise too_large(route.body_bytes)
        if not self._rates.begin(who):
            return refused(HTTPStatus.TOO_MANY_REQUESTS, "This device asks too much at once.")
        line.lasts(lambda: self._rates.end(who), has_place=who is not THIS_MACHINE)
        body = line.body(route.body_bytes)
        asked = HttpRequest(request.method, path, query, request.headers, who, body)
        return await route.handler(asked)

    def _page(self, path: str, request: Request) -> Response | None:
        """What anybody may see."""
        match path:
            case "/ping":
                return answered("text/plain", "pong")
            case "/ca.crt" if self._entrance.authority:
                return answered(AUTHORITY, self._entrance.authority)
            case _:
                if (found := page(path)) is None:
                    return None
                make = answered_frame if path == FRAME else answered
                whole = make(found.kind, found.content)
                wanted = takes_gzip(", ".join(request.headers.get_all("Accept-Encoding")))
                return answered_packed(whole, found.packed) if wanted and found.packed else whole

    def _of_the_server(self, path: str) -> Response:
        """How it goes: on this machine that is no secret."""
        if path == HEALTH:
            return answered_json(self._host.health())
        return answered(METRICS, self._host.metrics())

    async def _of_this_person(self, path: str, who: Principal) -> Response:
        """What those may see who belong here, each their own."""
        if path in FOR_MONITORS:
            if path != HEALTH and who.person != OWNER:
                return refused(HTTPStatus.FORBIDDEN, "What this server uses is its owner's to see.")
            return self._of_the_server(path)
        if path.startswith(TO_LOOK_AT):
            seen = await self._host.look(unquote(path), who.person)
            return answered_json(seen) if seen else refused(HTTPStatus.NOT_FOUND, NOTHING)
        if not path.startswith(FILES):
            return refused(HTTPStatus.NOT_FOUND, NOTHING)
        conversation, slash, name = path.removeprefix(FILES).partition("/")
        if slash:
            plain = unquote(name, errors="surrogateescape")
            return await self._from_workspace(unquote(conversation), plain, who)
        if item := self._host.file(conversation, who.person):
            return answered(*item)
        return refused(HTTPStatus.NOT_FOUND, "This is not kept any more.")

    async def _from_workspace(self, conversation: str, name: str, who: Principal) -> Response:
        """As bytes and nothing else, so that no browser takes it for a page of ours."""
        file = await self._host.workspace_file(conversation, name, who.person)
        if file is None:
            return refused(HTTPStatus.NOT_FOUND, "No such file.")
        return answered_file("application/octet-stream", file)
