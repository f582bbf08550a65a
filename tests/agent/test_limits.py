"""How long a request may take, by the virtual clock."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd, TimeAsked, WorkDone
from sayso.server.agent.limits import JobLimits
from sayso.server.agent.record.journal import Journal
from sayso.server.store.event_log import EventLog
from tests.agent.hourglass import CODE, Recital, Room

pytestmark = pytest.mark.virtual_time

NO_JOBS = JobLimits(at_once=0)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    log = await EventLog.open(tmp_path / "log.db")
    yield Room(log, await Journal.open(log, "c"))
    await log.close()


async def test_work_that_takes_too_long_and_finds_no_room_beside_is_stopped_with_a_question(
    room: Room,
) -> None:
    model = Recital(CODE.format(500), "Then not.")
    agent = room.agent(model, 60.0, "workspace", NO_JOBS)
    clock = asyncio.get_running_loop().time
    room.events = [event async for event in agent.work("go")]
    assert clock() == 60.0
    assert room.hourglass.stopped
    assert room.said.strip() == "I have worked on this for 60 seconds. Shall I go on?"
    assert isinstance(room.events[-1], WorkDone)
    (report,) = await room.reports()
    assert report.status == "interrupted"
    assert "time for this request was up" in report.detail
    (ended,) = [event for event in room.events if isinstance(event, CodeEnd)]
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
        if isinstance(event, ApprovalRequest):
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
    (ended,) = [event for event in room.events if isinstance(event, CodeEnd)]
    assert (ended.status, ended.detail) == ("refused", "It did not run.")


async def test_it_is_asked_again_if_the_code_could_reach_more_by_then(room: Room) -> None:
    agent = room.agent(Recital(CODE.format(1), "Done."), 60.0, "ask")
    asked: list[tuple[str, ...]] = []
    async for event in agent.work("go"):
        if isinstance(event, ApprovalRequest):
            asked.append(event.may_touch)
            room.hourglass.touch = ("write /w", "the network")
            room.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
    assert asked == [("write /w",), ("write /w", "the network")]


async def test_the_person_is_asked_before_the_time_is_up_and_silence_makes_a_job_of_it(
    room: Room,
) -> None:
    agent = room.agent(Recital(CODE.format("500 94 percent"), "Good."), 60.0, "workspace")
    clock, asked = asyncio.get_running_loop().time, 0.0
    async for event in agent.work("train it", by="desk"):
        room.events.append(event)
        if isinstance(event, TimeAsked):
            asked = clock()
    assert asked == 48.0
    assert clock() == 60.0
    assert not room.hourglass.stopped
    assert room.said.strip().startswith("I have worked on this for 60 seconds. It goes on in the")
    assert isinstance(room.events[-1], WorkDone)
    (job,) = agent.jobs.in_background
    assert (job.title, job.by, job.state) == ("train it", "desk", "running")
    await asyncio.sleep(500)
    (report,) = await room.reports()
    assert (report.status, report.output) == ("ok", "94 percent\n")
    assert agent.jobs.get(job.id).text == "94 percent"  # type: ignore[union-attr]


async def test_a_yes_gives_the_same_time_again_and_the_person_is_asked_again(room: Room) -> None:
    agent = room.agent(Recital(CODE.format(120), "Done."), 60.0, "workspace")
    clock, asked = asyncio.get_running_loop().time, []
    async for event in agent.work("go"):
        if isinstance(event, TimeAsked):
            asked.append((clock(), event.text.partition(".")[0]))
            agent.use_time("anew")
    assert asked == [
        (48.0, "This has taken 48 seconds so far"),
        (96.0, "This has taken 2 minutes so far"),
    ]
    assert clock() == 122.0
    assert room.hourglass.set_asides == 0


async def test_a_short_run_is_not_asked_about_late_as_it_may_be(room: Room) -> None:
    agent = room.agent(Recital(CODE.format(45), CODE.format(9), "Done."), 60.0, "workspace")
    room.events = [event async for event in agent.work("go")]
    assert not [event for event in room.events if isinstance(event, TimeAsked)]
    assert room.said == "Done."
