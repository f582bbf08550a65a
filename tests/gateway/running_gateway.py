"""A server double behind the gateway: records what arrives, and sends what a test wants sent."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from websockets.asyncio.client import ClientConnection, connect

from sayso.client.identity.known_server import KnownServer
from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import PictureFrame
from sayso.protocol.version import SPOKEN
from sayso.server.gateway.admission.access_recorder import AccessRecorder
from sayso.server.gateway.host import Greeting, Outlet
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import Listener
from sayso.server.store.access import AccessRecord
from sayso.server.store.records import Event as StoredEvent
from sayso.server.trust.certificates import Identity, identity
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import THIS_MACHINE, Principal
from sayso.server.turn.events import Event, Joined, Ticket

TOKEN = "a-token-of-this-machine"
WAIT_S = 20.0
"""Longest time for anything here on a busy machine; it takes milliseconds."""


@dataclass
class RunningGateway:
    """A host and its one conversation."""

    id: str = "main"
    port: int = 0
    joined: list[Joined] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    returned: list[Joined] = field(default_factory=list)
    state: m.Snapshot = field(default_factory=m.Snapshot)
    somebody_left: asyncio.Event = field(default_factory=asyncio.Event)
    outlets: dict[str, Outlet] = field(default_factory=dict)
    commands: list[tuple[str, str, str]] = field(default_factory=list)
    results: list[tuple[str, m.ActResult]] = field(default_factory=list)
    pictures: list[tuple[str, PictureFrame]] = field(default_factory=list)
    cancelled: list[tuple[str, str]] = field(default_factory=list)
    events: asyncio.Queue[Event] = field(default_factory=asyncio.Queue)
    kept: bytes | Path = b"kept"
    """What is in the one file of the workspace."""
    getting_ready: asyncio.Lock = field(default_factory=asyncio.Lock)
    """While it is held, nobody can be welcomed."""
    at_the_door: int = 0
    """How many have asked to be, so far."""
    somebody_waits: asyncio.Event = field(default_factory=asyncio.Event)
    records: AccessRecorder = field(default_factory=AccessRecorder)
    """Who writes down who came and who was refused."""
    noted: list[AccessRecord] = field(default_factory=list)
    """What was written down."""

    def __post_init__(self) -> None:
        self.records.keep_in(self._keep)

    async def _keep(self, event: StoredEvent) -> None:
        self.noted.append(cast(AccessRecord, event.record))

    def greeting(self, person: str = "") -> Greeting:
        return Greeting("sayso test", {"ears": "tiny.en"}, ("ptt",))

    async def conversation(
        self, wanted: str = "", who: Principal = THIS_MACHINE
    ) -> "RunningGateway":
        self.at_the_door += 1
        self.somebody_waits.set()
        async with self.getting_ready:
            return self

    async def waiting_for(self, clients: int) -> None:
        """Until so many have asked to be welcomed."""
        async with asyncio.timeout(WAIT_S):
            while self.at_the_door < clients:
                self.somebody_waits.clear()
                await self.somebody_waits.wait()

    def health(self) -> Mapping[str, Any]:
        return {"ready": True}

    def metrics(self) -> bytes:
        return b"sayso_turns_total 1.0\n"

    def file(self, name: str, person: str) -> tuple[str, bytes] | None:
        return ("image/png", b"picture") if (name, person) == ("abc", "") else None

    async def look(self, path: str, person: str) -> Mapping[str, Any] | None:
        return {"seen": path, "by": person} if path != "/conversations/none" else None

    async def workspace_file(self, conversation: str, path: str, person: str) -> BinaryIO | None:
        if (conversation, path) != ("main", "a b/c.txt"):
            return None
        return BytesIO(self.kept) if isinstance(self.kept, bytes) else self.kept.open("rb")

    def put(self, device: str, piece: m.FilePut) -> None:
        self.outlets[device].tell(m.FileGot(piece.id, name=piece.name), Ticket(0, 0))

    def join(self, device: Joined, outlet: Outlet) -> None:
        self.joined.append(device)
        self.outlets[device.device] = outlet

    def leave(self, device: str) -> None:
        self.left.append(device)
        self.somebody_left.set()

    def away(self, device: str) -> None:
        self.gone.append(device)
        self.somebody_left.set()

    def back(self, device: Joined) -> None:
        self.returned.append(device)

    def snapshot(self) -> m.Snapshot:
        return self.state

    def happened(self, event: Event) -> None:
        self.events.put_nowait(event)

    def acted(self, device: str, result: m.ActResult) -> None:
        self.results.append((device, result))

    def pictured(self, device: str, piece: PictureFrame) -> None:
        self.pictures.append((device, piece))

    def cancel_job(self, device: str, job: str) -> None:
        self.cancelled.append((device, job))

    def command(self, device: str, name: str, text: str) -> None:
        self.commands.append((device, name, text))
        self.outlets[device].tell(m.CommandDone(name, text="done"), Ticket(0, 0))

    async def next_event(self) -> Event:
        async with asyncio.timeout(WAIT_S):
            return await self.events.get()

    # --- clients ---

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    @asynccontextmanager
    async def client(self, **hello: object) -> AsyncIterator[ClientConnection]:
        """A client that has been welcomed."""
        async with self.stranger(token=TOKEN) as socket:
            greeting = m.Hello(SPOKEN, "test 1", **hello)  # type: ignore[arg-type]
            await say(socket, greeting)
            assert isinstance(await hear(socket), m.Welcome)
            yield socket

    @asynccontextmanager
    async def stranger(
        self, token: str | None = None, **headers: str
    ) -> AsyncIterator[ClientConnection]:
        """A socket that has not said hello."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        async with connect(self.url, additional_headers=headers, compression=None) as socket:
            yield socket

    async def get(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        """A plain request; returns status and body."""
        head, _, body = (await self._answer(path, method, headers)).partition("\r\n\r\n")
        return int(head.split(" ")[1]), body

    async def head(self, path: str) -> Mapping[str, str]:
        """What an answer says of itself, names in small letters."""
        lines = (await self._answer(path, "GET", {})).partition("\r\n\r\n")[0].split("\r\n")
        return {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}

    async def _answer(self, path: str, method: str, headers: Mapping[str, str]) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = {"Host": f"127.0.0.1:{self.port}", "Connection": "close"} | dict(headers)
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
        async with asyncio.timeout(WAIT_S):
            answer = (await reader.read()).decode()
        writer.close()
        await writer.wait_closed()
        return answer


@asynccontextmanager
async def open_gateway(limits: Limits | None = None) -> AsyncIterator[RunningGateway]:
    """A gateway that listens on this machine."""
    gateway = RunningGateway()
    listener = Listener(gateway, TOKEN, limits, records=gateway.records)
    gateway.port = await listener.open("127.0.0.1", 0)
    try:
        yield gateway
    finally:
        await listener.close()
        await gateway.records.close()


@dataclass
class NetworkGateway(RunningGateway):
    """A gateway that paired devices reach over TLS."""

    network_port: int = 0
    identity: Identity = field(init=False)
    devices: Devices = field(init=False)
    listener: Listener = field(init=False)

    @property
    def authority(self) -> bytes:
        return self.identity.authority

    @property
    def network_url(self) -> str:
        return f"wss://127.0.0.1:{self.network_port}/ws"

    @property
    def pem(self) -> str:
        return ssl.DER_cert_to_PEM_cert(self.authority)

    @asynccontextmanager
    async def far(
        self, token: str | None = None, **headers: str
    ) -> AsyncIterator[ClientConnection]:
        """A socket over the network's entrance that has not said hello."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        context = KnownServer("", self.pem, "", "").context()
        async with connect(
            self.network_url, additional_headers=headers, compression=None, ssl=context
        ) as socket:
            yield socket

    async def far_get(self, path: str, host: str, token: str = "") -> int:
        """A plain request over the network's entrance; returns its status."""
        context = KnownServer("", self.pem, "", "").context()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.network_port, ssl=context)
        head = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n"
        head += f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(f"{head}\r\n".encode())
        async with asyncio.timeout(WAIT_S):
            status = (await reader.readline()).split()[1]
        writer.transport.abort()
        return int(status)

    @asynccontextmanager
    async def device(self, token: str, **hello: object) -> AsyncIterator[ClientConnection]:
        """A paired device that has been welcomed."""
        async with self.far(token) as socket:
            await say(socket, m.Hello(SPOKEN, "test 1", **hello))  # type: ignore[arg-type]
            assert isinstance(await hear(socket), m.Welcome)
            yield socket


