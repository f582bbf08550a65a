"""The server is killed at any moment, or told to end, and started again: all is there, and nothing
runs twice."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from websockets.asyncio.client import ClientConnection, connect

from sayso.protocol import messages as m
from sayso.protocol.codec import Envelope, decode, encode
from sayso.protocol.home import Home, read_token
from sayso.protocol.version import SPOKEN
from tests.kernels import lend_kernels
from tests.rig import Server
from tests.scripted_model import Reply, ScriptedModel, runs, says

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(240)]

WAIT_S = 60.0
"""Longest time for one message on a busy machine."""

TALLY = "with open('tally', 'a') as file: file.write('x')"
"""Code of which is seen how often it ran."""

Kind = TypeVar("Kind", bound=m.Message)


@dataclass
class Device:
    socket: ClientConnection

    async def say(self, message: m.FromClient) -> None:
        await self.socket.send(encode(Envelope(message)))

    async def hear(self, kind: type[Kind]) -> Kind:
        """The next message of a kind; what comes before it is passed over."""
        async with asyncio.timeout(WAIT_S):
            while True:
                data = await self.socket.recv()
                message = decode(data).message if isinstance(data, str) else None
                if isinstance(message, kind):
                    return message

    async def approve(self, decision: str = "yes") -> m.ApprovalRequest:
        request = await self.hear(m.ApprovalRequest)
        await self.say(m.Approve(request.id, request.nonce, decision))  # type: ignore[arg-type]
        return request

    async def answer(self) -> str:
        """What is said until the turn is over."""
        text = ""
        while not isinstance(message := await self.hear_any(m.ReplyDelta, m.Metrics), m.Metrics):
            assert isinstance(message, m.ReplyDelta)
            text += message.text
        return text

    async def hear_any(self, *kinds: type[m.Message]) -> m.Message:
        async with asyncio.timeout(WAIT_S):
            while True:
                data = await self.socket.recv()
                message = decode(data).message if isinstance(data, str) else None
                if isinstance(message, kinds):
                    return message


@asynccontextmanager
async def device(server: Server, *also: str) -> AsyncIterator[Device]:
    """`also`: what it wants to be told besides."""
    token = read_token(Home(server.home, server.home, server.home))
    headers = {"Authorization": f"Bearer {token}"}
    async with connect(server.url, additional_headers=headers, proxy=None) as socket:
        wants = (
            "reply.delta",
            "approval.request",
            "metrics",
            "code.out",
            "code.end",
            "command.done",
            "announce",
            *also,
        )
        await socket.send(encode(Envelope(m.Hello(SPOKEN, "test", device="desk", wants=wants))))
        yield Device(socket)


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def server(tmp_path: Path, model: ScriptedModel) -> Iterator[Server]:
    lend_kernels(tmp_path)
    with Server(tmp_path, model) as server:
        yield server


HOWEVER_IT_ENDS = pytest.mark.parametrize(
    "number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "told to end"]
)


async def kill_and_start(server: Server, number: signal.Signals = signal.SIGKILL) -> None:
    os.kill(server.process.pid, number)
    await asyncio.to_thread(server.process.wait, 30)
    server.log.close()
    await asyncio.to_thread(server.start)


def tally(server: Server) -> str:
    file = server.home / "workspaces" / "main" / "tally"
    return file.read_text() if file.exists() else ""


@HOWEVER_IT_ENDS
async def test_a_question_that_was_open_is_put_again_and_its_code_runs_once(
    server: Server, model: ScriptedModel, number: signal.Signals
) -> None:
    model.add(runs(TALLY, "I count. "), says("Counted."), says("Once."))
    async with device(server) as desk:
        await desk.say(m.Text("count"))
        first = await desk.hear(m.ApprovalRequest)
        await kill_and_start(server, number)
    async with device(server) as desk:
        again = await desk.hear(m.ApprovalRequest)
        assert (again.code, again.language) == (first.code, first.language)
        assert again.id != first.id
        await desk.say(m.Approve(first.id, first.nonce, "yes"))  # the old one counts for nothing
        await desk.say(m.Approve(again.id, again.nonce, "yes"))
        assert (await desk.hear(m.CodeEnd)).status == "ok"
        assert (await desk.answer()).strip() == "Counted."
    assert tally(server) == "x"
    await kill_and_start(server)
    async with device(server) as desk:
        await desk.say(m.Text("how often"))
        assert await desk.answer() == "Once."
        assert tally(server) == "x"
        await desk.say(m.Command("undo"))
        assert (await desk.hear(m.CommandDone)).ok
        assert tally(server) == ""
    roles = [message["role"] for message in model.requests[-1].messages]
    assert roles[:6] == ["system", "user", "assistant", "user", "assistant", "user"]


@HOWEVER_IT_ENDS
async def test_code_that_ran_is_told_as_unknown_and_not_run_again(
    server: Server, model: ScriptedModel, number: signal.Signals
) -> None:
    wait = f"{TALLY}\nprint('begun', flush=True)\nimport time\ntime.sleep(600)"
    model.add(runs(wait), says("I do not know."))
    async with device(server) as desk:
        await desk.say(m.Text("count"))
        await desk.approve()
        assert (await desk.hear(m.CodeOut)).text == "begun\n"
        await kill_and_start(server, number)
    async with device(server) as desk:
        await desk.say(m.Text("what happened"))
        assert await desk.answer() == "I do not know."
    assert "what it did is unknown" in str(model.requests[-1].messages)
    assert tally(server) == "x"


LEAVING_HOOKS = """
import pathlib, time
for name in ("hooks", "objects", "refs"):
    pathlib.Path("left/.git", name).mkdir(parents=True)
