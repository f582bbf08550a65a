"""Logs in at MCP servers that want OAuth: a person by their browser, which comes back to an address
of this machine, or Sayso by itself with what was registered by hand. For the worker process; PKCE
and the rest are the SDK's.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import issuers_match
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl

from sayso.server.capabilities.mcp.worker.token_file import TokenFile

BACK: Final = "/back"
VISIT_S: Final = 300.0
"""For a person to log in."""

REQUEST_BYTES: Final = 16_384
"""Of what a browser asks when it comes back."""

_THANKS: Final = (
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    "Sayso is logged in. You can close this page.\n"
)


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


class PersonLogin(OAuthClientProvider):
    """Logs a person in, and keeps where the tokens are renewed, so that a restart needs no login.

    `registered`: what was registered by hand. It is shown to its own authorization server alone.
    """

    def __init__(
        self,
        url: str,
        metadata: OAuthClientMetadata,
        tokens: TokenFile,
        back: WayBack,
        *,
        registered: OAuthClientInformationFull | None,
        document: str | None,
    ) -> None:
        super().__init__(url, metadata, tokens, back.go, back.come_back, document)
        self._tokens = tokens
        self._registered = registered

    async def _initialize(self) -> None:
        await super()._initialize()
        self.context.token_expiry_time = self._tokens.expires
        self.context.oauth_metadata = self._tokens.authorization_server
        self.context.protected_resource_metadata = self._tokens.resource
        if self._registered:
            self.context.client_info = self._registered

    def _select_authorization_server(self, advertised: list[str]) -> str:
        issuer = self._registered.issuer if self._registered else None
        fitting = (each for each in advertised if issuer and issuers_match(each, issuer))
        return next(fitting, advertised[0])

    async def _perform_authorization(self) -> httpx2.Request:
        if self._registered:
            _hold(self.context, self._registered)
        return await super()._perform_authorization()

    async def _refresh_token(self) -> httpx2.Request:
        if self._registered:
            _hold(self.context, self._registered)
        return await super()._refresh_token()

    async def _handle_token_response(self, response: httpx2.Response) -> None:
        await super()._handle_token_response(response)
        self._tokens.keep_places(
            self.context.oauth_metadata, self.context.protected_resource_metadata
        )


class SecretLogin(ClientCredentialsOAuthProvider):
    """Logs Sayso in by a secret, sent in the way that the authorization server takes."""

    async def _exchange_token_client_credentials(self) -> httpx2.Request:
        if self.context.client_info:
            _fit(self.context, self.context.client_info)
        return await super()._exchange_token_client_credentials()


def _hold(context: OAuthContext, registered: OAuthClientInformationFull) -> None:
    """Use what was registered by hand where it belongs. Raises OAuthFlowError elsewhere."""
    there = context.oauth_metadata
    issuer = registered.issuer
    if issuer and not (there and issuers_match(str(there.issuer), issuer)):
        context.clear_tokens()
        leads = f"leads to {there.issuer}" if there else "names no authorization server"
        raise OAuthFlowError(f"It {leads}, and your client_id belongs to {issuer}.")
    context.client_info = registered
    _fit(context, registered)


def _fit(context: OAuthContext, client: OAuthClientInformationFull) -> None:
    """Send a secret in the way that the authorization server says that it takes."""
    there = context.oauth_metadata
    taken = there.token_endpoint_auth_methods_supported if there else None
    if client.client_secret:
        basic = taken is None or "client_secret_basic" in taken
        client.token_endpoint_auth_method = f"client_secret_{'basic' if basic else 'post'}"


def _signed_by(key: str) -> str:
    """The algorithm by which a private key signs. Raises ValueError."""
    match load_pem_private_key(key.encode(), None):
        case Ed25519PrivateKey():
            return "EdDSA"
        case EllipticCurvePrivateKey() as curved:
            return {256: "ES256", 384: "ES384"}.get(curved.curve.key_size, "ES512")
        case _:
            return "RS256"


def provider(
    spec: Mapping[str, Any], visit: Callable[[str], Awaitable[None]]
) -> OAuthClientProvider:
    """Logs in where a server asks for it."""
    url, login = str(spec["url"]), spec["login"]
    client_id, issuer, scope = login["client_id"], login["issuer"], login["scope"] or None
    tokens = TokenFile(Path(spec["tokens"]), client_id)
    if login["key"]:
        signing = SignedJWTParameters(
            issuer=client_id,
            subject=client_id,
            signing_key=login["key"],
            signing_algorithm=_signed_by(login["key"]),
        )
        signed = signing.create_assertion_provider()
        return PrivateKeyJWTOAuthProvider(url, tokens, client_id, signed, scope, issuer)
    if login["grant"] == "client_credentials":
        return SecretLogin(url, tokens, client_id, login["secret"], scope=scope, issuer=issuer)
    port = login["port"] or tokens.port
    redirect = [AnyUrl(f"http://127.0.0.1:{port}{BACK}")]
    metadata = OAuthClientMetadata(client_name="Sayso", redirect_uris=redirect)
    document = client_id if client_id.startswith("https://") else None
    registered = None
    if client_id and not document:
        registered = OAuthClientInformationFull(
            client_id=client_id,
            client_secret=login["secret"] or None,
            redirect_uris=redirect,
            issuer=issuer or None,
        )
    back = WayBack(port, visit)
    return PersonLogin(url, metadata, tokens, back, registered=registered, document=document)
