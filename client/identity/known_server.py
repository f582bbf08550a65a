"""Keeps the server that this device was paired with: its address, its authority, and our token.

One small file that only its owner can read. The server must prove to be of the authority (CA) in
it before anything secret is sent, so another program at its address learns nothing.
"""

import json
import os
import secrets
import ssl
import stat
from contextlib import suppress
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection

from sayso.client.errors import ClientError
from sayso.protocol.home import Home, read_token
from sayso.protocol.own_server import check

LARGEST_BYTES = 16_384
"""Of the file: a certificate and a token are two thousand."""


class NotPaired(ClientError):
    """The server can't be shown who we are. The sentence says what to do."""


@dataclass(frozen=True, slots=True)
class KnownServer:
    """A server that knows this device."""

    url: str
    authority: str
    """The server's authority (PEM)."""
    token: str
    device: str
    """What this device is called there."""

    def context(self) -> ssl.SSLContext:
        """TLS to this server and no other. Its authority signs for nothing else, so it is known by
        that, whatever its address has become."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=self.authority)
        return context


class OwnConnection(ClientConnection):
    """A WebSocket to a server of our own user's on this machine: any other is shown nothing."""

    async def handshake(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - the library's
        """Say who we are, to whom it may be said. Raises ForeignServerError."""
        line = self.transport.get_extra_info("socket")
        check(line.getsockname(), line.getpeername())
        await super().handshake(*given, **named)


@dataclass(frozen=True, slots=True)
class Credentials:
    """How one server is shown who we are; asked anew for each connection."""

    server: str

    def token(self) -> str | None:
        """What it is shown. None: there is nothing to show yet."""
        if is_near(self.server):
            return read_token(Home.find())
        return self._acquaintance().token

    def context(self) -> ssl.SSLContext | None:
        """How it is recognised; none on this machine, where nobody stands between."""
        if is_near(self.server):
            return None
        return self._acquaintance().context()

    @property
    def connection(self) -> type[ClientConnection]:
        """How a WebSocket to it is made."""
        return OwnConnection if is_near(self.server) else ClientConnection

    def _acquaintance(self) -> KnownServer:
        parts = urlsplit(self.server)
        if "://" not in self.server:
            raise NotPaired(
                f"{self.server} is no address: write ws://{self.server} for this machine, and "
                f"wss://{self.server} for another one."
            )
        if parts.scheme not in {"wss", "https"}:
            raise NotPaired(
                f"{self.server} would carry your voice and your token in the open: pair this "
                "device with `sayso pair join`, or use a tunnel such as ssh -L."
            )
        known = read(Home.find())
        if known is None or urlsplit(known.url).netloc != parts.netloc:
            raise NotPaired(
                f"This device is not paired with {parts.netloc}: run `sayso pair` on the server's "
                "machine, and `sayso pair join` here."
            )
        return known


def is_near(server: str) -> bool:
    """Whether an address leads to this machine, unencrypted."""
    parts = urlsplit(server)
    if parts.scheme not in {"ws", "http"}:
        return False
    if parts.hostname == "localhost":
        return True
    try:
        return ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


def file_of(home: Home) -> Path:
    """Where the acquaintance is kept."""
    return home.state / "server.json"


def read(home: Home) -> KnownServer | None:
    """The server that this device was paired with; none if it was not. Raises NotAcquainted."""
    path = file_of(home)
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read(LARGEST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NotPaired(f"{path} can't be read: {error.strerror}.") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise NotPaired(f"Others can reach the token in {path}: run `chmod 600 '{path}'`.")
    known = parse(content)
    if known is None:
        raise NotPaired(f"{path} is damaged: delete it and pair this device again.")
    return known


def parse(content: bytes) -> KnownServer | None:
    """What such a file holds. None: it is damaged."""
    try:
        known = KnownServer(**json.loads(content))
    except (ValueError, TypeError):
        return None
    return known if all(isinstance(value, str) for value in asdict(known).values()) else None


def write(home: Home, known: KnownServer) -> None:
    """Keep it, in place of the one before. Raises NotAcquainted."""
    write_to(file_of(home), known)


def write_to(path: Path, known: KnownServer) -> None:
    """Write it into a file that only its owner can read, where the file system knows owners."""
    draft = path.with_name(f".server-{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(known), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        # The name as well: what it was handed over in is removed next, and the power may go.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise NotPaired(f"{path} can't be written: {error.strerror}.") from None
