"""Everybody who takes part is told how far a job is, and may stop it; nobody else."""

import asyncio
from pathlib import Path
from typing import cast

from sayso.protocol import messages as m
from sayso.server.agent.jobs.progress import RunProgress
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.store.records import Answered, Asked, Call, RunIntended, RunReported
from sayso.server.turn import events
from tests.server.running_server import Device, Household, household, until


async def code_runs(house: Household, conversation: str = "main", run: str = "r1") -> RunProgress:
    """Code is at work there."""
    journal = house.conversations.open[conversation].journal
    await journal.note("person", Asked("sort my pictures"))
    await journal.note("model", Answered("", (Call(run, "python", "sort()"),)))
    await journal.note("server", RunIntended(run, "python", "sort()"))
    return RunProgress(journal)


def updates(device: Device) -> list[m.TaskUpdate]:
    return cast("list[m.TaskUpdate]", device.all(m.TaskUpdate))


async def test_all_who_take_part_are_told_and_nobody_in_another_conversation(
    tmp_path: Path,
) -> None:
    async with household(tmp_path) as house:
        desk, phone = await house.device("desk"), await house.device("phone")
        elsewhere = await house.device("elsewhere", person="guest")
        progress = await code_runs(house)
        await progress.tell("r1", "half way", 0.5)
        for device in (desk, phone):
            [told] = updates(device)
            assert (told.state, told.kind, told.run) == ("running", "run", "r1")
            assert (told.title, told.text, told.fraction) == ("sort my pictures", "half way", 0.5)
        await house.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        assert updates(phone)[-1].state == "done"
        assert not updates(elsewhere)


async def test_who_joins_later_is_told_how_jobs_stand_and_so_is_a_snapshot(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        desk = await house.device("desk")
        progress = await code_runs(house)
        await progress.tell("r1", "half way", 0.5)
        phone = await house.device("phone")
        assert updates(phone) == updates(desk)
        [job] = desk.seat.snapshot().tasks
        assert (job["text"], job["state"], job["run"]) == ("half way", "running", "r1")
        await house.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        assert desk.seat.snapshot().tasks == ()


async def test_only_a_job_that_goes_on_here_is_stopped(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        desk = await house.device("desk")
        guest = await house.device("elsewhere", person="guest")
        progress = await code_runs(house)
        await progress.tell("r1", "half way")
        [job] = updates(desk)
        stops: list[events.Event] = []
        for place in house.conversations.open.values():
            watched(place.conversation, stops)
        guest.seat.cancel_job("elsewhere", job.id)
        desk.seat.cancel_job("desk", "j-of-nothing")
        assert stops == []
        desk.seat.cancel_job("desk", job.id)
        assert stops == [events.Interrupted("desk", None, 0)]
        await house.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        desk.seat.cancel_job("desk", job.id)
        assert len(stops) == 1


def watched(driver: ConversationDriver, stops: list[events.Event]) -> None:
    happened = driver.happened

    def note(event: events.Event) -> None:
        stops.append(event)
        happened(event)

    driver.happened = note  # type: ignore[method-assign]


async def test_a_conversation_that_closes_leaves_no_update_behind(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        desk = await house.device("desk")
        progress = await code_runs(house)
        for number in range(5):
            await progress.tell("r1", str(number))
        await until(lambda: updates(desk))
    told = len(updates(desk))
    await asyncio.sleep(0)
    assert len(updates(desk)) == told
