"""Builds HTTP responses: each names its type, and forbids browsers to cache or frame it."""

import json
import re
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http import HTTPStatus
from io import SEEK_END, BytesIO
from typing import Any, BinaryIO

from websockets.datastructures import Headers
from websockets.http11 import Response

PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",
}

FRAME_HEADERS = PAGE_HEADERS | {
    "Permissions-Policy": "microphone=(), camera=(), geolocation=()",
    "X-Frame-Options": "SAMEORIGIN",
}
"""For the frame in which the page shows HTML that code made."""

AUTHORITY = "application/x-x509-ca-cert"
"""The type of a certificate that a person may choose to trust."""


def answered(kind: str, body: str | bytes) -> Response:
    """What was asked for."""
    return _response(HTTPStatus.OK, kind, body)


def answered_packed(response: Response, packed: bytes) -> Response:
    """The same content, packed with gzip. Only for what holds no secret: how well something packs
    tells what is in it."""
    response.body = packed
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Vary"] = "Accept-Encoding"
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(packed))
    return response


def takes_gzip(accepted: str) -> bool:
    """Whether a client takes it, by its `Accept-Encoding`."""
    for part in accepted.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "").rstrip("0.") != "q="
    return False


@dataclass
class FileResponse(Response):
    """Its body is read while it is sent, however large it is."""

    file: BinaryIO = field(default_factory=BytesIO)
    size: int = 0
    """So much of it is promised."""


async def _no_pieces() -> AsyncIterator[bytes]:
    return
    yield


@dataclass
class StreamedResponse(Response):
    """Its body is made while it is sent, however long that takes."""

    pieces: AsyncIterator[bytes] = field(default_factory=_no_pieces)
    beat: bytes = b""
    """Sent now and then while nothing else is, so that a client that is gone is noticed."""


def answered_stream(kind: str, pieces: AsyncIterator[bytes], beat: bytes = b"") -> StreamedResponse:
    """The content, piece by piece; the sender closes it, whether it is finished or not."""
    headers = Headers(PAGE_HEADERS)
    headers["Content-Type"] = kind
    status = HTTPStatus.OK
    return StreamedResponse(status.value, status.phrase, headers, pieces=pieces, beat=beat)


def answered_events(events: AsyncIterator[bytes]) -> StreamedResponse:
    """Server-sent events, each made by `event`."""
    return answered_stream("text/event-stream", events, beat=b":\n\n")


def event(data: str, name: str = "") -> bytes:
    """One server-sent event, whatever its data holds."""
    lines = [f"event: {name}"] if name else []
    lines += [f"data: {line}" for line in re.split("\r\n|\r|\n", data)]
    return ("\n".join(lines) + "\n\n").encode()


def answered_file(kind: str, file: BinaryIO) -> FileResponse:
    """The content, as long as it is now; the sender closes it."""
    size = file.seek(0, SEEK_END)
    file.seek(0)
    headers = _headers(kind, size)
    return FileResponse(HTTPStatus.OK, HTTPStatus.OK.phrase, headers, file=file, size=size)


def answered_frame(kind: str, body: bytes) -> Response:
    """What is shown in the frame has its own looks, but none of its own scripts; it is of another
    origin than the page, and reaches nothing."""
    script = body.partition(b"<script>")[2].partition(b"</script>")[0]
    digest = b64encode(sha256(script).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; "
        "sandbox allow-scripts"
    )
    headers = FRAME_HEADERS | {"Content-Security-Policy": policy}
    return _response(HTTPStatus.OK, kind, body, headers)


def answered_json(body: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Response:
    """What was asked for, as JSON; or, with another status, why it was not done."""
    return _response(status, "application/json", json.dumps(body))


def refused(status: HTTPStatus, sentence: str) -> Response:
    """Why there is no answer."""
    return _response(status, "text/plain", sentence + "\n")


def _response(
    status: HTTPStatus, kind: str, body: str | bytes, fixed: Mapping[str, str] = PAGE_HEADERS
) -> Response:
    data = body.encode() if isinstance(body, str) else body
    return Response(status.value, status.phrase, _headers(kind, len(data), fixed), data)


def _headers(kind: str, size: int, fixed: Mapping[str, str] = PAGE_HEADERS) -> Headers:
    headers = Headers(fixed)
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(size)
    return headers
