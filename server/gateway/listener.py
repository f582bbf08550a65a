"""Listens on loopback and, if asked to, over TLS; and counts the clients that are connected."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Iterable
from dataclasses import replace

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, encode
from sayso.protocol.errors import ProtocolError, Refused
from sayso.protocol.version import choose
from sayso.server.gateway.admission.access_recorder import AccessRecorder
from sayso.server.gateway.admission.authentication import Authentication, ListenerKind
from sayso.server.gateway.admission.rate_limits import RequestRates
from sayso.server.gateway.admission.unauthenticated import address_of, known
from sayso.server.gateway.host import Host
from sayso.server.gateway.http.adapter_routes import Routes
from sayso.server.gateway.http.request_handler import SOCKET_PATH, Requester, RequestHandler
from sayso.server.gateway.http.trust_page import TrustPage
from sayso.server.gateway.lan.device_admin import NOT_OPEN, DeviceAdmin, Reachable
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.adapter_sockets import AdapterSockets
from sayso.server.gateway.socket.bounded_connection import BoundedConnection
from sayso.server.gateway.socket.connection import Connection, close_with, greet
from sayso.server.gateway.socket.message_size import with_snapshot
from sayso.server.gateway.socket.session import Session
from sayso.server.gateway.socket.sessions import Sessions
from sayso.server.gateway.socket.websocket_server import GatewayServer, prepare
from sayso.server.home_network import is_loopback
from sayso.server.log_context import log_ids
from sayso.server.store.access import AccessRefused, DeviceConnected, DeviceDisconnected
from sayso.server.trust.certificates import Identity, best_name, bracketed
from sayso.server.trust.devices import Devices, plain_name
from sayso.server.trust.principal import Principal

log = logging.getLogger(__name__)

NOT_KNOWN = "The token is missing or not valid. On this machine, sayso reads it."
NOT_PAIRED = "This device is not paired with the server: run `sayso pair` there, and join again."


class CannotListenError(Exception):
    """The address can't be listened on. The text says why and what to do."""