@asynccontextmanager
async def open_network_gateway(
    folder: Path, limits: Limits | None = None, *, trust_port: int = 0
) -> AsyncIterator[NetworkGateway]:
    """A gateway that listens at both entrances; the network is loopback, all else is real."""
    gateway = NetworkGateway()
    gateway.devices = Devices(folder / "devices.json")
    listener = Listener(gateway, TOKEN, limits, devices=gateway.devices, records=gateway.records)
    gateway.port = await listener.open("127.0.0.1", 0)
    gateway.listener = listener
    gateway.identity = identity(folder / "certificates", ())
    gateway.network_port = await listener.open_network(
        "127.0.0.1", 0, gateway.identity, trust_port=trust_port
    )
    try:
        yield gateway
    finally:
        await listener.close()
        await gateway.records.close()


async def say(socket: ClientConnection, message: m.Message) -> None:
    await socket.send(encode(Envelope(message)))


async def hear(socket: ClientConnection) -> m.Message:
    """The next message."""
    return (await hear_envelope(socket)).message  # type: ignore[return-value]


async def hear_envelope(socket: ClientConnection) -> Envelope:
    async with asyncio.timeout(WAIT_S):
        return decode(await socket.recv())


async def close_code(socket: ClientConnection) -> int | None:
    """Wait for the server to close the socket."""
    async with asyncio.timeout(WAIT_S):
        await socket.wait_closed()
    return socket.close_code


def body_of(answer: tuple[int, str]) -> object:
    return json.loads(answer[1])
