"""A small client with an open microphone and a loudspeaker, over one socket."""

import asyncio
import json
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.home import Home
from tests.e2e.speech import Voice
from tests.rig import Server

FRAME = 640
"""Bytes of 20 ms."""

PRE_ROLL = 8_000
"""Samples."""

WAIT_S = 40.0
"""For anything at all on a busy machine."""


@dataclass
class Device:
    """A small client: an open microphone, and a loudspeaker that plays in real time."""

    socket: ClientConnection
    messages: list[dict[str, Any]] = field(default_factory=list)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)
    received: int = 0
    pcm: bytearray = field(default_factory=bytearray)
    """The speech that comes, or came last."""
    played: int = 0
    rate: int = 0
    speech: int = 0
    streams: int = 0
    mouth: str = "silent"

    async def say(self, kind: str, **fields: object) -> None:
        await self.socket.send(json.dumps({"t": kind, **fields}))

    async def read(self) -> None:
        async for data in self.socket:
            if isinstance(data, bytes):
                payload = unpack(data).payload
                self.received += len(payload) // 2
                self.pcm += payload
                continue
            async with self.came:
                message = json.loads(data)
                if message["t"] == "speech.start" and message["stream"] != self.speech:
                    self.speech, self.rate = message["stream"], message["rate"]
                    self.received = self.played = 0
                    self.pcm.clear()
                if message["t"] == "turn.state":
                    self.mouth = message["mouth"]
                self.messages.append(message)
                self.came.notify_all()

    async def play(self) -> None:
        """The loudspeaker: holds while it is ducked, as a client may."""
        while True:
            await asyncio.sleep(0.05)
            if self.rate and self.mouth == "speaking" and self.played < self.received:
                self.played = min(self.received, self.played + self.rate // 20)
                await self.say("play.state", stream=self.speech, samples=self.played)
                async with self.came:
                    self.came.notify_all()

    async def hear(self, seconds: float) -> None:
        """Let so much of the answer be played."""
        async with asyncio.timeout(WAIT_S), self.came:
            await self.came.wait_for(lambda: self.played >= seconds * self.rate > 0)

    async def until(self, kind: str, after: int = 0, **fields: object) -> dict[str, Any]:
        """Wait for a message with these fields, after so many others."""

        def found() -> list[dict[str, Any]]:
            return [
                m
                for m in self.messages[after:]
                if m["t"] == kind and all(m.get(name) == value for name, value in fields.items())
            ]

        async with asyncio.timeout(WAIT_S), self.came:
            await self.came.wait_for(found)
        return found()[0]

    async def listen(self, pcm: bytes) -> dict[str, Any]:
        """Open the microphone: what was just heard, then on in real time, until the server has
        what it wants. Returns its `listen.end`."""
        self.streams += 1
        stream, before = self.streams, len(self.messages)
        await self.say("listen.start", mode="hands_free", stream=stream, pre_roll=PRE_ROLL)
        ended = asyncio.create_task(self.until("listen.end", before, stream=stream))
        for number in range(60 * 50):
            if ended.done():
                break
            at = number * FRAME
            piece = pcm[at : at + FRAME].ljust(FRAME, b"\0")
            frame = AudioFrame(stream, number, at // 2, piece, last=False)
            await self.socket.send(frame.pack())
            if at >= 2 * PRE_ROLL:
                await asyncio.sleep(0.02)
        return await ended


@asynccontextmanager
async def device(
    server: Server, name: str = "shelf", token: str = "", **greeting: object
) -> AsyncIterator[Device]:
    """One on the server's own machine, unless it shows the token of a paired one. `greeting`: more
    fields of its hello."""
    home = Home(server.home, server.home, server.home)
    token = token or (home.state / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(server.url, additional_headers=headers) as socket:
        here = Device(socket)
        hello = {"protocol": {"min": 1, "max": 1}, "client": "test", "device": name, **greeting}
        await here.say("hello", **hello, audio={"echo": "cancelled"})
        tasks = [asyncio.create_task(here.read()), asyncio.create_task(here.play())]
        try:
            welcome = await here.until("welcome")
            assert "hands_free" in welcome["features"]
            yield here
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


def recorded(voice: Voice, text: str, folder: Path) -> bytes:
    """Words, with the half second before them in which a device grows aware of them."""
    path = folder / "words.wav"
    voice.speak(text, path)
    with wave.open(str(path)) as file:
        sound: bytes = file.readframes(file.getnframes())
        return bytes(PRE_ROLL) + sound