class Listener:
    """Accepts clients until it is closed."""

    def __init__(
        self,
        host: Host,
        token: str,
        limits: Limits | None = None,
        *,
        devices: Devices | None = None,
        also: Iterable[str] = (),
        records: AccessRecorder | None = None,
        routes: Routes | None = None,
    ) -> None:
        """`also`: further names, with their ports, under which it may be addressed; `records`:
        where it is written down who came and who was refused; `routes`: what else is answered over
        HTTP."""
        self._host = host
        self._records = records or AccessRecorder()
        self._guard = Authentication(token, devices, self._records.note)
        self._limits = limits or Limits()
        self._routes = routes or Routes()
        self._rates = RequestRates(self._limits)
        self._also = frozenset(name.lower() for name in also)
        self._sessions = Sessions(self._limits)
        self._adapter_sockets = AdapterSockets(self._guard, self._limits, self._records)
        self._administration: DeviceAdmin | None = None
        if devices:
            self._administration = DeviceAdmin(
                devices, self._sessions.is_connected, self._records.note
            )
            devices.on_revoked(lambda device: self._sessions.turn_out(device.id))
            devices.on_revoked(lambda device: self._guard.turn_out(device.id))
        self._connections = 0
        self._servers: list[GatewayServer] = []
        self._identity: Identity | None = None
        self._network: tuple[str, int] | None = None
        """Where other devices connect: address and port."""

    async def open(self, address: str, port: int) -> int:
        """Let this machine's clients in; returns the port, which the system chose if 0 was asked
        for."""
        if not is_loopback(address):
            raise CannotListenError(
                f"Sayso does not listen on {address} without encryption: for your other devices, "
                "start it with `sayso serve --network` and pair them with `sayso pair`; "
                "listen.host is for this machine alone."
            )
        names = {"127.0.0.1", "localhost", "[::1]", bracketed(address)}

        def entrance(bound: int) -> ListenerKind:
            own = frozenset(f"{name}:{bound}" for name in names)
            return ListenerKind("http", own, proxied=self._also)

        bound = await self._open(address, port, entrance, strangers=self._limits.near_strangers)
        if self._administration:
            self._administration.near = f"{bracketed(address)}:{bound}"
        return bound

    async def open_network(
        self, address: str, port: int, identity: Identity, *, trust_port: int | None = None
    ) -> int:
        """Let paired devices in, over TLS; returns the port.

        `trust_port`: where browsers get the authority while pairing is open; none: nowhere.
        """
        if self._administration and trust_port is not None:
            introduction = TrustPage(address, trust_port, self._limits)
            self._administration.introduction = introduction

        self._identity = identity

        def entrance(bound: int) -> ListenerKind:
            known = self._identity or identity
            names = frozenset(f"{bracketed(name)}:{bound}" for name in known.names)
            return ListenerKind("https", names, known.authority, self._also)

        bound = await self._open(
            address, port, entrance, strangers=self._limits.strangers, tls=identity.context
        )
        self._network = (address, bound)
        self.is_known_as(identity)
        return bound

    def is_known_as(self, identity: Identity) -> None:
        """The server's names or its certificate have changed: new clients are told these."""
        self._identity = identity
        if self._administration and self._network:
            address, bound = self._network
            there = f"{best_name(identity.names, address)}:{bound}"
            self._administration.reachable = Reachable(there, identity.authority, identity.names)

    async def _open(
        self,
        address: str,
        port: int,
        entrance_at: Callable[[int], ListenerKind],
        *,
        strangers: int,
        tls: ssl.SSLContext | None = None,
    ) -> int:
        bound = 0

        async def answer(line: Requester, request: Request) -> Response | None:
            handler = RequestHandler(
                self._host, self._guard, entrance_at(bound), self._routes, self._rates
            )
            return await handler.answer(line, request)

        async def welcome(socket: ServerConnection) -> None:
            await self._welcome(socket, entrance_at(bound))

        def refused_stranger(address: str) -> None:
            self._records.note(AccessRefused("strangers", address))

        try:
            server = await prepare(
                welcome,
                answer,
                address,
                port,
                self._limits,
                strangers=strangers,
                refused_stranger=refused_stranger,
                tls=tls,
                opens_socket=lambda path: (
                    path == SOCKET_PATH or self._routes.socket_at(path) is not None
                ),
            )
        except OSError as error:
            raise CannotListenError(
                f"Port {port} on {address} can't be opened ({error.strerror or error}). If another "
                f"Sayso runs, use it; or choose another port with --port."
            ) from error
        bound = server.port
        await server.start_serving()
        self._servers.append(server)
        return bound

    async def close(self) -> None:
        """Say goodbye to everybody and stop listening."""
        for server in self._servers:
            server.close(code=1001, reason="the server stops")
        await asyncio.gather(*(server.wait_closed() for server in self._servers))
        self._sessions.end_all()
        if self._administration:
            await self._administration.close()

    async def _welcome(self, socket: ServerConnection, entrance: ListenerKind) -> None:
        self._connections += 1
        path = socket.request.path.partition("?")[0] if socket.request else ""
        try:
            if route := self._routes.socket_at(path):
                self._check_room()
                await self._adapter_sockets.talk(socket, route, entrance)
            else:
                await self._take_in(socket, entrance)
        except ProtocolError as error:
            self._guard.refused(socket, error.reason)
            await close_with(socket, error, self._limits.goodbye_s)
        except ConnectionClosed:
            pass
        finally:
            self._connections -= 1

    async def _take_in(self, socket: ServerConnection, entrance: ListenerKind) -> None:
        self._check_room()
        hello = await greet(socket, self._limits)
        if isinstance(hello, m.Pair):
            await self._pair(socket, hello)
            return
        who = await self._identify(socket, hello, entrance)
        spoken = choose(hello.protocol)
        _check_codecs(hello)
        if session := self._sessions.find(hello, who):
            connection = self._connect(socket, session)
            first = _take_up(session, connection, hello, self._welcome_for(spoken, session))
        else:
            self._sessions.check_room(who)
            conversation = await self._host.conversation(hello.conversation, who)
            if not self._guard.still_knows(who):
                raise Refused(NOT_KNOWN).because("revoked")
            if socket.state is not State.OPEN:
                return  # It waited in vain; what there is to tell is for those who are there.
            self._sessions.check_room(who)  # again: others of its own may have waited beside it
            session = self._sessions.make(hello, who, conversation)
            connection = self._connect(socket, session)
            session.begin(connection, hello)
            first = [encode(Envelope(self._welcome_for(spoken, session)))]
        device, began = plain_name(session.device), asyncio.get_running_loop().time()
        self._records.note(
            DeviceConnected(
                device, who.device, who.person, address_of(socket), session.is_confirmed
            )
        )
        with log_ids(device=session.device):
            try:
                await connection.talk(first)
            finally:
                self._parted(session, connection)
                seconds = asyncio.get_running_loop().time() - began
                why = connection.ended_why
                self._records.note(DeviceDisconnected(device, who.device, why, round(seconds, 1)))

    def _check_room(self) -> None:
        if self._connections > self._limits.connections:
            raise Refused("Too many clients are connected.", code="too_many", fatal=True)

    def _connect(self, socket: ServerConnection, session: Session) -> Connection:
        if isinstance(socket, BoundedConnection):
            socket.ids = {"device": session.device}
        features = self._host.greeting().features
        return Connection(socket, session, self._limits, features, self._administration)

    def _parted(self, session: Session, connection: Connection) -> None:
        if session.line is not connection:
            return  # The session goes on in another connection.
        if self._administration:
            self._administration.parted(session)
        if connection.said_goodbye:
            self._sessions.end(session)
        else:
            self._sessions.cut(session)

    async def _identify(
        self, socket: ServerConnection, hello: m.Hello, entrance: ListenerKind
    ) -> Principal:
        headers = socket.request.headers if socket.request else None
        near = entrance.is_near(headers)
        who = self._guard.who_asks(headers, entrance) if headers else None
        who = who or self._guard.who(hello.token, near=near)
        if who is None:
            await self._guard.keep_waiting(socket)
            shown = hello.token or (headers and "Authorization" in headers)
            refusal = Refused(NOT_KNOWN if near else NOT_PAIRED)
            raise refusal.because("wrong_token" if shown else "no_token")
        self._guard.recognised(socket)
        known(socket)
        return who

    async def _pair(self, socket: ServerConnection, pair: m.Pair) -> None:
        if self._administration is None:
            raise Refused(NOT_OPEN, code="forbidden", fatal=True).because("pairing_closed")
        try:
            paired = self._administration.admit(pair, address_of(socket))
        except Refused:
            await self._guard.keep_waiting(socket)
            raise
        await socket.send(encode(Envelope(paired)))
        await socket.close(1000)

    def _welcome_for(self, spoken: int, session: Session) -> m.Welcome:
        greeting = self._host.greeting(session.who.person)
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
    shown = with_snapshot(welcome, session.snapshot(), hello.limits.max_text_bytes)
    for question in shown.snapshot.approvals if shown.snapshot else ():
        session.outbox.showed(str(question["id"]))
    return [encode(Envelope(shown))]
