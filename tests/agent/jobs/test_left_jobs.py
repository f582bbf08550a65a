"""What a run has left running is a job that ends once, whoever ends it."""

import asyncio
from pathlib import Path
from typing import cast

import pytest

from sayso.server.agent.jobs.left_jobs import LASTS_S, LISTED_MOST, LOOK_EVERY_S, LeftJobs
from sayso.server.agent.record.journal import Journal
from sayso.server.runtimes.left_processes import LeftProcesses
from sayso.server.store.event_log import EventLog
from sayso.server.store.jobs import JobEnded

pytestmark = pytest.mark.virtual_time


class Sleeper:
    """Stands for `sleep 600 &`."""

    title = "sleep 600"
    alive = works = True

    def end(self) -> bool:
        self.alive = False
        return True


async def test_what_two_people_stop_at_once_ends_once(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    journal = await Journal.open(log, "c")
    left = LeftJobs(journal)
    left.follow("r", cast("LeftProcesses", Sleeper()), turn=1, by="desk")
    await asyncio.sleep(LASTS_S + 1)
    (job,) = journal.jobs.in_background
    ended = await asyncio.gather(left.stop(job.id), left.stop(job.id))
    assert sorted(ended) == [False, True]
    await asyncio.sleep(60)
    records = [event.record for event in await log.conversation("c")]
    assert [one for one in records if isinstance(one, JobEnded)] == [JobEnded(job.id, "cancelled")]
    await left.close()
    await log.close()


async def test_what_is_more_than_can_be_listed_is_ended(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    journal = await Journal.open(log, "c")
    left = LeftJobs(journal)
    sleepers = [Sleeper() for _ in range(LISTED_MOST + 1)]
    for sleeper in sleepers:
        left.follow("r", cast("LeftProcesses", sleeper), turn=1, by="desk")
    await asyncio.sleep(LASTS_S + 1)
    assert len(journal.jobs.in_background) == LISTED_MOST
    assert [one.alive for one in sleepers].count(False) == 1
    (ended,) = journal.jobs.recent
    assert ended.text.startswith("It was ended: ")
    await left.close()
    await log.close()


async def test_what_only_waits_for_its_next_use_is_no_job_before_it_works(tmp_path: Path) -> None:
    log = await EventLog.open(tmp_path / "log.db")
    journal = await Journal.open(log, "c")
    left, helper = LeftJobs(journal), Sleeper()
    helper.works = False
    left.follow("r", cast("LeftProcesses", helper), turn=1, by="desk")
    await asyncio.sleep(LASTS_S + 60)
    assert not journal.jobs.in_background
    helper.works = True
    await asyncio.sleep(LOOK_EVERY_S + 1)
    assert len(journal.jobs.in_background) == 1
    await left.close()
    await log.close()
