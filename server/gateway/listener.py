"""The open door: listens on loopback, and keeps count of who is in."""

import logging
import secrets

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from sayso.protocol import messages as m
from sayso.protocol.errors import ProtocolError, Refused
from sayso.protocol.version import choose
from sayso.server.gateway.connection import Connection, close_with, greet
from sayso.server.gateway.door import Door, is_loopback
from sayso.server.gateway.host import Host
from sayso.server.gateway.limits import Limits
from sayso.server.turn.events import Joined, Ticket

log = logging.getLogger(__name__)

SESSION_BYTES = 16
"""Of chance in a session's name: it can't be guessed."""

NO_TURN = Ticket(0, 0)


class CannotListenError(Exception):
    """The address can't be listened on. The text says why and what to do."""


class Listener:
    """Accepts clients until it is closed."""

    def __init__(self, host: Host, token: str, limits: Limits | None = None) -> None:
        self._host = host
        self._door = Door(host, token)
        self._limits = limits or Limits()
        self._devices: set[str] = set()
        self._connections = 0
        self._server: Server | None = None

    async def open(self, address: str, port: int) -> int:
        """Begin to listen; returns the port, which the system chose if 0 was asked for."""
        if not is_loopback(address):
            raise CannotListenError(
                f"Sayso does not listen on {address}: other machines can't be told from strangers "
                "yet. Use 127.0.0.1, and a tunnel such as ssh -L for another machine."
            )
        try:
            self._server = await serve(
                self._welcome,
                address,
                port,
                process_request=self._door.answer,
                open_timeout=self._limits.handshake_s,
                ping_interval=self._limits.ping_s,
                ping_timeout=self._limits.ping_s,
                max_size=self._limits.text_bytes,
                compression=None,
                server_header=None,
                logger=logging.getLogger("sayso.websockets"),
            )
        except OSError as error:
            raise CannotListenError(
                f"Port {port} on {address} can't be opened ({error.strerror or error}). If another "
                f"Sayso runs, use it; or choose another port with --port."
            ) from error
        bound = next(iter(self._server.sockets)).getsockname()[1]
        self._door.stands_at(bound)
        return int(bound)

    async def close(self) -> None:
        """Say goodbye to everybody and stop listening."""
        if self._server:
            self._server.close(code=1001, reason="the server stops")
            await self._server.wait_closed()

    async def _welcome(self, socket: ServerConnection) -> None:
        self._connections += 1
        try:
            await self._take_in(socket)
        except ProtocolError as error:
            await close_with(socket, error)
        except ConnectionClosed:
            pass
        finally:
            self._connections -= 1

    async def _take_in(self, socket: ServerConnection) -> None:
        if self._connections > self._limits.connections:
            raise Refused("Too many clients are connected.", code="too_many", fatal=True)
        hello = await greet(socket, self._limits)
        self._check_token(socket, hello)
        spoken = choose(hello.protocol)
        conversation = await self._host.conversation(hello.conversation)
        device = self._name_for(hello)
        connection = Connection(socket, hello, self._limits)
        connection.tell(self._welcome_for(hello, spoken, conversation.id), NO_TURN)
        self._devices.add(device)
        conversation.join(_joined(device, hello), connection)
        try:
            await connection.talk(device, conversation)
        finally:
            conversation.leave(device)
            self._devices.discard(device)

    def _check_token(self, socket: ServerConnection, hello: m.Hello) -> None:
        proven = socket.request is not None and self._door.proves_itself(socket.request.headers)
        if not proven and not (hello.token and self._door.is_token(hello.token)):
            raise Refused("The token is missing or not valid. On this machine, sayso reads it.")

    def _name_for(self, hello: m.Hello) -> str:
        name = hello.device or hello.client or "device"
        number = 2
        unique = name
        while unique in self._devices:
            unique = f"{name} {number}"
            number += 1
        return unique

    def _welcome_for(self, hello: m.Hello, spoken: int, conversation: str) -> m.Welcome:
        greeting = self._host.greeting()
        if "pcm16" not in hello.audio.up or "pcm16" not in hello.audio.down:
            raise Refused("This server speaks only pcm16; offer it.", code="forbidden", fatal=True)
        return m.Welcome(
            protocol=spoken,
            server=greeting.server,
            session=secrets.token_urlsafe(SESSION_BYTES),
            features=greeting.features,
            limits=m.Limits(self._limits.text_bytes, self._limits.frame_bytes),
            conversation=conversation,
            models=dict(greeting.models),
            commands=dict(greeting.commands),
        )


def _joined(device: str, hello: m.Hello) -> Joined:
    speaks = not hello.wants or "speech.start" in hello.wants
    return Joined(device, speaks, hello.limits.play_buffer_ms / 1000, hello.limits.max_frame_bytes)
