"""What a hostile client may send, and with which code its connection is then closed."""

import struct
import zlib


def frame(opcode: int, payload: bytes, *, length: int | None = None, flags: int = 0x80) -> bytes:
    """A WebSocket frame with a mask of zeros, as raw as one wants it."""
    size = len(payload) if length is None else length
    return struct.pack("!BBQ", flags | opcode, 0x80 | 127, size) + bytes(4) + payload


HOSTILE = {
    "200 MB announced": (frame(1, b"x", length=200 * 2**20), 1009),
    "a length beyond all": (frame(2, b"x", length=2**63 - 1), 1009),
    "another mask than it says": (struct.pack("!BBI", 0x81, 0x82, 0x5A5A5A5A) + b"{}", 1007),
    "no mask": (struct.pack("!BB", 0x81, 2) + b"hi", 1002),
    "reserved bits": (frame(1, b"hi", flags=0xF0), 1002),
    "compressed": (frame(1, zlib.compress(b" " * 50_000_000), flags=0xC0), 1002),
    "an unknown opcode": (frame(5, b"hi"), 1002),
    "a long ping": (frame(9, bytes(500)), 1002),
    "text that is no text": (frame(1, b'{"t":"\xc3\x28"}'), 1007),
    "half a letter": (frame(1, "{“".encode()[:-1]), 1007),
    "deep json": (frame(1, b'{"t":' + b"[" * 30_000), 1007),
    "a continuation of nothing": (frame(0, b"hi"), 1002),
    "a close with half a code": (frame(8, b"\x03"), 1002),
}

SLOW = {
    "nothing": b"",
    "a letter": b"G",
    "a line": b"GET /ws HTTP/1.1\r\n",
    "half a header": b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
}
"""Handshakes that never end."""

ABSURD = {
    "headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "path": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
    "header": b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    "body": b"POST /ws HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    "garbage": bytes(range(256)) * 100,
}
"""Requests that nobody makes."""
