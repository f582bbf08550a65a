"""The head of a request to a proxy (RFC 9110 and 9112), read and rewritten: no socket here."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

HEAD_BYTES = 16 * 1024
"""The longest head: servers take half of it."""

_METHOD_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_HOST_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._:")

_BETWEEN_NEIGHBOURS = frozenset(
    ("connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade")
)
"""Headers that are for us and not for the server, or that we write anew."""


class BadRequest(Exception):
    """This is no request that a proxy can serve; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Where a request wants to go."""

    way: Literal["tunnel", "forward"]
    host: str
    """In lower case, without brackets."""
    port: int
    head: bytes = b""
    """What the server is to be sent first; nothing for a tunnel."""


def read(head: bytes) -> Asked:
    """Understand a head, up to and with its empty line. Raises BadRequest."""
    try:
        first, *headers = head.decode("ascii").removesuffix("\r\n\r\n").split("\r\n")
        method, target, version = first.split(" ")
    except ValueError:
        raise BadRequest("This is no HTTP request.") from None
    if not version.startswith("HTTP/1.") or not method or set(method) - _METHOD_LETTERS:
        raise BadRequest("This is no HTTP/1 request.")
    if method == "CONNECT":
        host, port = _place(f"//{target}", 443)
        return Asked("tunnel", host, port)
    if not target.startswith("http://"):
        raise BadRequest("A proxy is asked for whole addresses that begin with http://.")
    host, port = _place(target, 80)
    return Asked("forward", host, port, _rewritten(method, target, headers))


def _place(address: str, otherwise: int) -> tuple[str, int]:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or otherwise
    except ValueError:
        raise BadRequest("This address cannot be read.") from None
    host = host.rstrip(".")
    if not host or set(host) - _HOST_LETTERS or parts.username is not None:
        raise BadRequest("This address cannot be read.")
    return host, port


def _rewritten(method: str, target: str, headers: list[str]) -> bytes:
    parts = urlsplit(target)
    path = parts._replace(scheme="", netloc="", fragment="").geturl() or "/"
    netloc = parts.netloc.rpartition("@")[2]
    kept = []
    for header in headers:
        name, colon, _ = header.partition(":")
        if not colon or not name or name != name.strip() or "\n" in header or "\r" in header:
            raise BadRequest("A header of this request cannot be read.")
        if name.lower() not in _BETWEEN_NEIGHBOURS:
            kept.append(header)
    lines = (f"{method} {path} HTTP/1.1", f"Host: {netloc}", *kept, "Connection: close", "", "")
    return "\r\n".join(lines).encode()
