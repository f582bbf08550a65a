"""Keeps what an authorization server has given us, in a file that its owner alone may read."""

import contextlib
import json
import os
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)


class TokenFile:
    """Of one MCP server; what was given to another client than this one counts for nothing."""

    def __init__(self, path: Path, client_id: str = "") -> None:
        """`client_id`: the one of the settings; empty where Sayso registers itself."""
        self._path = path
        self._client_id = client_id

    async def get_tokens(self) -> OAuthToken | None:
        kept = self._kept().get("tokens")
        return OAuthToken.model_validate(kept) if kept else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        self._keep(tokens=tokens.model_dump(mode="json", exclude_none=True), expires=expires)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        kept = self._kept().get("client")
        return OAuthClientInformationFull.model_validate(kept) if kept else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._keep(client=client_info.model_dump(mode="json", exclude_none=True))

    @property
    def expires(self) -> float | None:
        """When the tokens do, in Unix seconds."""
        expires = self._kept().get("expires")
        return expires if isinstance(expires, int | float) else None

    @property
    def authorization_server(self) -> OAuthMetadata | None:
        """What gave them, as it described itself then."""
        kept = self._kept().get("authorization_server")
        return OAuthMetadata.model_validate(kept) if kept else None

    @property
    def resource(self) -> ProtectedResourceMetadata | None:
        """What they are for, as it described itself then."""
        kept = self._kept().get("resource")
        return ProtectedResourceMetadata.model_validate(kept) if kept else None

    def keep_places(
        self, server: OAuthMetadata | None, resource: ProtectedResourceMetadata | None
    ) -> None:
        """Keep where the tokens are from."""
        self._keep(
            authorization_server=server.model_dump(mode="json", exclude_none=True)
            if server
            else None,
            resource=resource.model_dump(mode="json", exclude_none=True) if resource else None,
        )

    @property
    def port(self) -> int:
        """Where the browser comes back to: the same again, since it is registered."""
        port = self._kept().get("port")
        if isinstance(port, int):
            return port
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
        self._keep(port=port)
        return port

    def _kept(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self._path.read_text())
            if isinstance(kept, dict):
                same = kept.get("client_id", "") == self._client_id
                return kept if same else {"port": kept.get("port")}
        return {}

    def _keep(self, **values: object) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=self._path.parent)  # readable by its owner alone
        with os.fdopen(handle, "w") as file:
            json.dump({**self._kept(), "client_id": self._client_id, **values}, file)
        Path(draft).replace(self._path)
