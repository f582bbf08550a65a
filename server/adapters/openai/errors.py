"""Errors as clients of the OpenAI API read them.

A client repeats a request by itself at 408, 409, 429 and 5xx, so once work may have begun an error
is a 400, or stands in the stream.
"""

from http import HTTPStatus
from typing import Any

from websockets.http11 import Response

from sayso.server.gateway.http.responses import answered_json


class BadRequest(Exception):
    """Nothing was done. The text tells the client's person what to change."""

    def __init__(self, sentence: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(sentence)
        self.status = status


def error_body(sentence: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    """An error as JSON."""
    return {"error": {"message": sentence, "type": kind, "param": None, "code": None}}


def answered_error(error: BadRequest) -> Response:
    """The same as a response."""
    return answered_json(error_body(str(error)), error.status)
