"""Through a whole conversation: code at work, words from two devices, and no word lost."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.reflexes.reminders.reminder import Reminder
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.turn.events import ApprovalAnswered, Interrupted, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.server.running_server import running_server, until

ASIDES = (
    "What time is it?",
    "What are you doing?",
    "How far is it?",
    "What's left?",
    "How much was that?",
    "Was machst du gerade?",
    "Set a timer for ten minutes.",
)
CODE = """
import pathlib, time
while not pathlib.Path('go').exists():
    time.sleep(0.02)
print('3 passed in 0.10s')
"""


class OneRun(PlainModel):
    """Writes code once, and then says what it was told last."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.told.append(str(messages[-1]["content"]))
        return f"```python\n{CODE}\n```\n" if messages[-1]["content"] == "sort it" else "Done."


async def test_asides_end_nothing_and_other_words_reach_the_model_once(tmp_path: Path) -> None:
    environment, report, model = ensure(lent_home()), await find_sandbox(), OneRun()
    places: list[Path] = []

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        places.append(place)
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=model, code_runner=code_runner) as server:
        desk = await server.device("desk")
        kitchen = await server.device("kitchen")
        desk.seat.happened(Typed("desk", "sort it"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "yes", None))
        await until(lambda: desk.all(m.CodeStart))
        clock = asyncio.get_running_loop().time
        for number in range(20):
            device = (desk, kitchen)[number % 2]
            before, began = len(device.all(m.Announce)), clock()
            name = "desk" if device is desk else "kitchen"
            device.seat.happened(Typed(name, ASIDES[number % len(ASIDES)]))
            await until(lambda: len(device.all(m.Announce)) > before)  # noqa: B023
            assert clock() - began < 1.0
        kitchen.seat.happened(Typed("kitchen", "leave out the pictures"))
        await until(lambda: "Will do." in str(kitchen.all(m.Announce)) or kitchen.all(m.Announce))
        assert not desk.all(m.CodeEnd)
        (places[-1] / "go").touch()
        await until(lambda: len(model.told) == 2)
        assert model.told[1].count("leave out the pictures") == 1
        told = " ".join(each.text for each in desk.all(m.Announce) if isinstance(each, m.Announce))
        assert "step one" in told
        for code in ("pathlib", "time.sleep", "/"):
            assert code not in told


async def test_stop_after_this_says_how_far_it_is(tmp_path: Path) -> None:
    environment, report, model = ensure(lent_home()), await find_sandbox(), OneRun()
    places: list[Path] = []

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        places.append(place)
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=model, code_runner=code_runner) as server:
        desk = await server.device("desk")
        desk.seat.happened(Typed("desk", "sort it"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "yes", None))
        await until(lambda: desk.all(m.CodeStart))
        desk.seat.happened(Typed("desk", "Stop after this."))
        await until(lambda: desk.all(m.Announce))
        (places[-1] / "go").touch()
        await until(lambda: desk.all(m.ReplyDelta))
        said = "".join(
            each.text for each in desk.all(m.ReplyDelta) if isinstance(each, m.ReplyDelta)
        )
        assert "I stopped here, after one step. All three tests pass." in said
        assert len(model.told) == 1


class InBackground(PlainModel):
    """Writes code that takes a minute, and is done once that goes on in the background."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        code = "import time\ntime.sleep(60)"
        asked = messages[-1]["content"] == "wait in the background"
        return f"```python\n{code}\n```\n" if asked else "It runs."


@pytest.mark.slow
async def test_a_stop_of_what_has_not_begun_ends_nothing_of_the_request_before(
    tmp_path: Path,
) -> None:
    environment, report = ensure(lent_home()), await find_sandbox()

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=InBackground(), code_runner=code_runner) as server:
        desk = await server.device("desk")
        desk.seat.happened(Typed("desk", "wait in the background"))
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "yes", None))
        await until(lambda: "It runs." in str(desk.all(m.ReplyDelta)))
        await until(lambda: desk.all(m.Metrics))
        desk.seat.happened(Typed("desk", "describe the sea"))
        desk.seat.happened(Interrupted("desk", None, 0))
        assert await desk.ask("describe the sea") == "It runs."
        (job,) = desk.seat.snapshot().tasks
        assert (job["title"], job["state"]) == ("wait in the background", "running")


async def test_a_stop_while_an_alarm_rings_is_for_the_alarm_and_the_next_for_the_work(
    tmp_path: Path,
) -> None:
    environment, report, model = ensure(lent_home()), await find_sandbox(), OneRun()

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=model, code_runner=code_runner) as server:
        desk = await server.device("desk", speaks=True)
        desk.seat.happened(Typed("desk", "sort it"))
        await until(lambda: desk.all(m.ApprovalRequest))
        alarm = Reminder("a1", "alarm", time.time(), device="desk", conversation="main")
        ringing = asyncio.create_task(server.responder.tell(alarm, server.conversations.tell))
        await until(lambda: desk.all(m.Announce))
        desk.seat.happened(Typed("desk", "Stop."))
        off = m.Announce("The alarm is off.", "low", answers=True)
        await until(lambda: off in desk.told)
        await ringing
        desk.told.clear()
        desk.seat.happened(Typed("desk", "How far is it?"))
        await until(lambda: desk.all(m.Announce))
        assert not desk.all(m.TurnState)
        desk.seat.happened(Typed("desk", "Stop."))
        await until(lambda: m.TurnState("idle", "idle", "silent") in desk.told)


async def test_a_stop_while_an_alarm_rings_is_told_as_one_where_nothing_is_worked_on(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        kitchen = await server.device("kitchen", speaks=True)
        alarm = Reminder("a1", "alarm", time.time(), device="kitchen", conversation="main")
        ringing = asyncio.create_task(server.responder.tell(alarm, server.conversations.tell))
        await until(lambda: kitchen.all(m.Announce))
        desk.seat.happened(Typed("desk", "Stop."))
        await until(lambda: m.ReplyDelta("Stopped.") in desk.told)
        await ringing
