"""The open door: listens on loopback, and keeps count of who is in."""

import logging
from collections.abc import Iterable
from dataclasses import replace

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.errors import ProtocolError, Refused
from sayso.protocol.version import choose
from sayso.server.gateway.connection import Connection, close_with, greet
from sayso.server.gateway.door import Door, is_loopback
from sayso.server.gateway.fitting import with_snapshot
from sayso.server.gateway.host import Host
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.session import Session
from sayso.server.gateway.sessions import Sessions

log = logging.getLogger(__name__)

THIS_MACHINE = "this machine"
"""Whose sessions those are that were begun with the machine's own token."""


class CannotListenError(Exception):
    """The address can't be listened on. The text says why and what to do."""


class Listener:
    """Accepts clients until it is closed."""

    def __init__(
        self, host: Host, token: str, limits: Limits | None = None, also: Iterable[str] = ()
    ) -> None:
        self._host = host
        self._door = Door(host, token, also)
        self._limits = limits or Limits()
        self._sessions = Sessions(self._limits)
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
                close_timeout=self._limits.goodbye_s,
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
        self._sessions.end_all()

    async def _welcome(self, socket: ServerConnection) -> None:
        self._connections += 1
        try:
            await self._take_in(socket)
        except ProtocolError as error:
            await close_with(socket, error, self._limits.goodbye_s)
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
        _check_codecs(hello)
        features = self._host.greeting().features
        if session := self._sessions.find(hello, THIS_MACHINE):
            connection = Connection(socket, session, self._limits, features)
            first = _take_up(session, connection, hello, self._welcome_for(spoken, session))
        else:
            conversation = await self._host.conversation(hello.conversation)
            session = self._sessions.make(hello, THIS_MACHINE, conversation)
            connection = Connection(socket, session, self._limits, features)
            session.begin(connection, hello)
            first = [encode(Envelope(self._welcome_for(spoken, session)))]
        try:
            await connection.talk(first)
        finally:
            self._parted(session, connection)

    def _parted(self, session: Session, connection: Connection) -> None:
        if session.line is not connection:
            return  # The session goes on in another connection.
        if connection.said_goodbye:
            self._sessions.end(session)
        else:
            self._sessions.cut(session)

    def _check_token(self, socket: ServerConnection, hello: m.Hello) -> None:
        proven = socket.request is not None and self._door.proves_itself(socket.request.headers)
        if not proven and not (hello.token and self._door.is_token(hello.token)):
            raise Refused("The token is missing or not valid. On this machine, sayso reads it.")

    def _welcome_for(self, spoken: int, session: Session) -> m.Welcome:
        greeting = self._host.greeting()
        return m.Welcome(
            protocol=spoken,
            server=greeting.server,
            session=session.id,
            features=greeting.features,
            limits=m.Limits(self._limits.text_bytes, self._limits.frame_bytes),
            conversation=session.conversation.id,
            models=dict(greeting.models),
            commands=dict(greeting.commands),
        )


def _check_codecs(hello: m.Hello) -> None:
    if "pcm16" not in hello.audio.up or "pcm16" not in hello.audio.down:
        raise Refused("This server speaks only pcm16; offer it.", code="forbidden", fatal=True)


def _take_up(
    session: Session, connection: Connection, hello: m.Hello, welcome: m.Welcome
) -> list[str]:
    """What a client that came back is sent first."""
    missed = session.take_up(connection, hello)
    welcome = replace(welcome, last_seq=session.heard_seq)
    if missed is not None:
        return [encode(Envelope(replace(welcome, resume="ok"))), *missed]
    welcome = replace(welcome, resume="snapshot")
    snapshot = session.conversation.snapshot()
    return [encode(Envelope(with_snapshot(welcome, snapshot, hello.limits.max_text_bytes)))]
