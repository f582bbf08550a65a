"""Pairs this device: makes sure that it is the right server, and only then shows it the code.

    1  fetch the certificate of the server's authority           nothing of ours is sent
    2  compare its fingerprint with the one in the QR's URL, or have a person compare the words
    3  connect again, so that the other end must prove to be of that authority
    4  show the code, and keep the token that comes back

Who merely sits at the address has the authority's certificate, which is no secret, but not its key,
and fails at step 3.
"""

import asyncio
import http.client
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from sayso.client.errors import ClientError
from sayso.client.identity.known_server import KnownServer
from sayso.protocol.codec import MAX_TEXT_BYTES, Envelope, decode, encode
from sayso.protocol.errors import ProtocolError
from sayso.protocol.fingerprint import is_of, words
from sayso.protocol.home import DEFAULT_NETWORK_PORT, WEBSOCKET_PATH
from sayso.protocol.messages import Error, Pair, Paired

ANSWER_SECONDS = 10.0
"""For each step; a wrong code is answered after some seconds."""
LARGEST_CERTIFICATE = 16_384
"""Bytes; the authority's has one thousand."""


class PairingFailed(ClientError):
    """This device was not paired. The sentence says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Met:
    """A server that was met, and is not trusted yet."""

    address: str
    """Host and port."""
    authority: bytes
    """Of what it says is its authority: the certificate (DER)."""

    @property
    def words(self) -> str:
        """To be compared with those that the server shows."""
        return words(self.authority)

    def check(self, expected: str) -> None:
        """Raises PairingFailed unless this is the server with the fingerprint from the QR."""
        if not is_of(self.authority, expected):
            raise PairingFailed(
                f"What answers at {self.address} is not the server that showed you the code. "
                "Nothing was sent to it. Are you in the same network as the server?"
            )


def meet(address: str) -> Met:
    """Step 1. Waits for the network. Raises PairingFailed."""
    parts = urlsplit(f"//{address}")
    host, port = parts.hostname or "", parts.port or DEFAULT_NETWORK_PORT
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Nothing is trusted yet, and nothing secret is sent.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    call = http.client.HTTPSConnection(host, port, timeout=ANSWER_SECONDS, context=context)
    netloc = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        call.request("GET", "/ca.crt")
        answer = call.getresponse()
        content = answer.read(LARGEST_CERTIFICATE)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or "it does not answer as one"
        raise PairingFailed(
            f"No Sayso server for other devices is at {netloc} ({reason}): is it running with "
            "`sayso serve --network`?"
        ) from error
    finally:
        call.close()
    if answer.status != http.client.OK or not content:
        raise PairingFailed(
            f"The server at {netloc} is not called so (HTTP {answer.status}): use the address that "
            "`sayso pair` shows, or add the name to its `listen.names`."
        )
    return Met(netloc, content)


async def join(met: Met, code: str, name: str) -> KnownServer:
    """Steps 3 and 4. Raises PairingFailed."""
    url = f"wss://{met.address}{WEBSOCKET_PATH}"
    try:
        authority = ssl.DER_cert_to_PEM_cert(met.authority)
        context = KnownServer(url, authority, "", "").context()
    except (ValueError, ssl.SSLError) as error:
        raise PairingFailed(f"What {met.address} calls its certificate is none.") from error
    paired = await show_code(url, context, code, name)
    return KnownServer(url, authority, paired.token, paired.device)


async def show_code(url: str, context: ssl.SSLContext | None, code: str, name: str) -> Paired:
    """Step 4, with a server that is trusted or on this machine. Raises PairingFailed."""
    there = urlsplit(url).netloc
    try:
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            connect(
                url, ssl=context, compression=None, proxy=None, max_size=MAX_TEXT_BYTES
            ) as socket,
        ):
            await socket.send(encode(Envelope(Pair(code, name))))
            answer = decode(await socket.recv()).message
    except ssl.SSLError as error:
        raise PairingFailed(
            f"What answers at {there} can't prove that it is the server. The code was not "
            "sent. Are you in the same network as the server?"
        ) from error
    except (OSError, TimeoutError, WebSocketException, ProtocolError, TypeError) as error:
        raise PairingFailed(f"The server at {there} broke off: try again.") from error
    match answer:
        case Paired():
            return answer
        case Error(message=message):
            raise PairingFailed(message)
        case _:
            raise PairingFailed(f"What answers at {there} is not a Sayso server.")
