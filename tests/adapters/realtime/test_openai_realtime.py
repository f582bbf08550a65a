"""The OpenAI library's Realtime client, as it is, against a real server."""

import asyncio
import base64
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, cast

import httpx
import pytest
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sayso.protocol.home import Home
from sayso.server.trust.devices import Devices
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WAIT_S = 60.0
RATE = 24_000
ROME = "What is the capital of Italy?"

Events = list[dict[str, Any]]


class Site:
    """A server that answers programs, and the keys of two of them."""

    def __init__(self, server: Server, model: ScriptedModel, keys: dict[str, str]) -> None:
        self.server = server
        self.model = model
        self.keys = keys

    @asynccontextmanager
    async def session(
        self, key: str = "approving", settings: Mapping[str, object] = MappingProxyType({})
    ) -> AsyncIterator[AsyncRealtimeConnection]:
        client = AsyncOpenAI(
            base_url=f"http://127.0.0.1:{self.server.port}/v1",
            websocket_base_url=f"ws://127.0.0.1:{self.server.port}/v1",
            api_key=self.keys[key],
            http_client=httpx.AsyncClient(trust_env=False),
        )
        async with client, client.realtime.connect(model="sayso") as connection:
            assert (await connection.recv()).type == "session.created"
            if settings:
                await connection.session.update(session=cast(Any, {"type": "realtime", **settings}))
                assert (await connection.recv()).type == "session.updated"
            yield connection

    def spoken(self, text: str) -> bytes:
        """This, said by the server's own voice: PCM at 24 kHz."""
        answer = httpx.post(
            f"http://127.0.0.1:{self.server.port}/v1/audio/speech",
            json={"model": "sayso", "voice": "x", "input": text, "response_format": "pcm"},
            headers={"Authorization": f"Bearer {self.keys['talking']}"},
            timeout=WAIT_S,
            trust_env=False,
        )
        return answer.content


PRESSED: dict[str, Any] = {
    "audio": {"input": {"turn_detection": None, "transcription": {"model": "x"}}}
}
TEXT: dict[str, Any] = {"output_modalities": ["text"], **PRESSED}


async def until(connection: AsyncRealtimeConnection, kind: str) -> Events:
    """All that comes, up to an event of this kind."""
    seen: Events = []
    async with asyncio.timeout(WAIT_S):
        while not seen or seen[-1]["type"] != kind:
            seen.append((await connection.recv()).model_dump())
    return seen


