"""Before the socket opens: plain GETs, and who may come in.

Browsers send the page's own address as Origin, and a name that was made to point here as Host. Both
are checked, so that no foreign page can talk to a server at home.
"""

import hmac
import json
from collections.abc import Iterable
from http import HTTPStatus
from importlib.resources import files
from ipaddress import ip_address

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from sayso.server.gateway.host import Host

SOCKET_PATH = "/ws"
FILES = "/files/"

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus' text format."""

PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Door:
    """Answers GETs and lets those open a socket who may."""

    def __init__(self, host: Host, token: str, also: Iterable[str] = ()) -> None:
        self._host = host
        self._token = token
        self._also = frozenset(name.lower() for name in also)
        """Further names, with their ports, under which it may be addressed."""
        self._names: frozenset[str] = frozenset()

    def stands_at(self, port: int) -> None:
        """From now on, the names of this machine with this port are the server's own."""
        names = ("127.0.0.1", "localhost", "[::1]")
        self._names = frozenset(f"{name}:{port}" for name in names) | self._also

    def answer(self, _: ServerConnection, request: Request) -> Response | None:
        """The response to a GET, or none to let the socket open."""
        refusal = self._refusal(request.headers)
        if refusal:
            return _respond(HTTPStatus.FORBIDDEN, "text/plain", refusal)
        if request.method != "GET":
            return _respond(HTTPStatus.METHOD_NOT_ALLOWED, "text/plain", "Only GET is answered.\n")
        path = request.path.partition("?")[0]
        if path == SOCKET_PATH:
            return self._socket(request.headers)
        if path == "/ping":
            return _respond(HTTPStatus.OK, "text/plain", "pong")
        if path == "/health":
            return _respond(HTTPStatus.OK, "application/json", json.dumps(self._host.health()))
        if path == "/metrics":
            return _respond(HTTPStatus.OK, METRICS_TYPE, self._host.metrics())
        if path.startswith(FILES):
            return self._file(path.removeprefix(FILES), request.headers)
        if path == "/":
            page = files("sayso.server.gateway").joinpath("page.html").read_text()
            return _respond(HTTPStatus.OK, "text/html; charset=utf-8", page)
        return _respond(HTTPStatus.NOT_FOUND, "text/plain", "There is nothing here. Try /\n")

    def is_token(self, token: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(token.encode(), self._token.encode())

    def proves_itself(self, headers: Headers) -> bool:
        """Whether the request carries the token."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and self.is_token(token.strip())

    def _refusal(self, headers: Headers) -> str | None:
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            return "This server answers only to the names of this machine.\n"
        if any(o.lower() not in {f"http://{name}" for name in self._names} for o in origins):
            return "This server talks only to its own page.\n"
        return None

    def _file(self, name: str, headers: Headers) -> Response:
        if not self.proves_itself(headers):
            return _respond(HTTPStatus.UNAUTHORIZED, "text/plain", "The token is missing.\n")
        item = self._host.file(name)
        if item is None:
            return _respond(HTTPStatus.NOT_FOUND, "text/plain", "This is not kept any more.\n")
        mime, data = item
        return _respond(HTTPStatus.OK, mime, data)

    def _socket(self, headers: Headers) -> Response | None:
        if "Authorization" in headers and not self.proves_itself(headers):
            return _respond(HTTPStatus.UNAUTHORIZED, "text/plain", "The token is not valid.\n")
        return None


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
