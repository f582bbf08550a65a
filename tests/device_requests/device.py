"""A device that offers a feature, on a real socket to a server with real conversations."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import PictureFrame
from sayso.protocol.version import SPOKEN
from sayso.server.conversations.participant import Participant
from sayso.server.device_requests.answer import Outcome
from sayso.server.device_requests.requests import DeviceRequests
from sayso.server.gateway.host import Greeting
from sayso.server.gateway.listener import Listener
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import THIS_MACHINE, Principal
from tests.gateway.running_gateway import TOKEN, WAIT_S, RunningGateway
from tests.server.running_server import RunningServer, running_server, until

PIECE_BYTES = 8_000


@dataclass
class Desk(RunningGateway):
    """A host whose conversations are real."""

    server: RunningServer = field(init=False)
    devices: Devices = field(init=False)

    def greeting(self, person: str = "") -> Greeting:
        return Greeting("sayso test", {}, ("ptt", "resume", "desktop"))

    async def conversation(self, wanted: str = "", who: Principal = THIS_MACHINE) -> Participant:  # type: ignore[override]
        server = self.server
        return await Participant.take(server.conversations, server.commands, wanted, who)

    def requests(self, conversation: str = "main") -> DeviceRequests:
        here = self.server.conversations.open[conversation]
        return here.conversation.device_requests

    def ask(
        self,
        device: str = "desk",
        method: str = "screen.look",
        deadline_s: float = WAIT_S,
        args: Mapping[str, Any] | None = None,
    ) -> "asyncio.Task[Outcome]":
        """Ask for the attempt that counts."""
        ticket = self.server.conversations.open["main"].conversation.ticket
        asked = self.requests().ask(
            device, method, args or {}, ticket=ticket, deadline_s=deadline_s, lease="l1"
        )
        return asyncio.create_task(asked)


@asynccontextmanager
async def open_desk(folder: Path) -> AsyncIterator[Desk]:
    desk = Desk()
    desk.devices = Devices(folder / "devices.json")
    async with running_server(folder) as desk.server:
        listener = Listener(desk, TOKEN, devices=desk.devices)
        desk.port = await listener.open("127.0.0.1", 0)
        try:
            yield desk
        finally:
            await listener.close()


@dataclass
class TestDevice:
    """One end of a real socket."""

    __test__ = False

    socket: ClientConnection
    welcome: m.Welcome

    async def say(self, message: m.Message) -> None:
        await self.socket.send(encode(Envelope(message)))

    async def asked(self) -> m.ActRequest:
        """The next request; whatever else comes is passed over."""
        async with asyncio.timeout(WAIT_S):
            while True:
                message = decode(await self.socket.recv()).message
                if isinstance(message, m.ActRequest):
                    return message

    async def heard_until_pong(self) -> list[object]:
        """All that came before now."""
        await self.say(m.Ping(99))
        heard: list[object] = []
        async with asyncio.timeout(WAIT_S):
            while (message := decode(await self.socket.recv()).message) != m.Pong(99):
                heard.append(message)
        return heard

    async def picture(self, stream: int, content: bytes) -> None:
        """Send a picture's bytes, piece by piece."""
        for number, at in enumerate(range(0, len(content), PIECE_BYTES)):
            piece = content[at : at + PIECE_BYTES]
            await self.socket.send(PictureFrame(stream, number, at, piece).pack())


@asynccontextmanager
async def device(
    desk: Desk,
    name: str = "desk",
    token: str = TOKEN,
    **hello: Any,  # noqa: ANN401
) -> AsyncIterator[TestDevice]:
    """A device that offers to look and to click, unless it says otherwise."""
    given: dict[str, Any] = {
        "device": name,
        "features": ("resume", "desktop"),
        "offers": ("screen.look", "pointer.click"),
        "token": token,
        **hello,
    }
    async with connect(desk.url, compression=None) as socket:
        await socket.send(encode(Envelope(m.Hello(SPOKEN, "test 1", **given))))
        async with asyncio.timeout(WAIT_S):
            welcome = decode(await socket.recv()).message
        assert isinstance(welcome, m.Welcome)
        yield TestDevice(socket, welcome)


__all__ = ["Desk", "TestDevice", "device", "open_desk", "until"]