async def say(connection: AsyncRealtimeConnection, pcm: bytes) -> None:
    for start in range(0, len(pcm), RATE // 10 * 2):
        piece = base64.b64encode(pcm[start : start + RATE // 10 * 2]).decode()
        await connection.input_audio_buffer.append(audio=piece)


async def write(connection: AsyncRealtimeConnection, text: str) -> Events:
    """Ask by text; returns all that comes of it."""
    content = [{"type": "input_text", "text": text}]
    item = {"type": "message", "role": "user", "content": content}
    await connection.conversation.item.create(item=cast(Any, item))
    await connection.response.create()
    return await until(connection, "response.done")


def of(events: Events, kind: str) -> Events:
    return [event for event in events if event["type"] == kind]


def sound(events: Events) -> bytes:
    deltas = of(events, "response.output_audio.delta")
    return b"".join(base64.b64decode(event["delta"]) for event in deltas)


def words(events: Events, kind: str = "output_audio_transcript") -> str:
    return "".join(event["delta"] for event in of(events, f"response.{kind}.delta"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("home")
    lend_kernels(home)
    (home / "settings.toml").write_text("[adapters]\nopenai = true\n")
    devices = Devices(Home(home, home, home).state / "devices.json")
    keys = {
        "talking": devices.add("Notes", "", ("talk",))[1],
        "approving": devices.add("A demo", "", ("talk", "approve"))[1],
    }
    with ScriptedModel() as model, Server(home, model) as server:
        yield Site(server, model, keys)


@pytest.fixture(autouse=True)
def fresh(site: Site) -> None:
    site.model.forget()
    site.model.requests.clear()


async def test_what_is_said_while_a_key_is_held_is_answered_aloud(site: Site) -> None:
    site.model.add(says("It is ", "Rome."))
    question = site.spoken(ROME)
    async with site.session(settings=PRESSED) as connection:
        await say(connection, question)
        await connection.input_audio_buffer.commit()
        await connection.response.create()
        events = await until(connection, "response.done")
    (heard,) = of(events, "conversation.item.input_audio_transcription.completed")
    assert "capital of italy" in heard["transcript"].lower()
    assert "It is Rome." in words(events)
    assert len(sound(events)) > RATE // 2
    assert events[-1]["response"]["status"] == "completed"
    kinds = [event["type"] for event in events]
    order = [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "response.created",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.done",
    ]
    assert [kind for kind in dict.fromkeys(kinds) if kind in order] == order


async def test_the_end_of_what_is_said_is_found_where_the_client_does_not_say(site: Site) -> None:
    site.model.add(says("Rome it is."))
    question = site.spoken(ROME) + bytes(RATE * 2 * 2)
    async with site.session() as connection:
        sending = asyncio.create_task(say(connection, question))
        events = await until(connection, "response.done")
        await sending
    kinds = [event["type"] for event in events]
    started = kinds.index("input_audio_buffer.speech_started")
    stopped = kinds.index("input_audio_buffer.speech_stopped")
    committed = kinds.index("input_audio_buffer.committed")
    assert started < stopped < committed
    items = {events[number]["item_id"] for number in (started, stopped, committed)}
    assert len(items) == 1
    assert "Rome it is." in words(events)


async def test_an_answer_is_cut_where_the_client_says_that_it_was_heard(site: Site) -> None:
    told = " ".join(f"Number {number} is next." for number in range(1, 30))
    site.model.add(says(told), says("Well."))
    async with site.session(settings=PRESSED) as connection:
        content = [{"type": "input_text", "text": "Count, please."}]
        item = {"type": "message", "role": "user", "content": content}
        await connection.conversation.item.create(item=cast(Any, item))
        await connection.response.create()
        events: Events = []
        while len(sound(events)) < RATE * 2 * 3:
            events += await until(connection, "response.output_audio.delta")
        message = of(events, "response.output_audio.delta")[-1]["item_id"]
        await connection.conversation.item.truncate(
            item_id=message, content_index=0, audio_end_ms=2_000
        )
        events = await until(connection, "response.done")
        assert of(events, "conversation.item.truncated")
        assert events[-1]["response"]["status"] == "cancelled"
        await write(connection, "How far were you?")
    remembered = str(site.model.requests[-1].messages)
    assert "Number 1 is next" in remembered.replace("one", "1")
    assert "Number 9 is next" not in remembered


async def test_text_is_answered_with_text_where_no_sound_is_wanted(site: Site) -> None:
    site.model.add(says("Only ", "text."))
    async with site.session(settings={"instructions": "Answer briefly.", **TEXT}) as connection:
        events = await write(connection, "Which word is it?")
    assert words(events, "output_text") == "Only text."
    assert not sound(events)
    assert "Answer briefly." in str(site.model.requests[-1].messages)


async def test_what_was_said_before_is_told(site: Site) -> None:
    site.model.add(says("Blue."))
    async with site.session(settings=TEXT) as connection:
        for role, kind, text in (
            ("user", "input_text", "I like blue."),
            ("assistant", "output_text", "Noted."),
        ):
            content = [{"type": kind, "text": text}]
            item = {"type": "message", "role": role, "content": content}
            await connection.conversation.item.create(item=cast(Any, item))
        await write(connection, "What do I like?")
    told = str(site.model.requests[-1].messages)
    assert "I like blue." in told
    assert "Noted." in told


async def test_code_runs_after_a_yes_and_its_output_is_shown(site: Site) -> None:
    site.model.add(runs("print('the ' + 'output')", "Let me see."), says("Done."))
    async with site.session(settings=TEXT) as connection:
        events = await write(connection, "Run it.")
        wish = events[-1]["response"]["output"][-1]
        assert wish["type"] == "mcp_approval_request"
        assert "print('the ' + 'output')" in wish["arguments"]
        answer = {
            "type": "mcp_approval_response",
            "id": "answer_1",
            "approval_request_id": wish["id"],
            "approve": True,
        }
        await connection.conversation.item.create(item=cast(Any, answer))
        events = await until(connection, "response.done")
    output = events[-1]["response"]["output"]
    (ran,) = [item for item in output if item["type"] == "mcp_call"]
    assert "the output" in ran["output"]
    assert words(events, "output_text").strip() == "Done."


async def test_a_no_and_a_key_that_may_not_approve_run_nothing(site: Site) -> None:
    site.model.add(runs("open('made', 'w')"), says("Then not."))
    async with site.session(settings=TEXT) as connection:
        events = await write(connection, "Make it.")
        wish = events[-1]["response"]["output"][-1]
        answer = {
            "type": "mcp_approval_response",
            "id": "answer_1",
            "approval_request_id": wish["id"],
            "approve": False,
        }
        await connection.conversation.item.create(item=cast(Any, answer))
        events = await until(connection, "response.done")
        assert "Then not." in words(events, "output_text")
        # Settled: the same answer again is none, and says so.
        await connection.conversation.item.create(item=cast(Any, answer | {"approve": True}))
        assert (await until(connection, "error"))[-1]["error"]["message"]
    site.model.forget()
    site.model.add(runs("open('made', 'w')"), says("Not allowed."))
    async with site.session("talking", TEXT) as connection:
        events = await write(connection, "Make it.")
        output = events[-1]["response"]["output"]
        assert not [item for item in output if item["type"] == "mcp_approval_request"]
        forged = answer | {"approval_request_id": "mcpr_1", "approve": True}
        await connection.conversation.item.create(item=cast(Any, forged))
        await until(connection, "error")
    assert not list(site.server.home.glob("workspaces/*/made"))


async def test_what_is_not_taken_is_said_and_the_session_goes_on(site: Site) -> None:
    site.model.add(says("Still here."))
    async with site.session(settings=TEXT) as connection:
        for event in (
            {"type": "input_audio_buffer.append", "audio": "%%"},
            {"type": "input_audio_buffer.commit"},
            {"type": "session.update", "session": {"type": "realtime", "tools": [{}]}},
            {"type": "session.update", "session": {"type": "transcription"}},
            {"type": "response.create"},
            {"type": "response.cancel"},
            {"type": "conversation.item.truncate", "item_id": "x", "audio_end_ms": -1},
            {"type": "no.such.event", "event_id": "mine"},
        ):
            await connection.send(cast(Any, event))
            (error,) = await until(connection, "error")
            assert error["error"]["message"]
        assert error["error"]["event_id"] == "mine"
        assert words(await write(connection, "Tell me a word."), "output_text") == "Still here."


async def test_nobody_comes_in_without_a_key(site: Site) -> None:
    url = f"ws://127.0.0.1:{site.server.port}/v1/realtime?model=sayso"
    for headers, status in (({}, 401), ({"Authorization": "Bearer wrong"}, 401)):
        with pytest.raises(InvalidStatus) as refusal:
            await connect(url, additional_headers=headers, proxy=None)
        assert refusal.value.response.status_code == status
    key = {"Authorization": f"Bearer {site.keys['talking']}"}
    with pytest.raises(InvalidStatus) as refusal:
        await connect(
            url, additional_headers=key, origin=cast(Any, "https://evil.example"), proxy=None
        )
    assert refusal.value.response.status_code == 403
