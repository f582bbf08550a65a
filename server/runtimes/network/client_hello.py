"""The first words of a TLS client (RFC 8446, 6066), as far as they say whom it wants to talk to.
Pure.
"""

from collections.abc import Iterator
from typing import Final

HELLO_BYTES: Final = 16 * 1024
"""The longest; with keys against quantum computers they have two thousand."""
EARLY_BYTES: Final = 64 * 1024
"""That may come along before the second one, if a server asks for another."""

HANDSHAKE: Final = 22
_CHANGE_CIPHER, _ALERT, _APPLICATION = 20, 21, 23
_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_RECORD_HEAD: Final = 5
_RECORD_BYTES: Final = 2**14
_MESSAGE_HEAD: Final = 4
_RANDOM_BYTES: Final = 32
_SERVER_NAME: Final = 0
_HIDDEN_NAMES: Final = frozenset((0xFE0D, 0xFFCE, 0xFD00))
"""Encrypted client hello, in its forms: the name that counts is within, and not to be seen."""

_AGAIN: Final = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random bytes by which a server says that it wants another hello."""


class BadHello(Exception):
    """No host name can be read; the message is a clause."""


class ClientHello:
    """One hello, however it is cut into records and pieces."""

    def __init__(self, *, after_another: bool = False) -> None:
        """`after_another`: other records may come before it."""
        self._skipped = (_CHANGE_CIPHER, _APPLICATION) if after_another else ()
        self._most = HELLO_BYTES + (EARLY_BYTES if after_another else 0)
        self._fed = b""
        self._at = 0
        """Where the next record begins."""
        self._message = bytearray()

    @property
    def read(self) -> bytes:
        """All that was read, up to the end of the hello."""
        return self._fed[: self._at]

    @property
    def rest(self) -> bytes:
        """What was fed beyond it."""
        return self._fed[self._at :]

    def feed(self, data: bytes) -> str | None:
        """The name that it asks for, in lower case, empty if it asks for none; None: it is not all
        there. Raises BadHello."""
        self._fed += data
        while (record := self._record()) is not None:
            kind, payload = record
            if kind in self._skipped and not self._message:
                continue
            if kind != HANDSHAKE:
                raise BadHello("it does not begin with a TLS hello")
            self._message += payload
            if (name := _name_in(self._message)) is not None:
                return name
        return None

    def _record(self) -> tuple[int, bytes] | None:
        start = self._at + _RECORD_HEAD
        head = self._fed[self._at : start]
        if start > self._most or head[1:2] not in (b"", b"\x03"):
            raise BadHello("it does not begin with a TLS hello")
        if len(head) < _RECORD_HEAD:
            return None
        length = int.from_bytes(head[3:])
        if not 0 < length <= _RECORD_BYTES or start + length > self._most:
            raise BadHello("it does not begin with a TLS hello")
        if len(self._fed) < start + length:
            return None
        self._at = start + length
        return head[0], self._fed[start : self._at]


def asks_again(answer: bytes) -> bool | None:
    """Whether a server's first bytes ask for a second hello; None: more are needed. Raises
    BadHello."""
    if not answer:
        return None
    if answer[0] == _ALERT:
        return False
    if answer[0] != HANDSHAKE:
        raise BadHello("the server does not answer a TLS hello")
    start = _RECORD_HEAD + _MESSAGE_HEAD + 2
    if len(answer) < start + _RANDOM_BYTES:
        return None
    length = int.from_bytes(answer[3:_RECORD_HEAD])
    if length < start - _RECORD_HEAD + _RANDOM_BYTES or answer[_RECORD_HEAD] != _SERVER_HELLO:
        raise BadHello("the server does not answer a TLS hello")
    return answer[start : start + _RANDOM_BYTES] == _AGAIN


def _name_in(message: bytearray) -> str | None:
    if message[0] != _CLIENT_HELLO:
        raise BadHello("it does not begin with a TLS hello")
    length = int.from_bytes(message[1:_MESSAGE_HEAD])
    if len(message) < _MESSAGE_HEAD:
        return None
    if length > HELLO_BYTES or len(message) > _MESSAGE_HEAD + length:
        raise BadHello("it begins with more than a TLS hello")
    if len(message) < _MESSAGE_HEAD + length:
        return None
    body = _Bytes(bytes(message[_MESSAGE_HEAD:]))
    body.take(2 + _RANDOM_BYTES)
    for width in (1, 2, 1):  # session, ciphers, compressions
        body.take_counted(width)
    extensions = _Bytes(body.take_counted(2))
    if body.left:
        raise BadHello("its TLS hello cannot be read")
    found = dict(_extensions(extensions))
    if found.keys() & _HIDDEN_NAMES:
        raise BadHello("its TLS hello hides the name that it asks for")
    return _host(_Bytes(found[_SERVER_NAME])) if _SERVER_NAME in found else ""


def _extensions(data: "_Bytes") -> Iterator[tuple[int, bytes]]:
    known = set()
    while data.left:
        kind = int.from_bytes(data.take(2))
        if kind in known:
            raise BadHello("its TLS hello cannot be read")
        known.add(kind)
        yield kind, data.take_counted(2)


def _host(extension: "_Bytes") -> str:
    names = _Bytes(extension.take_counted(2))
    kind, name = names.take(1), names.take_counted(2)
    if extension.left or names.left or kind != b"\0" or not name or not name.isascii():
        raise BadHello("its TLS hello cannot be read")
    return name.decode().lower().rstrip(".")


class _Bytes:
    """Bytes that are taken from the front. Raises BadHello where there are too few."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, length: int) -> bytes:
        if length > self.left:
            raise BadHello("its TLS hello cannot be read")
        self._at += length
        return self._data[self._at - length : self._at]

    def take_counted(self, width: int) -> bytes:
        """So many bytes as the first ones say."""
        return self.take(int.from_bytes(self.take(width)))
