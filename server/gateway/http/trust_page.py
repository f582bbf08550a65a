"""Serves the server's CA certificate to browsers over plain HTTP, only while pairing is open.

A browser gives a page the microphone only over HTTPS from a server that it trusts, so it must trust
the authority before it can be paired. The page has no script and knows no secret: the certificate,
its fingerprint, and how to trust it. What that exposes is told in SECURITY.md.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from html import escape
from http import HTTPStatus
from importlib.resources import files
from string import Template

from websockets.http11 import Request, Response

from sayso.protocol.fingerprint import as_browsers_show, fingerprint, words
from sayso.server.gateway.admission.authentication import ListenerKind
from sayso.server.gateway.admission.unauthenticated import UnauthenticatedClients
from sayso.server.gateway.http.http_connection import HttpConnection
from sayso.server.gateway.http.http_server import HttpServer
from sayso.server.gateway.http.responses import AUTHORITY, answered, refused
from sayso.server.gateway.http.static_files import page
from sayso.server.gateway.limits import Limits
from sayso.server.trust.certificates import bracketed

log = logging.getLogger(__name__)

TEMPLATE = "trust_page.html"
LENT = ("/style.css", "/icon.svg")
"""Files of the web client that the page is made with."""


class TrustPage:
    """Opened with each window for pairing, and closed with it."""

    def __init__(self, address: str, port: int, limits: Limits) -> None:
        """`port`: 0 takes any free one, each time."""
        self._address = address
        self._port = port
        self._limits = limits
        self._serving: asyncio.Task[None] | None = None
        self._ending: asyncio.Handle | None = None
        self._url = ""
        self.looked_at: Callable[[], None] = lambda: None
        """Called whenever a device looks at the page."""

    def open(self, names: tuple[str, ...], best: str, home: str, authority: bytes) -> str:
        """Begin to serve; returns where, or nothing if the port can't be had.

        `best`: the name to be shown; `home`: where the client's page is, once the authority is
        trusted.
        """
        if self._ending:
            self._ending.cancel()
            self._ending = None
            return self._url
        family = socket.AF_INET6 if ":" in self._address else socket.AF_INET
        try:
            listening = socket.create_server((self._address, self._port), family=family)
        except OSError as error:
            log.warning(
                "The page for trusting this server can't be opened on port %d (%s); "
                "`listen.trust_port` chooses another one.",
                self._port,
                error.strerror or error,
            )
            return ""
        port = listening.getsockname()[1]
        entrance = ListenerKind("http", frozenset(f"{bracketed(name)}:{port}" for name in names))
        shown = _rendered(authority, home)
        self._serving = asyncio.create_task(self._serve(listening, entrance, shown, authority))
        self._serving.add_done_callback(lambda _: listening.close())
        self._url = f"http://{best}:{port}/"
        return self._url

    def close(self) -> None:
        """Stop serving, unless it is opened again at once: the same goes on then."""
        if self._serving and not self._serving.cancelling() and not self._ending:
            self._ending = asyncio.get_running_loop().call_soon(self._end)

    async def closed(self) -> None:
        """Wait until the last connection is gone."""
        self._end()
        if self._serving:
            await asyncio.gather(self._serving, return_exceptions=True)

    def _end(self) -> None:
        if self._ending:
            self._ending.cancel()
            self._ending = None
        if self._serving:
            self._serving.cancel()

    async def _serve(
        self, listening: socket.socket, entrance: ListenerKind, shown: str, authority: bytes
    ) -> None:
        async def answer(_line: HttpConnection, request: Request) -> Response:
            if refusal := entrance.refusal(request.headers):
                return refused(HTTPStatus.FORBIDDEN, refusal)
            if request.method != "GET":
                return refused(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET is answered.")
            path = request.path.partition("?")[0]
            if path == "/":
                self.looked_at()
                return answered("text/html; charset=utf-8", shown)
            if path == "/ca.crt":
                return answered(AUTHORITY, authority)
            lent = page(path) if path in LENT else None
            return (
                answered(lent.kind, lent.content)
                if lent
                else refused(HTTPStatus.NOT_FOUND, "Only / is here.")
            )

        async def answer_and_close(line: HttpConnection, request: Request) -> Response:
            response = await answer(line, request)
            response.headers["Connection"] = "close"  # the page is three files
            return response

        strangers = UnauthenticatedClients(self._limits.strangers, self._limits.settled_s)
        http = HttpServer(answer_and_close, self._limits, strangers)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(http.connection, sock=listening)
        try:
            await loop.create_future()
        finally:
            server.close()
            http.close()
            await http.wait_closed()


def _rendered(authority: bytes, home: str) -> str:
    template = Template(files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8"))
    return template.substitute(
        fingerprint=as_browsers_show(fingerprint(authority)),
        words=escape(words(authority)),
        home=escape(home, quote=True),
    )
