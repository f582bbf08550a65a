"""Logs in at MCP servers that want OAuth: tokens in a file of its owner's alone, and the browser's
way back to an address of this machine. For the worker process; PKCE and the rest are the SDK's.
"""

import asyncio
import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

BACK: Final = "/back"
VISIT_S: Final = 300.0
"""For a person to log in."""

REQUEST_BYTES: Final = 16_384
"""Of what a browser asks when it comes back."""

_THANKS: Final = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    "Sayso is logged in. You can close this page.\n"
)


class TokenFile:
    """What a server has given us, in a file that its owner alone may read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def get_tokens(self) -> OAuthToken | None:
        kept = self._kept().get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._keep("tokens", tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        kept = self._kept().get("client")
        return OAuthClientInformationFull.model_validate(kept) if kept else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep("client", client_info.model_dump(mode="json", exclude_none=True))

    @property
    def port(self) -> int:
        """Where the browser comes back to: the same again, since it is registered."""
        port = self._kept().get("port")
        if isinstance(port, int):
            return port
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self._keep("port", port)
        return port

    def _kept(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self._path.read_text())
            if isinstance(kept, dict):
                return kept
        return {}

    def _keep(self, name: str, value: object) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=self._path.parent)  # readable by its owner alone
        with os.fdopen(handle, "w") as file:
            json.dump({**self._kept(), name: value}, file)
        Path(draft).replace(self._path)


class WayBack:
    """Waits for the browser after its person has logged in."""

    def __init__(self, port: int, visit: Callable[[str], Awaitable[None]]) -> None:
        self._port = port
        self._visit = visit
        self._server: asyncio.Server | None = None
        self._came: asyncio.Future[AuthorizationCodeResult] | None = None

    async def go(self, address: str) -> None:
        """Send the person there."""
        self._came = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(
            self._take, "127.0.0.1", self._port, limit=REQUEST_BYTES
        )
        try:
            await self._visit(address)
        except BaseException:
            self._server.close()
            raise

    async def come_back(self) -> AuthorizationCodeResult:
        """What the browser brought."""
        if self._server is None or self._came is None:
            raise RuntimeError("nobody was sent")
        async with self._server, asyncio.timeout(VISIT_S):
            return await self._came

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.LimitOverrunError, EOFError):
            words = (await reader.readuntil(b"\r\n")).decode(errors="replace").split()
            address = urlsplit(words[1] if len(words) > 1 else "")
            brought = {name: values[0] for name, values in parse_qs(address.query).items()}
            if address.path == BACK and "code" in brought and self._came:
                writer.write(_THANKS.encode())
                await writer.drain()
                if not self._came.done():
                    kept = {name: brought.get(name) for name in ("code", "state", "iss")}
                    self._came.set_result(AuthorizationCodeResult.model_validate(kept))
        writer.close()


def provider(
    spec: Mapping[str, Any], visit: Callable[[str], Awaitable[None]]
) -> OAuthClientProvider:
    """Logs in where a server asks for it."""
    storage = TokenFile(Path(spec["tokens"]))
    port = storage.port
    back = WayBack(port, visit)
    metadata = OAuthClientMetadata(
        client_name="Sayso", redirect_uris=[AnyUrl(f"http://127.0.0.1:{port}{BACK}")]
    )
    return OAuthClientProvider(spec["url"], metadata, storage, back.go, back.come_back)
