"""Lists, pairs and revokes devices for the owner, by requests to the server over its socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidURI, WebSocketException

from sayso.client.errors import ClientError
from sayso.client.identity.known_server import Credentials
from sayso.client.session.disconnect import judge
from sayso.protocol.codec import MAX_TEXT_BYTES, Envelope, Unknown, decode, encode
from sayso.protocol.errors import HomeError, ProtocolError
from sayso.protocol.messages import (
    NAMES,
    Devices,
    Error,
    FromClient,
    Hello,
    Message,
    PairingDone,
    PairingOpened,
    Ping,
    Pong,
    Welcome,
)
from sayso.protocol.version import SPOKEN

READY_SECONDS = 30.0
"""Until a server that is just starting has loaded its models."""
ANSWER_SECONDS = 10.0

WANTS = tuple(NAMES[kind] for kind in (Devices, PairingOpened, PairingDone))
"""Who wants nothing else takes no part in a conversation."""


class DeviceAdminFailed(ClientError):
    """The server could not be asked, or would not. The sentence says why."""


class DeviceAdmin:
    """A line to the server, about its devices."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def ask(self, message: FromClient) -> Message:
        """Sends, and waits for the answer."""
        await self._socket.send(encode(Envelope(message)))
        async with asyncio.timeout(ANSWER_SECONDS):
            return await self.next()

    async def next(self) -> Message:
        """Waits for what the server says next."""
        while True:
            message = decode(await self._socket.recv()).message
            match message:
                case Error():
                    raise DeviceAdminFailed(message.message)
                case Ping(id=number):
                    await self._socket.send(encode(Envelope(Pong(number))))
                case Devices() | PairingOpened() | PairingDone() | Welcome():
                    return message
                case Unknown() | _:
                    pass


@asynccontextmanager
async def administering(server: str) -> AsyncIterator[DeviceAdmin]:
    """Calls the server. Every trouble on the line is an AdministeringFailed."""
    credentials = Credentials(server)
    token = credentials.token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with connect(
            server,
            additional_headers=headers,
            ssl=credentials.context(),
            create_connection=credentials.connection,
            compression=None,
            proxy=None,
            max_size=MAX_TEXT_BYTES,
        ) as socket:
            caller = DeviceAdmin(socket)
            hello = Hello(SPOKEN, f"sayso-pair {version('sayso')}", "pair", wants=WANTS)
            async with asyncio.timeout(READY_SECONDS):
                await socket.send(encode(Envelope(hello)))
                await caller.next()
            yield caller
    except (OSError, HomeError, InvalidURI, WebSocketException, ProtocolError) as error:
        raise DeviceAdminFailed(judge(error, server).reason) from error
    except TypeError as error:
        raise DeviceAdminFailed(f"What answers at {server} is not a Sayso server.") from error
