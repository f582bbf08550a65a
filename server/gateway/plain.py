"""Answers to plain requests: each says what it is, and no browser keeps or frames it."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

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
    "Cache-Control": "no-store",
}

AUTHORITY = "application/x-x509-ca-cert"
"""The type of a certificate that a person may choose to trust."""


def answered(kind: str, body: str | bytes) -> Response:
    """What was asked for."""
    return _response(HTTPStatus.OK, kind, body)


def answered_json(body: Mapping[str, Any]) -> Response:
    """What was asked for, as JSON."""
    return answered("application/json", json.dumps(body))


def refused(status: HTTPStatus, sentence: str) -> Response:
    """Why there is no answer."""
    return _response(status, "text/plain", sentence + "\n")


def _response(status: HTTPStatus, kind: str, body: str | bytes) -> Response:
    data = body.encode() if isinstance(body, str) else body
    headers = Headers(PAGE_HEADERS)
    headers["Content-Type"] = kind
    headers["Content-Length"] = str(len(data))
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, data)
