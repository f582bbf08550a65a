"""How long a request may take, by the virtual clock."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from sayso.server.agent.events import AgentEvent, ApprovalAsked, RunEnded, Said, WorkDone
from sayso.server.agent.limits import Budget, RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.approvals import Approvals
from sayso.server.agent.permissions.modes import Mode, Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import RunReported
from tests.agent.permissions.places import Ungranted
from tests.plain_model import PlainModel

pytestmark = pytest.mark.virtual_time

CODE = "```python\n{}\n```\n"


class Recital(PlainModel):
    """A model that takes a second for each reply."""

    name = "recital"
    takes_s = 1.0

    def __init__(self, *replies: str) -> None:
        self._replies = list(replies)
        self.sent: Sequence[ChatMessage] = ()

    def says(self, messages: Sequence[ChatMessage]) -> str:
        self.sent = list(messages)
        return self._replies.pop(0)


class Hourglass(Ungranted):
    """A place where code takes as many seconds as it says: real ones know no virtual time."""

    languages = ("python",)
    where = "/w"
    refusal = ""

    def __init__(self) -> None:
        self.touch: tuple[str, ...] = ("write /w",)
        self.stopped = False

    def may_touch(self, language: str) -> tuple[str, ...]:
        return self.touch

    async def run(self, language: str, code: str) -> AsyncIterator[Output | Ending]:
        try:
            await asyncio.sleep(float(code))
        except asyncio.CancelledError:
            self.stopped = True
            raise
        yield Ending("ok", float(code))


class Room:
    def __init__(self, log: EventLog, journal: Journal) -> None:
        self.log = log
        self.approvals = Approvals(journal, expires_s=120.0)
        self.hourglass = Hourglass()
        self._journal = journal
        self.events: list[AgentEvent] = []

    def agent(self, model: Recital, seconds: float, mode: Mode) -> Agent:
        return Agent(
            Backend(model, profile("default")),
            self.hourglass,
            self.approvals,
            ConversationRecord(self._journal),
            budget=Budget(RequestLimits(seconds=seconds)),
            permissions=Permissions(mode=mode),
        )

    @property
    def said(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Said))

    async def reports(self) -> list[RunReported]:
        events = await self.log.conversation("c")
        return [event.record for event in events if isinstance(event.record, RunReported)]


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    log = await EventLog.open(tmp_path / "log.db")
    yield Room(log, await Journal.open(log, "c"))
    await log.close()


async def test_work_that_takes_too_long_is_stopped_and_ends_in_a_question(room: Room) -> None:
    model = Recital(CODE.format(500), "Then not.")
    agent = room.agent(model, 60.0, "workspace")
    clock = asyncio.get_running_loop().time
    room.events = [event async for event in agent.work("go")]
    assert clock() == 60.0
    assert room.hourglass.stopped
    assert room.said.strip() == "I have worked on this for 60 seconds. Shall I go on?"
    assert isinstance(room.events[-1], WorkDone)
    (report,) = await room.reports()
    assert report.status == "interrupted"
    assert "time for this request was up" in report.detail
    (ended,) = [event for event in room.events if isinstance(event, RunEnded)]
    assert (ended.status, ended.detail) == ("interrupted", report.detail)
    room.events = [event async for event in agent.work("no")]
    assert room.said == "Then not."
    assert model.sent[-2]["content"].endswith("Shall I go on?")


async def test_a_model_that_takes_too_long_ends_in_a_question_too(room: Room) -> None:
    agent = room.agent(Recital("never"), 0.5, "workspace")
    room.events = [event async for event in agent.work("go")]
    assert room.said.endswith("Shall I go on?")


async def test_time_that_the_person_takes_to_decide_is_not_counted(room: Room) -> None:
    agent = room.agent(Recital(CODE.format(5), "Done."), 10.0, "ask")
    async for event in agent.work("go"):
        room.events.append(event)
        if isinstance(event, ApprovalAsked):
            await asyncio.sleep(100)
            room.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
    assert room.said == "Done."
    assert asyncio.get_running_loop().time() == 1 + 100 + 5 + 1


async def test_silence_is_told_to_the_model_as_a_no(room: Room) -> None:
    model = Recital(CODE.format(5), "All right.")
    agent = room.agent(model, 10.0, "ask")
    room.events = [event async for event in agent.work("go")]
    assert room.said == "All right."
    assert "did not answer, which means no" in model.sent[-1]["content"]
    (ended,) = [event for event in room.events if isinstance(event, RunEnded)]
    assert (ended.status, ended.detail) == ("refused", "It did not run.")


async def test_it_is_asked_again_if_the_code_could_reach_more_by_then(room: Room) -> None:
    agent = room.agent(Recital(CODE.format(1), "Done."), 60.0, "ask")
    asked: list[tuple[str, ...]] = []
    async for event in agent.work("go"):
        if isinstance(event, ApprovalAsked):
            asked.append(event.may_touch)
            room.hourglass.touch = ("write /w", "the network")
            room.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
    assert asked == [("write /w",), ("write /w", "the network")]
