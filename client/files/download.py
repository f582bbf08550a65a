"""Downloads files of any size from the server over HTTP, piece by piece, and saves them."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from sayso.client.errors import ClientError
from sayso.client.identity.known_server import Credentials
from sayso.protocol.errors import HomeError
from sayso.protocol.own_server import OwnServerConnection

PIECE_BYTES = 65_536
REFUSAL_BYTES = 200
"""Of the sentence with which a server refuses."""
CUT_OFF = "The connection broke before all of it was here; try again."


class FileLost(ClientError):
    """It could not be fetched or kept. The text says why."""


def pieces(credentials: Credentials, path: str, patience_s: float) -> Iterator[bytes]:
    """What lies under a path. Raises FileLost, also if it does not come whole.

    `patience_s`: for each piece.
    """
    with _answer(credentials, path, patience_s) as answer:
        try:
            while piece := answer.read(PIECE_BYTES):
                yield piece
        except (OSError, http.client.HTTPException) as error:
            raise FileLost(CUT_OFF) from error
        if answer.length:
            raise FileLost(CUT_OFF)


def write_whole(path: Path, coming: Iterable[bytes | bytearray]) -> None:
    """All of it, or nothing. Raises OSError, FileExistsError where there is something already."""
    file = path.open("xb")
    try:
        with file:
            file.writelines(coming)
    except BaseException:
        path.unlink()
        raise


def _answer(credentials: Credentials, path: str, patience_s: float) -> http.client.HTTPResponse:
    request = urllib.request.Request(_address(credentials.server, path))  # noqa: S310 (ours)
    if proof := credentials.token():
        request.add_header("Authorization", f"Bearer {proof}")
    # No proxy: the server is at home, and the token must not go elsewhere.
    tls = urllib.request.HTTPSHandler(context=credentials.context())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Near(), tls)
    try:
        return cast("http.client.HTTPResponse", opener.open(request, timeout=patience_s))
    except urllib.error.HTTPError as error:
        raise FileLost(_refusal(error)) from error
    except HomeError as error:
        raise FileLost(str(error)) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise FileLost(f"The server cannot be reached: {reason}.") from error


class _Near(urllib.request.HTTPHandler):
    """Without TLS a server is on this machine, and must be ours."""

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open it. Raises ForeignServerError."""
        return self.do_open(OwnServerConnection, req)


def _refusal(error: urllib.error.HTTPError) -> str:
    with error, suppress(OSError, http.client.HTTPException):
        if said := error.read(REFUSAL_BYTES).decode("utf-8", "replace").strip():
            return said
    return str(error.reason)


def _address(server: str, path: str) -> str:
    parts = urlsplit(server)
    scheme = "https" if parts.scheme == "wss" else "http"
    return urlunsplit((scheme, parts.netloc, path, "", ""))
