"""A device of the bench at a real server: it types, speaks and hears, and notes what it is told."""

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.home import Home, read_token
from sayso.protocol.version import SPOKEN
from tests.rig import Server

FRAME_BYTES = 640
"""20 ms of 16 kHz."""
AGAIN_S = 0.02
"""Between two tries to come in while a server starts."""


@dataclass
class Visitor:
    """One connection of a device."""

    socket: ClientConnection
    told: list[m.Message] = field(default_factory=list)
    gone: bool = False
    """The server is not there any more."""
    first_sound_at: float = 0.0
    """When the first sound came, by the loop's clock, since this was set to 0."""
    _streams: int = 0
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def say(self, message: m.FromClient) -> None:
        """Send something; a server that is gone does not hear it."""
        with suppress(ConnectionClosed):
            await self.socket.send(encode(Envelope(message)))

    async def speak(self, pcm: bytes) -> None:
        """A whole utterance, as fast as the line takes it."""
        self._streams += 1
        stream = self._streams
        await self.say(m.ListenStart("ptt", stream))
        with suppress(ConnectionClosed):
            for number, at in enumerate(range(0, len(pcm), FRAME_BYTES)):
                frame = AudioFrame(stream, number, at // 2, pcm[at : at + FRAME_BYTES])
                await self.socket.send(frame.pack())
        await self.say(m.ListenStop(stream, len(pcm) // 2))

    def all(self, kind: type[m.Message]) -> list[m.Message]:
        """What was told of one kind."""
        return [message for message in self.told if isinstance(message, kind)]

    async def until(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Whether something becomes so by what is told, before the time is up."""
        try:
            async with asyncio.timeout(within_s):
                while not is_so():
                    if self.gone:
                        return False
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            return False
        return True

    async def listen(self) -> None:
        """Take what comes, and play sound in no time; ends with the connection."""
        try:
            async for data in self.socket:
                if isinstance(data, bytes):
                    await self._play(unpack(data))
                elif not isinstance(message := decode(data).message, str):
                    self.told.append(message)  # type: ignore[arg-type]
                self._came.set()
        except (ConnectionClosed, struct.error):
            pass
        self.gone = True
        self._came.set()

    async def _play(self, frame: AudioFrame) -> None:
        self.first_sound_at = self.first_sound_at or asyncio.get_running_loop().time()
        played = frame.first_sample + len(frame.payload) // 2
        await self.say(m.PlayState(frame.stream, played, done=frame.last))


@asynccontextmanager
async def visitor(server: Server, within_s: float) -> AsyncIterator[Visitor]:
    """A device in the server's conversation, as soon as it comes in."""
    token = read_token(Home(server.home, server.home, server.home))
    headers = {"Authorization": f"Bearer {token}"}
    async with asyncio.timeout(within_s):
        socket = await _come_in(server.url, headers)
    device = Visitor(socket)
    listening = asyncio.create_task(device.listen())
    try:
        yield device
    finally:
        await device.say(m.Bye())
        socket.transport.abort()
        await listening


async def _come_in(url: str, headers: dict[str, str]) -> ClientConnection:
    while True:
        try:
            socket = await connect(url, additional_headers=headers, proxy=None, compression=None)
            await socket.send(encode(Envelope(m.Hello(SPOKEN, "bench 1", device="bench"))))
            if isinstance(decode(await socket.recv()).message, m.Welcome):
                return socket
        except (OSError, WebSocketException):
            pass
        await asyncio.sleep(AGAIN_S)