pathlib.Path("left/.git/HEAD").write_text("ref: refs/heads/main\\n")
pathlib.Path("left/.git/hooks/pre-commit").write_text("#!/bin/sh\\n")
print("begun", flush=True)
time.sleep(600)
"""


async def test_what_a_run_left_is_looked_through_at_the_start_in_a_conversation_that_nobody_opens(
    server: Server, model: ScriptedModel
) -> None:
    model.add(runs(LEAVING_HOOKS), says("Well."))
    async with device(server) as desk, device(server) as other:
        await desk.say(m.Text("leave something"))
        await desk.approve()
        assert (await desk.hear(m.CodeOut)).text == "begun\n"
        await other.say(m.Command("new", "later"))
        assert (await other.hear(m.CommandDone)).ok
        await other.say(m.Text("tell me of the sea"))
        assert await other.answer() == "Well."
        await kill_and_start(server)
    hooks = server.home / "workspaces" / "main" / "left" / ".git" / "hooks"
    assert [hook.name for hook in hooks.iterdir()] == ["pre-commit.disarmed"]


async def test_what_was_said_and_what_was_to_be_told_is_there(
    server: Server, model: ScriptedModel
) -> None:
    model.add(Reply(says=["Once upon ", "a time "], ending="hang"), says("There was a cat."))
    async with device(server) as desk:
        await desk.say(m.Text("remind me in one hour to stretch"))
        assert "hour" in await desk.answer()
        await desk.say(m.Text("tell me of my cat Tom"))
        await desk.hear(m.ReplyDelta)
    await kill_and_start(server)
    async with device(server) as desk:
        await desk.say(m.Text("go on"))
        assert await desk.answer() == "There was a cat."
        assert "my cat Tom" in str(model.requests[-1].messages)
        await desk.say(m.Text("what reminders do I have"))
        assert "stretch" in await desk.answer()


async def test_what_came_due_while_nobody_was_there_is_told_when_somebody_is(
    server: Server, model: ScriptedModel
) -> None:
    async with device(server) as desk:
        await desk.say(m.Text("set a tea timer for one second"))
        assert "second" in await desk.answer()
    for _ in range(2):
        await kill_and_start(server)  # which takes longer than the tea
    async with device(server) as desk:
        assert "tea" in (await desk.hear(m.Announce)).text


@HOWEVER_IT_ENDS
async def test_an_answer_that_was_cut_off_is_told_of_and_gone_on_with(
    server: Server, model: ScriptedModel, number: signal.Signals
) -> None:
    words = [f"word{number} " for number in range(400)]
    model.add(Reply(says=words, between_s=0.1), says("There."))
    async with device(server) as desk:
        await desk.say(m.Text("tell me of my cat Tom"))
        said = ""
        while "word30 " not in said:
            said += (await desk.hear(m.ReplyDelta)).text
        await kill_and_start(server, number)
    async with device(server) as desk:
        assert "in the middle of “tell me of my cat Tom”" in (await desk.hear(m.Announce)).text
        await desk.say(m.Text("go on"))
        assert await desk.answer() == "There."
    _, asked, kept, last = model.requests[-1].messages
    assert asked["content"].endswith("tell me of my cat Tom")
    assert kept["content"].startswith("word0 word1 word2 ")
    assert "word10 " in kept["content"]
    assert last["content"].endswith("go on")


@HOWEVER_IT_ENDS
async def test_an_answer_that_was_still_being_said_is_said_again(
    server: Server, model: ScriptedModel, number: signal.Signals
) -> None:
    answer = "The tide is high at seven. It is low at one in the morning. Then it rises again."
    model.add(says(answer))
    async with device(server, "speech.start") as desk:
        await desk.say(m.Text("when is the tide high"))
        while "rises" not in (await desk.hear(m.SpeechStart)).text:
            pass
        await kill_and_start(server, number)
    async with device(server, "speech.start") as desk:
        assert (await desk.hear(m.Announce)).text.endswith(f"is back: {answer}")
        said = ""
        while "rises" not in said:
            said += (await desk.hear(m.SpeechStart)).text
        assert "The tide is high at seven." in said
