"""What a run tells of its progress reaches screens often, the log seldom, and ends with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeOut
from sayso.server.agent.jobs.job import Job
from sayso.server.agent.jobs.run_progress import RunProgress
from sayso.server.agent.jobs.updates import TOLD_EVERY_S, PacedUpdates
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobBegan, JobEnded, JobProgressed
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    Event,
    Record,
    RunIntended,
    RunReported,
    Withdrawn,
)
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says

CODE = Call("r1", "python", "sort()")


@dataclass
class Told:
    """A conversation in whose run `r1` code is at work, and all that was told of its jobs."""

    log: EventLog
    journal: Journal
    progress: RunProgress
    jobs: list[Job] = field(default_factory=list)

    async def records(self) -> list[Record]:
        kept = [event.record for event in await self.log.conversation("c")]
        return [one for one in kept if isinstance(one, JobBegan | JobProgressed | JobEnded)]


async def begin(journal: Journal, call: Call = CODE) -> None:
    await journal.note("person", Asked("sort my pictures"))
    await journal.note("model", Answered("", (call,)))
    await journal.note("server", RunIntended(call.id, call.language, call.code))


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Told]:
    log = await EventLog.open(tmp_path / "log.db")
    journal = await Journal.open(log, "c")
    await begin(journal)
    found = Told(log, journal, RunProgress(journal))
    updates = PacedUpdates(found.jobs.append)
    journal.jobs.watch(updates.changed)
    yield found
    updates.close()
    await log.close()


async def test_the_first_word_of_a_run_makes_a_job_of_it(told: Told) -> None:
    assert await told.progress.tell("r1", "half way", 0.5)
    [job] = told.jobs
    assert (job.kind, job.title, job.run, job.turn) == ("run", "sort my pictures", "r1", 1)
    assert (job.state, job.text, job.fraction) == ("running", "half way", 0.5)
    assert await told.records() == [
        JobBegan(job.id, "run", "sort my pictures", "r1", 1, "half way", 0.5)
    ]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("ok", "done"),
        ("error", "failed"),
        ("died", "failed"),
        ("interrupted", "cancelled"),
        ("unknown", "unknown"),
    ],
)
async def test_a_job_ends_as_its_run_did_with_the_end_of_its_output(
    told: Told, status: str, state: str
) -> None:
    await told.progress.tell("r1", "half way", 0.5)
    report = RunReported("r1", status, output="sorted\n")  # type: ignore[arg-type]
    await told.journal.note("runtime", report)
    assert (told.jobs[-1].state, told.jobs[-1].output) == (state, "sorted\n")
    assert (await told.records())[-1] == JobEnded(
        told.jobs[-1].id,
        state,  # type: ignore[arg-type]
        "sorted",
    )
    assert not told.journal.jobs.running


async def test_a_run_that_is_over_or_never_was_tells_nothing(told: Told) -> None:
    await told.journal.note("runtime", RunReported("r1", "ok"))
    for run in ("r1", "r2", "", "r"):
        assert not await told.progress.tell(run, "still here")
    assert (told.jobs, await told.records()) == ([], [])


async def test_many_who_tell_at_once_are_one_job(told: Told) -> None:
    await asyncio.gather(*(told.progress.tell("r1", str(n), n / 100) for n in range(100)))
    began = [one for one in await told.records() if isinstance(one, JobBegan)]
    assert len(began) == 1
    assert {job.id for job in told.jobs} == {began[0].id}


@pytest.mark.virtual_time
async def test_a_flood_of_progress_is_few_updates_fewer_records_and_its_last_word(
    told: Told,
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(20_000):
        await told.progress.tell("r1", f"file {number}", number / 20_000)
        await asyncio.sleep(0.001)
    took = loop.time() - began
    await asyncio.sleep(TOLD_EVERY_S)
    assert len(told.jobs) <= took / TOLD_EVERY_S + 2
    assert told.jobs[-1].text == "file 19999"
    assert len(await told.records()) <= took / 10 + 2


@pytest.mark.virtual_time
async def test_the_end_does_not_wait_and_nothing_follows_it(told: Told) -> None:
    loop = asyncio.get_running_loop()
    for text in ("one", "two", "three"):
        await told.progress.tell("r1", text)
    before = loop.time()
    await told.journal.note("runtime", RunReported("r1", "ok"))
    assert (told.jobs[-1].state, told.jobs[-1].text) == ("done", "three")
    assert loop.time() == before
    counted = len(told.jobs)
    await asyncio.sleep(10)
    assert len(told.jobs) == counted


async def test_a_log_that_takes_nothing_is_no_reason_to_stop_telling(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_event: Event) -> int:
        raise StoreError("There is no room.")

    monkeypatch.setattr(told.log, "append", full)
    assert await told.progress.tell("r1", "half way", 0.5)
    assert told.jobs[-1].text == "half way"


async def test_a_job_that_the_servers_end_cut_off_is_told_as_unknown(told: Told) -> None:
    await told.progress.tell("r1", "half way", 0.5)
    again = await Journal.open(told.log, "c")
    assert not again.jobs.running
    assert [one for one in await told.records() if isinstance(one, JobEnded)] == [
        JobEnded(told.jobs[-1].id, "unknown", "half way")
    ]
    await Journal.open(told.log, "c")
    assert len([one for one in await told.records() if isinstance(one, JobEnded)]) == 1


async def test_requests_are_counted_as_a_person_makes_them(told: Told) -> None:
    await told.journal.note("runtime", RunReported("r1", "ok"))
    await told.journal.note("person", Asked("copy"))
    await told.journal.note("person", Withdrawn("copy"))
    await begin(told.journal, Call("r2", "python", "copy()"))
    await told.progress.tell("r2", "copying")
    assert told.jobs[-1].turn == 2


@pytest.mark.slow
async def test_real_code_is_a_job_from_its_first_word_to_its_end(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print('a', flush=True)\nprint('b')"), says("Done."))
    progress = RunProgress(rig.journal)
    jobs: list[Job] = []
    agent.jobs.watch(jobs.append)
    async with aclosing(agent.work("sort my pictures", by="desk")) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                rig.approvals.answer(event.id, event.nonce, "yes", None, "desk")
            if isinstance(event, CodeOut) and not jobs:
                assert await progress.tell(event.id, "half way", 0.5)
    assert [job.state for job in jobs][-1] == "done"
    assert jobs[-1].output.splitlines() == ["a", "b"]
    assert jobs[-1].title == "sort my pictures"
