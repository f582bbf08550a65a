"""Messages of 01's light client, as it sends them, against a real server."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from sayso.audio.resample import resample
from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.kernels import lend_kernels
from tests.rig import Server, free_port
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WAIT_S = 60.0
CHUNK = 1_024
"""Samples that the client sends at once."""
BEGINS = {"role": "user", "type": "audio", "format": "bytes.wav", "start": True}
ENDS = {"role": "user", "type": "audio", "format": "bytes.wav", "end": True}
COMPLETE = {"role": "server", "type": "status", "content": "complete"}

Told = list[dict[str, Any] | bytes]


class Site:
    """A server that the client could use."""

    def __init__(self, server: Server, model: ScriptedModel, port: int, program: str) -> None:
        self.server = server
        self.model = model
        self.port = port
        self.program = program

    @asynccontextmanager
    async def client(self) -> AsyncIterator[ClientConnection]:
        async with connect(f"ws://127.0.0.1:{self.port}", proxy=None) as socket:
            await socket.send(json.dumps({"auth": True}))
            yield socket

    def spoken(self, text: str) -> bytes:
        """This, said by the server's own voice: PCM at 16 kHz."""
        answer = httpx.post(
            f"http://127.0.0.1:{self.server.port}/v1/audio/speech",
            json={"model": "sayso", "voice": "x", "input": text, "response_format": "pcm"},
            headers={"Authorization": f"Bearer {self.program}"},
            timeout=WAIT_S,
            trust_env=False,
        )
        return resample(answer.content, 24_000, 16_000)


async def say(socket: ClientConnection, pcm: bytes) -> Told:
    """What comes of this, as long as the server is at work on it."""
    await socket.send(json.dumps(BEGINS))
    for start in range(0, len(pcm), CHUNK * 2):
        await socket.send(pcm[start : start + CHUNK * 2])
    await socket.send(json.dumps(ENDS))
    return await until_complete(socket)


async def until_complete(socket: ClientConnection) -> Told:
    told: Told = []
    async with asyncio.timeout(WAIT_S):
        while not told or told[-1] != COMPLETE:
            data = await socket.recv()
            told.append(data if isinstance(data, bytes) else json.loads(data))
    return told


def text(told: Told, kind: str = "message") -> str:
    chunks = [one for one in told if isinstance(one, dict) and one["type"] == kind]
    return "".join(one.get("content", "") for one in chunks)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    lend_kernels(home)
    port = free_port()
    (home / "settings.toml").write_text(f'[adapters]\nopenai = true\nlmc = "127.0.0.1:{port}"\n')
    devices = Devices(Home(home, home, home).state / "devices.json")
    program = devices.add("A program", "", ("talk",))[1]
    with ScriptedModel() as model, Server(home, model) as server:
        yield Site(server, model, port, program)


@pytest.fixture(autouse=True)
def fresh(site: Site) -> None:
    site.model.forget()
    site.model.requests.clear()


async def test_what_is_said_is_answered_in_words_and_sound(site: Site) -> None:
    site.model.add(says("It is ", "Rome."))
    async with site.client() as socket:
        told = await say(socket, site.spoken("What is the capital of Italy?"))
    assert "capital of italy" in str(site.model.requests[-1].messages).lower()
    assert "It is Rome." in text(told)
    sound = {"role": "assistant", "type": "audio", "format": "bytes.wav"}
    began, ended = told.index(sound | {"start": True}), told.index(sound | {"end": True})
    heard = b"".join(one for one in told[began:ended] if isinstance(one, bytes))
    assert len(heard) > 24_000 // 2 * 2


async def test_code_waits_for_a_screen_and_go_runs_nothing(site: Site) -> None:
    site.model.add(runs("open('made', 'w')"), says("All right."))
    async with site.client() as socket:
        await socket.send(json.dumps({"role": "user", "type": "message", "content": "Make it."}))
        told: Told = []
        async with asyncio.timeout(WAIT_S):
            while "on a screen" not in text(told):
                told.append(
                    json.loads(data) if isinstance(data := await socket.recv(), str) else data
                )
        go = {"role": "user", "type": "command", "content": "go"}
        await socket.send(json.dumps(go))
        async with asyncio.timeout(WAIT_S):
            told = []
            while "on a screen" not in text(told):
                told.append(
                    json.loads(data) if isinstance(data := await socket.recv(), str) else data
                )
        await socket.send(json.dumps(go | {"content": "stop"}))
        await until_complete(socket)
    assert not list(site.server.home.glob("workspaces/*/made"))


async def test_noise_changes_nothing(site: Site) -> None:
    site.model.add(says("Here."))
    async with site.client() as socket:
        for noise in ("", "[]", "{", b"\1", '{"role": "user", "type": "audio", "end": true}'):
            await socket.send(noise)
        await socket.send(json.dumps({"role": "user", "type": "message", "content": "There?"}))
        assert "Here." in text(await until_complete(socket))


@pytest.mark.parametrize(
    ("headers", "path"),
    [
        ({"Origin": "https://evil.example"}, "/"),
        ({"Origin": "http://127.0.0.1"}, "/"),
        ({"Host": "evil.example:10001"}, "/"),
        ({}, "/other"),
    ],
)
def test_pages_and_foreign_names_are_turned_away(
    site: Site, headers: dict[str, str], path: str
) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{site.port}{path}",
        headers=headers
        | {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        },
        trust_env=False,
    )
    assert answer.status_code in {403, 404}


async def test_a_page_cannot_open_a_socket(site: Site) -> None:
    with pytest.raises(InvalidStatus):
        await connect(
            f"ws://127.0.0.1:{site.port}", origin=cast(Any, "https://evil.example"), proxy=None
        )
