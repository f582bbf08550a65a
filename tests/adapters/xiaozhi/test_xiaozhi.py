"""The xiaozhi SDK, which speaks as boards do, as it is, against a real server."""

import asyncio
import json
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sayso.audio.resample import resample
from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.kernels import lend_kernels
from tests.rig import Server, free_port
from tests.scripted_model import ScriptedModel, runs, says

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its own Opus library's
    XiaoZhiWebsocket = pytest.importorskip("xiaozhi_sdk").XiaoZhiWebsocket

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WAIT_S = 60.0
MAC = "00:22:44:66:88:aa"
FRAME = 16_000 * 60 // 1000 * 2
"""Bytes of 60 ms."""


class Board:
    """One board, and what it was told."""

    def __init__(self, ota_url: str) -> None:
        self.told: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self.sdk = XiaoZhiWebsocket(self._take, ota_url=ota_url, audio_sample_rate=16_000)

    async def _take(self, message: dict[str, Any]) -> None:
        self.told.append(message)
        self._news.set()

    async def say(self, pcm: bytes) -> None:
        for start in range(0, len(pcm) - FRAME, FRAME):
            await self.sdk.send_audio(pcm[start : start + FRAME])
        await self.sdk.send_silence_audio(2.0)

    async def until(self, kind: str, state: str | None = None) -> dict[str, Any]:
        """The next such message of those that were not looked at yet."""
        async with asyncio.timeout(WAIT_S):
            while True:
                while self.told:
                    message = self.told.pop(0)
                    if message["type"] == kind and message.get("state") == state:
                        return message
                self._news.clear()
                await self._news.wait()


class Site:
    """A server that boards could use."""

    def __init__(self, server: Server, model: ScriptedModel, port: int) -> None:
        self.server = server
        self.model = model
        self.port = port
        self.key = ""
        self.program = ""

    def ota(self, key: str = "") -> str:
        return f"http://127.0.0.1:{self.port}/xiaozhi/ota/{key or self.key}"

    @asynccontextmanager
    async def board(self) -> AsyncIterator[Board]:
        board = Board(self.ota())
        await board.sdk.init_connection(MAC)
        try:
            yield board
        finally:
            await board.sdk.close()

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    lend_kernels(home)
    port = free_port()
    (home / "settings.toml").write_text(
        f'[adapters]\nopenai = true\nxiaozhi = "127.0.0.1:{port}"\n'
    )
    devices = Devices(Home(home, home, home).state / "devices.json")
    key = devices.add("Kitchen board", "", ("talk", "approve"))[1]
    program = devices.add("A program", "", ("talk",))[1]
    with ScriptedModel() as model, Server(home, model) as server:
        made = Site(server, model, port)
        made.key, made.program = key, program
        yield made


@pytest.fixture(autouse=True)
def fresh(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    # It finds its own address out by a connection to a name server far away.
    monkeypatch.setattr("xiaozhi_sdk.ota.get_ip", lambda: "127.0.0.1")
    site.model.forget()
    site.model.requests.clear()


async def test_a_board_is_told_where_to_connect_talks_and_hears_the_answer(site: Site) -> None:
    site.model.add(says("It is ", "Rome."))
    question = site.spoken("What is the capital of Italy?")
    async with site.board() as board:
        await board.say(question)
        assert "what is the capital" in (await board.until("stt"))["text"].lower()
        await board.until("tts", "start")
        assert "Rome" in (await board.until("tts", "sentence_start"))["text"]
        await board.until("tts", "stop")
        await asyncio.sleep(0)
        pieces = list(board.sdk.output_audio_queue)
    assert sum(len(piece) for piece in pieces) > 0


async def test_an_answer_is_silenced_at_once(site: Site) -> None:
    site.model.add(says(" ".join(f"Number {number} is next." for number in range(1, 40))))
    question = site.spoken("Count, please, as far as you can.")
    async with site.board() as board:
        await board.say(question)
        await board.until("tts", "sentence_start")
        began = time.monotonic()
        await board.sdk.websocket.send(json.dumps({"type": "abort", "reason": "wake_word"}))
        await board.until("tts", "stop")
        assert time.monotonic() - began < 0.2
        came = len(board.sdk.output_audio_queue)
        await asyncio.sleep(0.3)
        assert len(board.sdk.output_audio_queue) == came


async def test_what_runs_waits_for_a_screen_whatever_the_key_may(site: Site) -> None:
    site.model.add(runs("open('made', 'w')"), says("All right."))
    async with site.board() as board:
        await board.say(site.spoken("Make the file, please."))
        await board.until("stt")
        await board.until("tts", "stop")
        await board.say(site.spoken("Yes, do it."))
        await board.until("stt")
        await asyncio.sleep(1.0)
    assert not list(site.server.home.glob("workspaces/*/made"))


def test_the_answer_to_a_board_names_the_way_it_came_and_never_firmware(site: Site) -> None:
    answer = httpx.post(
        site.ota(), json={"mac": MAC}, headers={"Host": "sayso.local:1"}, trust_env=False
    )
    told = answer.json()
    assert told["websocket"] == {
        "url": "ws://sayso.local:1/xiaozhi/v1/",
        "token": site.key,
        "version": 1,
    }
    assert set(told) == {"websocket", "server_time"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/xiaozhi/ota/wrong", {}, 401),
        ("/xiaozhi/ota/", {}, 401),
        ("/", {}, 404),
        ("/v1/models", {}, 404),
        ("/ws", {}, 404),
        ("/xiaozhi/ota/wrong", {"Origin": "https://evil.example"}, 403),
    ],
)
def test_nobody_else_is_told_anything(
    site: Site, path: str, headers: dict[str, str], status: int
) -> None:
    url = f"http://127.0.0.1:{site.port}{path}"
    assert httpx.get(url, headers=headers, trust_env=False).status_code == status


def test_a_name_that_is_none_is_not_handed_on(site: Site) -> None:
    answer = httpx.get(site.ota(), headers={"Host": 'evil"/x'}, trust_env=False)
    assert answer.status_code == 400


async def test_a_wrong_token_opens_no_socket_and_noise_ends_one(site: Site) -> None:
    url = f"ws://127.0.0.1:{site.port}/xiaozhi/v1/"
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        with pytest.raises(InvalidStatus) as refusal:
            await connect(url, additional_headers=headers, proxy=None)
        assert refusal.value.response.status_code == 401
    key = {"Authorization": f"Bearer {site.key}"}
    async with connect(url, additional_headers=key, proxy=None) as socket:
        await socket.send(json.dumps({"type": "hello", "transport": "websocket"}))
        assert json.loads(await socket.recv())["type"] == "hello"
        await socket.send(json.dumps({"type": "listen", "state": "start", "mode": "auto"}))
        await socket.send("nonsense")
        for _ in range(60):
            await socket.send(b"\xff" * 40)
        async with asyncio.timeout(WAIT_S):
            await socket.wait_closed()
