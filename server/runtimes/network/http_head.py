"""HTTP/1 requests to a proxy and through it (RFC 9110 and 9112), read and rewritten: no socket
here.

Each is read as far as it takes to know whom it is for and where it ends, and what could be read in
two ways is refused: what follows on the same connection may be for somebody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

HEAD_BYTES = 16 * 1024
"""The longest head: servers take half of it."""

_METHOD_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ-")
_HOST_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._:")
_NAME_LETTERS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
)
_CONTROLS = frozenset((*range(ord("\t")), *range(ord("\n"), ord(" ")), 0x7F))
_HEX = frozenset("0123456789abcdefABCDEF")

_LINE_BYTES: Final = 1_024
"""Of the line before a chunk, and of one behind the last."""
_DIGITS: Final = 15
"""Of a length: a petabyte."""

_BETWEEN_NEIGHBOURS = frozenset(
    ("connection", "host", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade")
)
"""Headers that are for us and not for the server, or that we write anew."""

Body = int | Literal["chunked"]
"""How a request goes on after its head: so many bytes, or pieces that tell their length."""


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
    body: Body = 0


def read(head: bytes) -> Asked:
    """Understand a head, up to and with its empty line. Raises BadRequest."""
    method, target, _, headers = _parts(head)
    if method == "CONNECT":
        host, port = _place(f"//{target}", 443)
        return Asked("tunnel", host, port)
    if not target.startswith("http://"):
        raise BadRequest("A proxy is asked for whole addresses that begin with http://.")
    host, port = _place(target, 80)
    return Asked("forward", host, port, _rewritten(method, target, headers), _body(headers))


def begins_request(data: bytes) -> bool | None:
    """Whether these may be the first bytes of an HTTP request, in whatever way it is written; None:
    more are needed to know."""
    first, end, _ = data.lstrip(b" \t\r\n").partition(b"\n")
    if b"\0" in first:
        return False
    if not end:
        return None if len(data) <= HEAD_BYTES else True
    return b"HTTP/" in first.upper()


class Requests:
    """Those that code sends on a connection to one host, one after the other."""

    def __init__(self, host: str, body: Body | None = None) -> None:
        """With `body`, a head has passed that this belongs to, and nothing may follow."""
        self._host = host
        self._last: Literal["head", "nothing"] = "head" if body is None else "nothing"
        self._data = b""
        self._at = 0
        """How far it has been read."""
        self._left = 0
        """Bytes that pass as they are."""
        self._next: Literal["head", "size", "end of piece", "trailer", "nothing"] = "head"
        if body is not None:
            self._goes_on(body)

    def feed(self, data: bytes) -> bytes:
        """What of it, and of what waited, may go there. Raises BadRequest."""
        self._data += data
        passed = []
        while piece := self._piece():
            passed.append(piece)
        self._data, self._at = self._data[self._at :], 0
        return b"".join(passed)

    def _piece(self) -> bytes:
        if self._left:
            piece = self._data[self._at : self._at + self._left]
            self._at += len(piece)
            self._left -= len(piece)
            return piece
        match self._next:
            case "head":
                return self._head()
            case "size":
                return self._size()
            case "end of piece":
                return self._end_of_piece()
            case "trailer":
                return self._trailer()
            case _:
                self._at = len(self._data)  # the server was told that it was the last
                return b""

    def _head(self) -> bytes:
        while self._data[self._at : self._at + 2] == b"\r\n":
            self._at += 2
        head = self._until(b"\r\n\r\n", HEAD_BYTES)
        if not head:
            return b""
        method, target, version, headers = _parts(head)
        hosts = [value for name, value in headers if name.lower() == "host"]
        if len(hosts) != 1 and (hosts or version != "HTTP/1.0"):
            raise BadRequest("A request names its host once.")
        if not target.startswith("/") and (method, target) != ("OPTIONS", "*"):
            raise BadRequest("A request in a tunnel is for a path.")
        if any(_named(host) != self._host for host in hosts):
            raise BadRequest(f"In a tunnel to {self._host}, requests are for {self._host} alone.")
        if any(name.lower() == "upgrade" for name, _ in headers):
            raise BadRequest("Other protocols than HTTP pass within TLS alone.")
        self._goes_on(_body(headers))
        return head

    def _size(self) -> bytes:
        line = self._until(b"\r\n", _LINE_BYTES)
        if not line:
            return b""
        size = line[:-2].decode("latin-1").partition(";")[0].strip(" \t")
        if not size or len(size) > _DIGITS or set(size) - _HEX or _breaks(line):
            raise BadRequest("A piece of this request has no length.")
        self._left = int(size, 16)
        self._next = "end of piece" if self._left else "trailer"
        return line

    def _end_of_piece(self) -> bytes:
        end = self._data[self._at : self._at + 2]
        if end not in (b"", b"\r", b"\r\n"):
            raise BadRequest("A piece of this request has another length than it says.")
        if end != b"\r\n":
            return b""
        self._at += len(end)
        self._next = "size"
        return end

    def _trailer(self) -> bytes:
        line = self._until(b"\r\n", _LINE_BYTES)
        if _breaks(line):
            raise BadRequest("A header of this request cannot be read.")
        if line == b"\r\n":
            self._next = self._last
        return line

    def _goes_on(self, body: Body) -> None:
        self._next = "size" if body == "chunked" else self._last
        self._left = 0 if isinstance(body, str) else body

    def _until(self, end: bytes, most: int) -> bytes:
        """All up to this and with it, once it is there."""
        found = self._data.find(end, self._at, self._at + most + len(end))
        if found >= 0:
            start, self._at = self._at, found + len(end)
            return self._data[start : self._at]
        line = self._data.find(b"\n", self._at)
        if line > self._at and self._data[line - 1 : line] != b"\r":
            raise BadRequest("A line of this request does not end as lines do.")
        if len(self._data) - self._at > most:
            raise BadRequest(f"A head has no more than {HEAD_BYTES} bytes.")
        return b""


def _breaks(line: bytes) -> bool:
    """Whether somebody less strict may see several lines in it."""
    return b"\n" in line[:-2] or b"\r" in line[:-2]


def _named(host: str) -> str:
    """A host, as a header names it."""
    if set(host.lower()) - _HOST_LETTERS - {"[", "]"}:
        raise BadRequest("This address cannot be read.")
    return _place(f"//{host}", 80)[0]


def _parts(head: bytes) -> tuple[str, str, str, Sequence[tuple[str, str]]]:
    """Method, target, version and headers."""
    try:
        first, *lines = head.decode("ascii").removesuffix("\r\n\r\n").split("\r\n")
        method, target, version = first.split(" ")
    except ValueError:
        raise BadRequest("This is no HTTP request.") from None
    if version not in ("HTTP/1.0", "HTTP/1.1") or not method or set(method) - _METHOD_LETTERS:
        raise BadRequest("This is no HTTP/1 request.")
    if any(ord(letter) in _CONTROLS for line in (target, *lines) for letter in line):
        raise BadRequest("This request has control characters in it.")
    headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or set(name) - _NAME_LETTERS:
            raise BadRequest("A header of this request cannot be read.")
        headers.append((name, value.strip(" \t")))
    return method, target, version, headers


def _body(headers: Sequence[tuple[str, str]]) -> Body:
    coded = [value.lower() for name, value in headers if name.lower() == "transfer-encoding"]
    lengths = [value for name, value in headers if name.lower() == "content-length"]
    if coded == ["chunked"] and not lengths:
        return "chunked"
    if not coded and not lengths:
        return 0
    if coded or len(lengths) > 1 or not lengths[0].isdecimal() or len(lengths[0]) > _DIGITS:
        raise BadRequest("Where this request ends cannot be told.")
    return int(lengths[0])


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


def _rewritten(method: str, target: str, headers: Sequence[tuple[str, str]]) -> bytes:
    parts = urlsplit(target)
    path = parts._replace(scheme="", netloc="", fragment="").geturl()
    path = path if path.startswith("/") else f"/{path}"
    netloc = parts.netloc.rpartition("@")[2]
    kept = [f"{name}: {value}" for name, value in headers]
    kept = [line for line in kept if line.partition(":")[0].lower() not in _BETWEEN_NEIGHBOURS]
    lines = (f"{method} {path} HTTP/1.1", f"Host: {netloc}", *kept, "Connection: close", "", "")
    return "\r\n".join(lines).encode()
