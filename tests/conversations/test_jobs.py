"""Everybody who takes part is told how far a job is, and may stop it; nobody else."""

import asyncio
from pathlib import Path
from typing import cast

from sayso.protocol import messages as m
from sayso.server.agent.jobs.run_progress import RunProgress
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.store.jobs import JobDetached, JobTold
from sayso.server.store.records import Answered, Asked, Call, RunIntended, RunReported
from sayso.server.turn import events
from tests.server.running_server import Device, RunningServer, running_server, until


async def code_runs(
    server: RunningServer, conversation: str = "main", run: str = "r1"
) -> RunProgress:
    """Code is at work there."""
    journal = server.conversations.open[conversation].journal
    await journal.note("person", Asked("sort my pictures"))
    await journal.note("model", Answered("", (Call(run, "python", "sort()"),)))
    await journal.note("server", RunIntended(run, "python", "sort()"))
    return RunProgress(journal)


def updates(device: Device) -> list[m.TaskUpdate]:
    return cast("list[m.TaskUpdate]", device.all(m.TaskUpdate))


async def test_all_who_take_part_are_told_and_nobody_in_another_conversation(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk, phone = await server.device("desk"), await server.device("phone")
        elsewhere = await server.device("elsewhere", person="guest")
        progress = await code_runs(server)
        await progress.tell("r1", "half way", 0.5)
        for device in (desk, phone):
            [told] = updates(device)
            assert (told.state, told.kind, told.run) == ("running", "run", "r1")
            assert (told.title, told.text, told.fraction) == ("sort my pictures", "half way", 0.5)
        await server.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        assert updates(phone)[-1].state == "done"
        assert not updates(elsewhere)


async def test_who_joins_later_is_told_how_jobs_stand_and_so_is_a_snapshot(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        progress = await code_runs(server)
        await progress.tell("r1", "half way", 0.5)
        phone = await server.device("phone")
        assert updates(phone) == updates(desk)
        [job] = desk.seat.snapshot().tasks
        assert (job["text"], job["state"], job["run"]) == ("half way", "running", "r1")
        await server.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        assert desk.seat.snapshot().tasks == ()


async def test_the_share_that_is_told_is_the_newest_and_not_the_last_that_was_written_down(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        progress = await code_runs(server)
        for share in (0.1, 0.5, 0.7):
            await progress.tell("r1", "sorting", share)
        assert "70 percent of it is done" in await desk.ask("How far is it?")
        assert "30 percent" in await desk.ask("What's left?")


async def test_jobs_in_the_background_are_told_of_without_a_model_when_nothing_else_goes_on(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        assert await desk.ask("What's running in the background?") == (
            "Nothing goes on in the background."
        )
        assert await desk.ask("Stop the job.") == "Nothing goes on in the background."
        progress = await code_runs(server)
        await progress.tell("r1", "half way", 0.5)
        journal = server.conversations.open["main"].journal
        [job] = journal.jobs.running
        await journal.note("runtime", JobDetached(job.id, "r1"))
        await journal.note("model", Answered("It goes on."))
        for question in ("What are you doing?", "How far is it?", "What's left?"):
            assert await desk.ask(question) == (
                "One job goes on in the background: “sort my pictures”, for one second now, 50"
                " percent done."
            )
        await progress.tell("r1", "half way", 0.6)
        assert "60 percent" in await desk.ask("Which jobs are running?")
        assert "„sort my pictures“, seit" in await desk.ask("Was läuft im Hintergrund?")


async def test_only_a_job_that_goes_on_here_is_stopped(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        guest = await server.device("elsewhere", person="guest")
        progress = await code_runs(server)
        await progress.tell("r1", "half way")
        [job] = updates(desk)
        stops: list[events.Event] = []
        for place in server.conversations.open.values():
            watched(place.conversation, stops)
        guest.seat.cancel_job("elsewhere", job.id)
        desk.seat.cancel_job("desk", "j-of-nothing")
        assert stops == []
        desk.seat.cancel_job("desk", job.id)
        assert stops == [events.Interrupted("desk", None, 0)]
        await server.conversations.open["main"].journal.note("runtime", RunReported("r1", "ok"))
        desk.seat.cancel_job("desk", job.id)
        assert len(stops) == 1


def watched(driver: ConversationDriver, stops: list[events.Event]) -> None:
    happened = driver.happened

    def note(event: events.Event) -> None:
        stops.append(event)
        happened(event)

    driver.happened = note  # type: ignore[method-assign]


async def test_a_conversation_that_closes_leaves_no_update_behind(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        progress = await code_runs(server)
        for number in range(5):
            await progress.tell("r1", str(number))
        await until(lambda: updates(desk))
    told = len(updates(desk))
    await asyncio.sleep(0)
    assert len(updates(desk)) == told


async def in_background(server: RunningServer, conversation: str = "main", by: str = "desk") -> str:
    """A run goes on in the background there; returns its job."""
    journal = server.conversations.open[conversation].journal
    await journal.note("person", Asked("train the model in the background", by))
    await journal.note("model", Answered("", (Call("r1", "python", "train()"),)))
    await journal.note("server", RunIntended("r1", "python", "train()"))
    await RunProgress(journal).tell("r1", "epoch 1 of 2", 0.5)
    [job] = journal.jobs.running
    await journal.note("runtime", JobDetached(job.id, "r1"))
    return job.id


def announced(device: Device) -> list[str]:
    said = cast("list[m.Announce]", device.all(m.Announce))
    return [one.text for one in said if "The job" in one.text or "the job" in one.text]


async def told_of(device: Device, sentences: list[str]) -> None:
    await until(lambda: announced(device) == sentences)


ENDED = "The job “train the model in the background” has ended: accuracy 94 percent."


async def test_the_end_of_a_job_is_told_where_it_was_asked_for_wherever_that_is_now(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk, guest = await server.device("desk"), await server.device("phone", person="guest")
        journal = server.conversations.open["main"].journal
        await in_background(server)
        await desk.command("new", "elsewhere")
        await journal.note("runtime", RunReported("r1", "ok", output="accuracy 94 percent\n"))
        await until(lambda: announced(desk) == [ENDED])
        assert announced(guest) == []
        await until(lambda: not journal.jobs.untold)
        kept = [event.record for event in await server.log.conversation("main")]
        assert isinstance(kept[-1], JobTold)


async def test_an_end_that_nobody_heard_is_told_after_a_restart_once(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        journal = server.conversations.open["main"].journal
        await in_background(server)
        desk.leave()
        await journal.note("runtime", RunReported("r1", "ok", output="accuracy 94 percent\n"))
    for told in ([ENDED], []):
        async with running_server(tmp_path) as server:
            await server.conversations.open_for_jobs()
            assert list(server.conversations.open) == (["main"] if told else [])
            desk = await server.device("desk")
            await told_of(desk, told)


async def test_a_job_that_the_servers_end_cut_off_is_told_as_such(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await server.device("desk")
        await in_background(server)
        server.conversations.halt()
    async with running_server(tmp_path) as server:
        await server.conversations.open_for_jobs()
        desk = await server.device("desk")
        await until(lambda: announced(desk))
        [said] = announced(desk)
        assert said.startswith("Sayso ended while the job “train the model in the background”")
        assert "not begun again" in said


async def test_jobs_are_listed_to_their_person_and_to_nobody_else(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        job = await in_background(server)
        await desk.command("new", "elsewhere")
        listed = (await desk.command("jobs")).text
        assert job in listed
        assert "train the model" in listed
        assert "in the background" in listed
        assert "epoch 1 of 2" in (await desk.command("jobs", job[:5])).text
        guest = await server.device("phone", person="guest", may_admin=False)
        assert (await guest.command("jobs")).text == "No job goes on."
        for words in (job, f"stop {job}"):
            refused = await guest.command("jobs", words)
            assert not refused.ok
            assert "train" not in refused.text
        admin = await server.device("tablet", person="Anna", may_admin=True)
        listed = (await admin.command("jobs")).text
        assert job in listed
        assert "train" not in listed
        assert not (await admin.command("jobs", job)).ok
