"""A person talks without a key, and breaks in: a real server, real speech, one socket."""

import asyncio
import json
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol.frames import AudioFrame, unpack
from sayso.protocol.home import Home
from tests.e2e.speech import Voice
from tests.rig import Server
from tests.scripted_model import ScriptedModel, says
from tests.speech import sounds

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(120)]

FRAME = 640
"""Bytes of 20 ms."""

PRE_ROLL = 8_000
"""Samples."""

WAIT_S = 40.0
"""For anything at all on a busy machine."""

STORY = " ".join(f"This is sentence number {name}." for name in ("one", "two", "three", "four"))


@dataclass
class Device:
    """A small client: an open microphone, and a loudspeaker that plays in real time."""

    socket: ClientConnection
    messages: list[dict[str, Any]] = field(default_factory=list)
    came: asyncio.Condition = field(default_factory=asyncio.Condition)
    received: int = 0
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
                self.received += len(unpack(data).payload) // 2
                continue
            async with self.came:
                message = json.loads(data)
                if message["t"] == "speech.start" and message["stream"] != self.speech:
                    self.speech, self.rate = message["stream"], message["rate"]
                    self.received = self.played = 0
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
async def device(server: Server) -> AsyncIterator[Device]:
    home = Home(server.home, server.home, server.home)
    token = (home.state / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(server.url, additional_headers=headers) as socket:
        here = Device(socket)
        hello = {"protocol": {"min": 1, "max": 1}, "client": "test", "device": "shelf"}
        await here.say("hello", **hello, audio={"echo": "cancelled"})
        tasks = [asyncio.create_task(here.read()), asyncio.create_task(here.play())]
        welcome = await here.until("welcome")
        assert "hands_free" in welcome["features"]
        try:
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


async def test_the_end_of_the_words_is_found_and_silence_is_left_alone(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What is the capital of France?", tmp_path)
    model.add(says("It is Paris."))
    async with device(server) as here:
        end = await here.listen(question)
        heard = await here.until("stt.final")
        await here.until("speech.start")
        await here.hear(0.3)
        await here.until("turn.state", len(here.messages), mouth="silent", work="idle")
        quiet = await here.listen(bytes(32_000))

    assert quiet["reason"] == "timeout"
    assert len([message for message in here.messages if message["t"] == "stt.final"]) == 1
    assert end["reason"] == "ended"
    assert "france" in heard["text"].lower()
    spoken, until = len(question) // 2, end["samples"]
    # 400 to 900 ms after the last word; the recording itself ends a little after it.
    assert until - spoken < 16_000 * 1.5


async def test_a_sound_before_the_words_is_not_taken_for_the_end(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "What is the capital of France?", tmp_path)
    model.add(says("It is Paris."))
    async with device(server) as here:
        end = await here.listen(bytes(PRE_ROLL) + sounds.voice(0.3) + bytes(32_000) + question)
        heard = await here.until("stt.final")
    assert end["reason"] == "ended"
    assert "france" in heard["text"].lower()


async def test_a_cough_lets_the_answer_go_on_and_a_stop_ends_it(
    server: Server, model: ScriptedModel, voice: Voice, tmp_path: Path
) -> None:
    question = await asyncio.to_thread(recorded, voice, "Please tell me a story.", tmp_path)
    murmur = await asyncio.to_thread(recorded, voice, "Okay.", tmp_path)
    stop = await asyncio.to_thread(recorded, voice, "Stop!", tmp_path)
    model.add(says(STORY), says("You are welcome."))
    async with device(server) as here:
        await here.listen(question)
        await here.hear(0.3)
        turns = len(model.requests)

        before = len(here.messages)
        await here.listen(murmur)
        await here.until("turn.state", before, mouth="ducked")
        await here.until("turn.state", before, mouth="speaking", ears="idle")
        assert not [m for m in here.messages if m["t"] == "speech.stop"]

        await here.hear(3.0)
        before = len(here.messages)
        await here.listen(stop)
        await here.until("speech.stop", before, reason="interrupted")
        await here.until("turn.state", before, ears="idle", work="idle", mouth="silent")
        assert len(model.requests) == turns

        before = len(here.messages)
        await here.listen(question)
        await here.until("reply.delta", before)

    # What was heard of the story is what the model is told that it said.
    told = json.dumps(model.requests[-1].messages)
    assert "number one" in told
    assert "number four" not in told
