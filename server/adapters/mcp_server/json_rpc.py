"""Reads and writes the messages of MCP: JSON-RPC 2.0, one message at a time. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sayso.protocol.untrusted_json import UntrustedJsonError, read_json

PARSE_ERROR: Final = -32_700
INVALID_REQUEST: Final = -32_600
METHOD_NOT_FOUND: Final = -32_601
INVALID_PARAMS: Final = -32_602

Json = Mapping[str, Any]


class RpcError(Exception):
    """A request cannot be answered. The text tells the client's person why."""

    def __init__(self, code: int, sentence: str, request_id: str | int | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """What a client wants."""

    method: str
    params: Json
    id: str | int | None
    """None: it wants no answer."""

    @property
    def progress_token(self) -> str | int | None:
        """With which it wants to be told how it goes on; None: it does not."""
        meta = self.params.get("_meta")
        token = meta.get("progressToken") if isinstance(meta, dict) else None
        return token if isinstance(token, str | int) else None


def read_request(body: bytes) -> RpcRequest | None:
    """What a body asks; None where it is an answer to something. Raises RpcError."""
    try:
        value = read_json(body.decode(), control_characters=True)
    except (UnicodeDecodeError, UntrustedJsonError) as error:
        raise RpcError(PARSE_ERROR, f"The body must be one JSON object: {error}.") from None
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "The body must be one JSON-RPC 2.0 message.")
    if "method" not in value and ("result" in value or "error" in value):
        return None
    request_id, params = value.get("id"), value.get("params", {})
    known = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    if not isinstance(value.get("method"), str) or not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "The message needs a method, and parameters by name.")
    if "id" in value and not known:
        raise RpcError(INVALID_REQUEST, "The id must be a text or a whole number.")
    return RpcRequest(value["method"], params, request_id)


def answer(request: RpcRequest, result: Json) -> Json:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def failure(error: RpcError) -> Json:
    """Why there is none."""
    problem = {"code": error.code, "message": str(error)}
    return {"jsonrpc": "2.0", "id": error.request_id, "error": problem}


def progress(token: str | int, step: int, sentence: str) -> Json:
    """How something goes on."""
    params = {"progressToken": token, "progress": step, "message": sentence}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
