"""Parses the head of a request, and checks that it is well formed."""

import h11
from websockets.datastructures import Headers
from websockets.http11 import Request

from sayso.server.gateway.limits import HEADER_LINE_BYTES, HEADER_LINES


def read(event: h11.Request) -> Request:
    """As the rest of the server reads requests."""
    headers = Headers()
    for name, value in event.headers.raw_items():
        headers[name.decode("latin-1")] = value.decode("latin-1")
    return Request(event.target.decode("ascii"), headers, event.method.decode("ascii"))


def has_body(event: h11.Request) -> bool:
    """Whether a body follows."""
    headers = dict(event.headers)
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


def is_ambiguous(event: h11.Request) -> bool:
    """Whether a proxy before us might take another end for the request's than we do."""
    names = {name for name, _ in event.headers}
    return b"transfer-encoding" in names and (
        b"content-length" in names or event.http_version < b"1.1"
    )


def is_too_large(event: h11.Request) -> bool:
    """Whether a line is too long, or there are too many."""
    lines = [len(event.target), *(len(name) + len(value) for name, value in event.headers)]
    return len(lines) > HEADER_LINES or max(lines) > HEADER_LINE_BYTES
