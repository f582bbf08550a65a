"""Before the socket opens: plain GETs, and who may come in.

Browsers send the page's own address as Origin, and a name that was made to point here as Host. Both
are checked, so that no foreign page can talk to a server at home.
"""

import json
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import unquote

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from sayso.server.gateway.guard import Entrance, Guard
from sayso.server.gateway.host import Host
from sayso.server.gateway.pages import page
from sayso.server.trust.who import Who

SOCKET_PATH = "/ws"
FILES = "/files/"

METRICS = "text/plain; version=0.0.4; charset=utf-8"
"""The type of Prometheus' text format."""

AUTHORITY = "application/x-x509-ca-cert"
"""The type of a certificate that a person may choose to trust."""

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Door:
    """Answers GETs at one entrance, and lets those open a socket who may."""

    def __init__(self, host: Host, guard: Guard, entrance: Entrance) -> None:
        self._host = host
        self._guard = guard
        self._entrance = entrance

    async def answer(self, socket: ServerConnection, request: Request) -> Response | None:
        """The response to a GET, or none to let the socket open."""
        refusal = self._refusal(request.headers)
        if refusal:
            return _respond(HTTPStatus.FORBIDDEN, "text/plain", refusal)
        if request.method != "GET":
            return _respond(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", "Only GET is answered.\n")
        path = request.path.partition("?")[0]
        who = self._guard.who_asks(request.headers, self._entrance)
        if who is None and "Authorization" in request.headers:
            await self._guard.keep_waiting(socket)
            return _respond(HTTPStatus.UNAUTHORIZED, "text/plain", "The token is not valid.\n")
        if path == SOCKET_PATH:
            return None
        if who is not None and (wanted := _in_workspace(path)):
            return await self._from_workspace(*wanted, who)
        near = self._entrance.is_near(request.headers)
        return self._page(path) or self._of_the_house(path, who, near=near)

    async def _from_workspace(self, conversation: str, name: str, who: Who) -> Response:
        """As bytes and nothing else, so that no browser takes it for a page of ours."""
        content = await self._host.workspace_file(conversation, name, who.person)
        if content is None:
            return _respond(HTTPStatus.NOT_FOUND, "text/plain", "No such file, or too large.\n")
        return _respond(HTTPStatus.OK, "application/octet-stream", content)

    def _page(self, path: str) -> Response | None:
        """What anybody may see."""
        match path:
            case "/ping":
                return _respond(HTTPStatus.OK, "text/plain", "pong")
            case "/ca.crt" if self._entrance.authority:
                return _respond(HTTPStatus.OK, AUTHORITY, self._entrance.authority)
            case _:
                found = page(path)
                return _respond(HTTPStatus.OK, *found) if found else None

    def _of_the_house(self, path: str, who: Who | None, *, near: bool) -> Response:
        """What those may see who belong here; on this machine, how it goes is no secret."""
        shown = path in ("/health", "/metrics") and near
        if who is None and not shown:
            if path in ("/health", "/metrics") or path.startswith(FILES):
                return _respond(HTTPStatus.UNAUTHORIZED, "text/plain", "The token is missing.\n")
            return _respond(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here. Try /\n")
        if path == "/health":
            return _respond(HTTPStatus.OK, "application/json", json.dumps(self._host.health()))
        if path == "/metrics":
            return _respond(HTTPStatus.OK, METRICS, self._host.metrics())
        if path.startswith(FILES):
            item = self._host.file(path.removeprefix(FILES))
            if item:
                return _respond(HTTPStatus.OK, *item)
            return _respond(HTTPStatus.NOT_FOUND, "text/plain", "This is not kept any more.\n")
        return _respond(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here. Try /\n")

    def _refusal(self, headers: Headers) -> str | None:
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._entrance.hosts:
            return "This server answers only to its own names; `listen.names` adds others.\n"
        if any(origin.lower() not in self._entrance.origins for origin in origins):
            return "This server talks only to its own page.\n"
        return None


def _in_workspace(path: str) -> tuple[str, str] | None:
    """The conversation and the file that a path means; None if it means something else."""
    conversation, slash, name = path.removeprefix(FILES).partition("/")
    if not path.startswith(FILES) or not slash:
        return None
    return unquote(conversation), unquote(name, errors="surrogateescape")


def is_loopback(host: str) -> bool:
    """Whether an address to listen on can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _respond(status: HTTPStatus, kind: str, body: str | bytes) -> Response:
    data = body.encode() if isinstance(body, str) else body
    headers = Headers(PAGE_HEADERS)
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(data))
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, data)
