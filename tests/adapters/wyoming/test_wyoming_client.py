"""The Wyoming library's own client, as it is, against a real server."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
)

from tests.kernels import lend_kernels
from tests.rig import Server, free_port
from tests.scripted_model import ScriptedModel, fails, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WAIT_S = 60.0
KITCHEN = {"satellite_id": "assist_satellite.kitchen", "conversation_id": "one"}


class Site:
    """A server that Home Assistant could use, and how its library connects."""

    def __init__(self, server: Server, model: ScriptedModel, port: int) -> None:
        self.server = server
        self.model = model
        self.port = port

    def client(self) -> AsyncTcpClient:
        return AsyncTcpClient("127.0.0.1", self.port)

    async def ask(self, text: str, context: dict[str, str] | None = None) -> Event:
        said = Transcript(text, context=context or {}).event()
        async with self.client() as client:
            await client.write_event(said)
            return await next_event(client)


async def next_event(client: AsyncTcpClient) -> Event:
    async with asyncio.timeout(WAIT_S):
        event = await client.read_event()
    assert event
    return event


async def sound_of(client: AsyncTcpClient) -> tuple[AudioStart, bytes]:
    """What is spoken next, from its beginning to its end."""
    started = await next_event(client)
    assert AudioStart.is_type(started.type), started
    pcm = b""
    while AudioChunk.is_type((event := await next_event(client)).type):
        pcm += AudioChunk.from_event(event).audio
    assert AudioStop.is_type(event.type), event
    return AudioStart.from_event(started), pcm


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    lend_kernels(home)
    port = free_port()
    (home / "settings.toml").write_text(f'[adapters]\nwyoming = "127.0.0.1:{port}"\n')
    with ScriptedModel() as model, Server(home, model) as server:
        yield Site(server, model, port)


@pytest.fixture(autouse=True)
def fresh(site: Site) -> None:
    site.model.forget()
    site.model.requests.clear()


async def test_it_says_what_it_hears_speaks_and_answers(site: Site) -> None:
    async with site.client() as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await next_event(client))
        await client.write_event(Ping("there?").event())
        assert Pong.from_event(await next_event(client)).text == "there?"
    (hearing,), (speaking,), (answering,) = info.asr, info.tts, info.handle
    assert "en" in hearing.models[0].languages
    assert "en" in speaking.voices[0].languages
    assert "en" in answering.models[0].languages


async def test_what_it_speaks_it_understands(site: Site) -> None:
    async with site.client() as client:
        await client.write_event(Synthesize("The garden is full of roses.").event())
        form, pcm = await sound_of(client)
    assert (form.width, form.channels) == (2, 1)
    assert len(pcm) > form.rate  # half a second
    async with site.client() as client:
        await client.write_event(Transcribe(language="en").event())
        await client.write_event(AudioStart(form.rate, 2, 1).event())
        for start in range(0, len(pcm), 2048):
            piece = pcm[start : start + 2048]
            await client.write_event(AudioChunk(form.rate, 2, 1, piece).event())
        await client.write_event(AudioStop().event())
        heard = Transcript.from_event(await next_event(client))
    assert "garden is full of roses" in heard.text.lower()


async def test_text_is_spoken_while_it_is_written(site: Site) -> None:
    async with site.client() as client:
        await client.write_event(SynthesizeStart().event())
        await client.write_event(SynthesizeChunk("One sentence is here. ").event())
        started = await next_event(client)
        assert AudioStart.is_type(started.type)
        await client.write_event(SynthesizeChunk("And here is another.").event())
        # Home Assistant sends the whole text as well, for servers that know nothing of pieces.
        await client.write_event(Synthesize("One sentence is here. And here is another.").event())
        await client.write_event(SynthesizeStop().event())
        pcm = b""
        while AudioChunk.is_type((event := await next_event(client)).type):
            pcm += AudioChunk.from_event(event).audio
        assert AudioStop.is_type(event.type)
        assert SynthesizeStopped.is_type((await next_event(client)).type)
    assert len(pcm) > 2 * 22_050


async def test_a_satellite_keeps_its_conversation_and_another_has_its_own(site: Site) -> None:
    site.model.add(says("Noted."), says("Blue."), says("I don't know."))
    assert Handled.from_event(await site.ask("My colour is blue.", KITCHEN)).text == "Noted."
    later = KITCHEN | {"conversation_id": "two"}
    assert Handled.from_event(await site.ask("Which is it?", later)).text == "Blue."
    assert "My colour is blue." in str(site.model.requests[-1].messages)
    await site.ask("Which is it?", {"satellite_id": "assist_satellite.hall"})
    assert "My colour is blue." not in str(site.model.requests[-1].messages)


async def test_code_waits_for_a_screen_and_a_spoken_yes_runs_nothing(site: Site) -> None:
    site.model.add(runs("open('made', 'w')", "I make it."), says("All right."))
    hall = {"satellite_id": "assist_satellite.hall"}
    answer = Handled.from_event(await site.ask("Make the file.", hall))
    assert answer.text
    assert answer.text.endswith("on a screen.")
    await site.ask("Yes.", hall)
    assert not list(site.server.home.glob("workspaces/*/made"))


async def test_what_cannot_be_answered_is_said(site: Site) -> None:
    site.model.add(fails(400, "no"))
    answer = NotHandled.from_event(await site.ask("Tell me something.", {}))
    assert answer.text


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n{}",
        b'{"type": "describe", "data_length": 99999999999}\n',
        b'{"type": "describe", "payload_length": -1}\n',
        b"[1]\n",
        b"x" * 200_000,
        b'{"type": "audio-start", "data": {"rate": 1, "width": 2, "channels": 1}}\n',
    ],
)
async def test_what_is_no_event_ends_its_connection_and_no_other(site: Site, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port)
    writer.write(sent)
    try:
        async with asyncio.timeout(WAIT_S):
            assert await reader.read() == b""
    except ConnectionError:
        pass
    finally:
        writer.close()
    async with site.client() as client:
        await client.write_event(Describe().event())
        assert Info.is_type((await next_event(client)).type)


async def test_sound_in_a_form_that_is_not_heard_is_an_error_or_an_end(site: Site) -> None:
    async with site.client() as client:
        await client.write_event(AudioStart(16_000, 4, 2).event())
        async with asyncio.timeout(WAIT_S):
            event = await client.read_event()
    assert event is None or Error.is_type(event.type)


def test_it_listens_nowhere_else(site: Site) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", site.port)) != 0


def test_the_server_does_not_start_open_to_a_network_without_named_machines(tmp_path: Path) -> None:
    lend_kernels(tmp_path)
    (tmp_path / "settings.toml").write_text('[adapters]\nwyoming = "0.0.0.0:10300"\n')
    server = Server(tmp_path)
    with pytest.raises(AssertionError, match=r"adapters\.peers"), server:
        pass
