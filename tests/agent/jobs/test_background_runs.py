"""Runs that last are jobs; in the background they outlive their request, and stop when told to."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from sayso.server.agent.events import Announce, CodeEnd, CodeStart, ReplyDelta
from sayso.server.agent.jobs.background_runs import NOTHING_RUNS
from sayso.server.agent.jobs.job import Job
from sayso.server.agent.limits import JobLimits
from sayso.server.agent.loop import Agent
from sayso.server.agent.record.journal import Journal
from sayso.server.store.changes import Changes
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobBegan, JobDetached, JobEnded, JobTold
from sayso.server.store.records import Record, RunIntended
from sayso.server.undo.checkpointer import NoCheckpoints
from tests.agent.hourglass import CODE, Recital, Room

pytestmark = pytest.mark.virtual_time

TRAIN = CODE.format("30 epoch 1/2; 30 accuracy 94 percent")
IN_BACKGROUND = "train it in the background"


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    log = await EventLog.open(tmp_path / "log.db")
    yield Room(log, await Journal.open(log, "c"))
    await log.close()


async def work(agent: Agent, text: str) -> list[object]:
    return [event async for event in agent.work(text, by="desk")]


async def of_jobs(room: Room) -> list[type[Record]]:
    kinds = (JobBegan, JobDetached, JobEnded, JobTold)
    return [type(record) for record in await room.records() if isinstance(record, kinds)]


async def test_a_run_is_a_job_when_it_has_lasted_ten_seconds(room: Room) -> None:
    agent = room.agent(Recital(CODE.format("9.5 x"), "A.", TRAIN, "B."), 600.0, "workspace")
    told: list[tuple[float, Job]] = []
    clock = asyncio.get_running_loop().time
    agent.jobs.watch(lambda job: told.append((clock(), job)))
    await work(agent, "quickly")
    assert told == []
    began = clock()
    await work(agent, "train it")
    at, first = told[0]
    assert at - began == 11.0  # the model took one
    assert (first.title, first.by, first.where) == ("train it", "desk", "foreground")
    assert ("epoch 1/2", 0.5) in [(job.text, job.fraction) for _, job in told]
    assert told[-1][1].state == "done"
    assert told[-1][1].text == "accuracy 94 percent"
    assert agent.jobs.running == []
    assert [job.id for job in agent.jobs.recent] == [first.id]


async def test_what_is_asked_for_in_the_background_does_not_keep_the_request(room: Room) -> None:
    model = Recital(TRAIN, "It trains.", "It is 94.")
    agent = room.agent(model, 600.0, "workspace")
    clock = asyncio.get_running_loop().time
    events = await work(agent, IN_BACKGROUND)
    assert clock() == 1 + 2 + 1
    (ended,) = [event for event in events if isinstance(event, CodeEnd)]
    (job,) = agent.jobs.running
    assert job.id in ended.detail
    assert job.where == "background"
    assert f"as the job {job.id}" in model.sent[-1]["content"]
    await asyncio.sleep(100)
    assert agent.jobs.running == []
    (over,) = agent.jobs.untold
    assert (over.state, over.text, over.by) == ("done", "accuracy 94 percent", "desk")
    await work(agent, "and?")
    assert f"The job {job.id} in the background has ended: done." in model.sent[-1]["content"]
    assert "accuracy 94 percent" in model.sent[-1]["content"]
    assert await of_jobs(room) == [JobBegan, JobDetached, JobEnded]


async def test_a_short_run_of_such_a_request_is_waited_for(room: Room) -> None:
    agent = room.agent(Recital(CODE.format("1 ready"), "Done."), 600.0, "workspace")
    await work(agent, IN_BACKGROUND)
    assert agent.jobs.running == []
    assert room.hourglass.set_asides == 0


async def test_a_job_outlives_other_requests_and_their_stop(room: Room) -> None:
    agent = room.agent(Recital(TRAIN, "It trains.", CODE.format(50)), 600.0, "workspace")
    await work(agent, IN_BACKGROUND)
    async with aclosing(agent.work("another")) as events:
        async for event in events:
            if isinstance(event, CodeStart):
                break
    assert room.hourglass.stopped == 1
    (job,) = agent.jobs.running
    assert job.title == IN_BACKGROUND
    await asyncio.sleep(60)
    assert agent.jobs.get(job.id).state == "done"  # type: ignore[union-attr]


async def test_only_so_many_go_on_and_the_next_is_waited_for_with_a_word(room: Room) -> None:
    agent = room.agent(
        Recital(*[TRAIN, "It trains."] * 2, CODE.format(20), "Done."),
        600.0,
        "workspace",
        JobLimits(at_once=2),
    )
    await work(agent, IN_BACKGROUND)
    await work(agent, IN_BACKGROUND)
    before = asyncio.get_running_loop().time()
    events = await work(agent, IN_BACKGROUND)
    (remarked,) = [event for event in events if isinstance(event, Announce)]
    assert remarked.text.startswith("Two jobs go on in the background already")
    assert asyncio.get_running_loop().time() == before + 1 + 20 + 1
    assert len(agent.jobs.in_background) == 2
    await agent.runs.close()


async def test_a_job_is_stopped_by_its_id_and_nobody_is_told_what_they_did(room: Room) -> None:
    agent = room.agent(Recital(TRAIN, "It trains."), 600.0, "workspace")
    await work(agent, IN_BACKGROUND)
    (job,) = agent.jobs.running
    assert not await agent.runs.stop("j0")
    assert await agent.runs.stop(job.id)
    assert not await agent.runs.stop(job.id)
    assert room.hourglass.stopped == 1
    (report,) = await room.reports()
    assert (report.status, report.detail) == ("interrupted", "The person interrupted it.")
    assert agent.jobs.untold == []
    again = await Journal.open(room.log, "c")
    assert again.jobs.untold == []
    assert again.jobs.get(job.id).state == "cancelled"  # type: ignore[union-attr]


class WaitingCheckpoints(NoCheckpoints):
    """Looks at the folders when it is let."""

    def __init__(self) -> None:
        self.may_look = asyncio.Event()

    async def after(self, run: str, code: str = "") -> Changes:
        await self.may_look.wait()
        return await super().after(run, code)


async def test_a_job_that_is_stopped_twice_ends_once_and_its_end_is_kept(room: Room) -> None:
    agent = room.agent(Recital(TRAIN, "It trains."), 600.0, "workspace")
    agent.runs.checkpointer = looking = WaitingCheckpoints()
    await work(agent, IN_BACKGROUND)
    (job,) = agent.jobs.running
    stops = [asyncio.create_task(agent.runs.stop(job.id))]
    await asyncio.sleep(1)
    stops.append(asyncio.create_task(agent.runs.stop(job.id)))
    await asyncio.sleep(1)
    looking.may_look.set()
    assert await asyncio.gather(*stops) == [True, True]
    assert [report.status for report in await room.reports()] == ["interrupted"]
    assert agent.jobs.running == []


async def test_a_run_that_ends_as_its_time_is_up_gives_the_request_no_more_of_it(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = room.agent(Recital(CODE.format(5), CODE.format(5_000), "Done."), 600.0, "workspace")
    agent.runs.checkpointer = looking = WaitingCheckpoints()

    def set_aside(language: str) -> bool:
        looking.may_look.set()
        return True

    monkeypatch.setattr(room.hourglass, "set_aside", set_aside)
    events = await work(agent, "train it")
    said = "".join(event.text for event in events if isinstance(event, ReplyDelta))
    assert said.strip() == "I have worked on this for 10 minutes. Shall I go on?"
    assert asyncio.get_running_loop().time() == 600
    assert len(await room.reports()) == 1


async def test_what_a_request_left_in_the_background_is_stopped_with_it(room: Room) -> None:
    agent = room.agent(Recital(*[TRAIN, "It trains."] * 2), 600.0, "workspace")
    await work(agent, IN_BACKGROUND)
    await work(agent, "the other one in the background")
    stopped = await agent.runs.stop_request(agent.jobs.turn)
    assert stopped == ["the other one in the background"]
    assert [job.title for job in agent.jobs.running] == [IN_BACKGROUND]
    await agent.runs.close()


async def test_what_is_waited_for_goes_to_the_background_when_the_person_says_so(
    room: Room,
) -> None:
    agent = room.agent(Recital(TRAIN, "It trains."), 600.0, "workspace")
    assert agent.use_time("background") == NOTHING_RUNS
    sent = []
    async for event in agent.work("train it"):
        if isinstance(event, CodeStart):
            asyncio.get_running_loop().call_later(
                5, lambda: sent.append(agent.use_time("background"))
            )
    assert sent == [""]
    assert asyncio.get_running_loop().time() == 1 + 5 + 1
    assert len(agent.jobs.in_background) == 1
    await agent.runs.close()


async def test_a_job_ends_when_its_hours_are_over(room: Room) -> None:
    jobs = JobLimits(hours=0.01)
    agent = room.agent(Recital(CODE.format(500), "It trains."), 600.0, "workspace", jobs)
    await work(agent, IN_BACKGROUND)
    await asyncio.sleep(100)
    (job,) = agent.jobs.untold
    assert job.state == "cancelled"
    assert "as long as a job may" in job.text
    assert "(`jobs.hours`)" in job.text


async def test_what_it_printed_last_does_not_hide_why_a_job_was_ended(room: Room) -> None:
    jobs = JobLimits(hours=0.01)
    code = CODE.format("1 epoch 12; 500")
    agent = room.agent(Recital(code, "It trains."), 600.0, "workspace", jobs)
    await work(agent, IN_BACKGROUND)
    await asyncio.sleep(100)
    (job,) = agent.jobs.untold
    assert "as long as a job may" in job.text
    assert job.text.endswith(": epoch 12")


async def test_a_job_whose_server_ended_is_unknown_and_is_not_run_again(room: Room) -> None:
    agent = room.agent(Recital(TRAIN, "It trains."), 600.0, "workspace")
    await work(agent, IN_BACKGROUND)
    room.journal.put_down()
    await agent.runs.close()
    again = await Journal.open(room.log, "c")
    (job,) = again.jobs.untold
    assert (job.state, job.title, job.by) == ("unknown", IN_BACKGROUND, "desk")
    (report,) = await room.reports()
    assert report.status == "unknown"
    assert len([one for one in await room.records() if isinstance(one, RunIntended)]) == 1
    assert [one.id for one in (await Journal.open(room.log, "c")).jobs.untold] == [job.id]


async def test_jobs_at_rest_take_little_memory(room: Room) -> None:
    import gc
    import tracemalloc

    flood = CODE.format("0 " + "x" * 5_000 + "; 600")
    agent = room.agent(Recital(*[flood, "ok"] * 3), 600.0, "workspace", JobLimits(at_once=3))
    await work(agent, IN_BACKGROUND)
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    await work(agent, IN_BACKGROUND)
    await work(agent, IN_BACKGROUND)
    await asyncio.sleep(60)
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (after - before) / 2 < 200_000
    await agent.runs.close()
