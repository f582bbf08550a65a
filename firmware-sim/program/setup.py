"""Sets the device up: joins the network, finds the server, learns its words, gets paired."""

import asyncio
import base64
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sayso.firmware_sim.hardware.memory import JSON_BYTES
from sayso.firmware_sim.hardware.nvs import Stored
from sayso.firmware_sim.hardware.radio import trust
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.fingerprint import words
from sayso.protocol.home import DEFAULT_NETWORK_PORT, DEFAULT_PORT, WEBSOCKET_PATH
from sayso.protocol.messages import Error, Pair, Paired

WAIT_S = 5.0
ANSWER_BYTES = 8_192
"""Of an HTTP answer: a certificate takes less than two thousand."""


class SetupFailed(Exception):
    """One sentence for the person: what is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """A server that answers, and by what it is known."""

    network: str
    password: str
    url: str
    authority: bytes
    """DER; empty on a line that needs none."""
    words: str
    """To be compared by a person."""


class Setup:
    """Knows which networks are in the air."""

    def __init__(self, networks: Mapping[str, str]) -> None:
        """Each network's name and its password."""
        self.networks = networks

    async def find(self, network: str, password: str, server: str) -> Found:
        """Join, and look who answers at the address. Raises SetupFailed."""
        if network not in self.networks:
            raise SetupFailed(f"There is no network {network!r} here; choose another one.")
        if password != self.networks[network]:
            raise SetupFailed(f"{network} does not take this password; type it again.")
        host, port, secure = _address(server)
        context = _any_certificate() if secure else None
        if await _get(host, port, "/ping", context) != b"pong":
            raise SetupFailed(
                f"What answers at {server} is no Sayso server; look at the address on its screen."
            )
        authority = await _get(host, port, "/ca.crt", context) if secure else b""
        if authority.startswith(b"-----BEGIN"):
            authority = ssl.PEM_cert_to_DER_cert(authority.decode("ascii", "replace"))
        scheme = "wss" if secure else "ws"
        url = f"{scheme}://{host}:{port}{WEBSOCKET_PATH}"
        return Found(network, password, url, authority, words(authority) if authority else "")

    async def pair(self, found: Found, name: str, code: str) -> Stored:
        """Show the code to the server that the person has compared. Raises SetupFailed."""
        authority = base64.b64encode(found.authority).decode()
        context = trust(authority) if authority else None
        try:
            async with (
                asyncio.timeout(WAIT_S),
                connect(
                    found.url, ssl=context, proxy=None, compression=None, max_size=JSON_BYTES
                ) as socket,
            ):
                await socket.send(encode(Envelope(Pair(code.strip(), name))))
                answer = decode(await socket.recv(), max_bytes=JSON_BYTES).message
        except (OSError, TimeoutError, WebSocketException, ProtocolError) as problem:
            raise SetupFailed(
                f"The server could not be talked to ({problem}); try again."
            ) from problem
        match answer:
            case Paired(token=token, device=device):
                return Stored(device, found.network, found.password, found.url, authority, token)
            case Error(message=message):
                raise SetupFailed(message)
            case _:
                raise SetupFailed("The server gave no answer that makes sense; update it.")


def _address(server: str) -> tuple[str, int, bool]:
    """Host, port, and whether the line must be secure: everywhere but on this machine."""
    given = server.strip()
    parts = urlsplit(given if "://" in given else f"//{given}")
    host = parts.hostname or ""
    near = host in {"127.0.0.1", "localhost", "::1"}
    secure = parts.scheme in {"https", "wss"} or (not near and parts.scheme == "")
    try:
        port = parts.port or (DEFAULT_NETWORK_PORT if secure else DEFAULT_PORT)
    except ValueError:
        port = 0
    if not host or not port:
        raise SetupFailed(
            f"{given!r} is no address; write it as sayso.local:{DEFAULT_NETWORK_PORT}."
        )
    if not secure and not near:
        raise SetupFailed("Only a server on this machine is spoken to without TLS; use https://.")
    return host, port, secure


def _any_certificate() -> ssl.SSLContext:
    """For the first look only: nothing secret is said, and the words are compared after it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


async def _get(host: str, port: int, path: str, context: ssl.SSLContext | None) -> bytes:
    """The body of a plain GET; empty if it is not there. Raises SetupFailed."""
    try:
        async with asyncio.timeout(WAIT_S):
            reader, writer = await asyncio.open_connection(host, port, ssl=context)
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode()
            )
            answer = await reader.read(ANSWER_BYTES)
            while len(answer) < ANSWER_BYTES and (more := await reader.read(ANSWER_BYTES)):
                answer += more
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    except (OSError, TimeoutError) as problem:
        raise SetupFailed(
            f"Nobody answers at {host}:{port}; is the server on, and is this its address?"
        ) from problem
    head, _, body = answer.partition(b"\r\n\r\n")
    return body if b" 200 " in head.split(b"\r\n", 1)[0] + b" " else b""
