"""Holds a connection to the host that it was opened for: what is sent on it may name another.

Many hosts answer at one address, and which is meant a client says only within the connection. So
the first bytes are read before they go on:

    TLS      the name in the client's hello must be the host; none, or one that is encrypted, is
             refused (an address as host needs none)
    HTTP     each request must be for the host
    other    passes, but for the web's own ports: at 443 there is TLS alone, at 80 TLS and HTTP
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from ipaddress import ip_address
from typing import Final, Literal

from sayso.server.runtimes.network.client_hello import (
    HANDSHAKE,
    BadHello,
    ClientHello,
    asks_again,
)
from sayso.server.runtimes.network.http_head import Asked, BadRequest, Requests, begins_request
from sayso.server.runtimes.network.relay import CutError

TLS_PORT: Final = 443
HTTP_PORT: Final = 80

_UNRECOGNISED_NAME: Final = bytes.fromhex("15030300020270")
"""A TLS alert: what a server answers to a name that is not its own."""


class Destination:
    """Of one connection, both ways."""

    def __init__(self, asked: Asked) -> None:
        self._host = asked.host
        self._port = asked.port
        self._kind: Literal["unknown", "tls", "http", "other"] = "unknown"
        self._requests = Requests(self._host)
        if asked.way == "forward":
            self._kind, self._requests = "http", Requests(self._host, asked.body)
        self._held = b""
        self._hello = ClientHello()
        self._answer = b""
        self._again = False
        self._answered = asyncio.Event()

    async def send(self, piece: bytes) -> AsyncGenerator[bytes]:
        """Yield what of a piece from the code, and of those before it, goes on. Raises CutError."""
        if self._kind == "unknown":
            piece, self._held = self._held + piece, b""
            self._kind = self._kind_of(piece)
        match self._kind:
            case "unknown":
                self._held = piece
            case "http":
                yield self._http(piece)
            case "tls":
                async with aclosing(self._tls(piece)) as parts:
                    async for part in parts:
                        yield part
            case _:
                yield piece

    def receive(self, piece: bytes) -> None:
        """A piece from the server. Raises CutError."""
        if self._kind != "tls" or self._answered.is_set():
            return
        self._answer += piece
        try:
            again = asks_again(self._answer)
        except BadHello as problem:
            raise CutError(str(problem)) from None
        if again is not None:
            self._again, self._answer = again, b""
            self._answered.set()

    def _kind_of(self, begun: bytes) -> Literal["unknown", "tls", "http", "other"]:
        if begun[0] == HANDSHAKE:
            return "tls"
        if self._port == TLS_PORT:
            raise CutError(f"at port {TLS_PORT}, there is TLS alone")
        is_request = begins_request(begun)
        if is_request is None:
            return "unknown"
        if not is_request and self._port == HTTP_PORT:
            raise CutError(f"at port {HTTP_PORT}, there is HTTP alone")
        return "http" if is_request else "other"

    def _http(self, piece: bytes) -> bytes:
        try:
            return self._requests.feed(piece)
        except BadRequest as problem:
            why = str(problem).rstrip(".")
            raise CutError(why, f"HTTP/1.1 403 Forbidden: {why}\r\n\r\n".encode()) from None

    async def _tls(self, piece: bytes) -> AsyncGenerator[bytes]:
        """The hello, once it is known to be for the host; the rest when the server has answered: it
        may want a second hello, and that could name another host."""
        if not self._judged(piece):
            return
        if not self._answered.is_set():
            yield self._hello.read
            await self._answered.wait()
            if self._again:
                rest, self._hello = self._hello.rest, ClientHello(after_another=True)
                if not self._judged(rest):
                    return
        self._kind = "other"
        yield self._hello.read if self._again else b""
        yield self._hello.rest

    def _judged(self, piece: bytes) -> bool:
        """Whether the hello is all there. Raises CutError if it is not for the host."""
        try:
            name = self._hello.feed(piece)
        except BadHello as problem:
            raise CutError(str(problem), _UNRECOGNISED_NAME) from None
        if name is None:
            return False
        if name != self._host and (name or not _is_address(self._host)):
            raise CutError(f"its TLS hello asks for {name or 'no name'}", _UNRECOGNISED_NAME)
        return True


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
