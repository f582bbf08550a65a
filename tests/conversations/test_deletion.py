"""A deleted conversation is gone: for the model, from the list, and from every file on disk."""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sayso.server.conversations.deletion import DAY_S, DOUBTED_S, LOOK_EVERY_S, forget_in_time
from tests.deep_folders import dig, filled_in
from tests.permissions import permissions_hold
from tests.server.running_server import RunningServer, running_server

SECRET = "rutabaga marmalade"


def found_in(folder: Path, text: str) -> list[Path]:
    """Every file that holds the text."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if text.encode() in path.read_bytes()]


def leave_a_file(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "list.txt").write_text(text)


async def talked_about(server: RunningServer, text: str) -> None:
    desk = await server.device()
    await desk.command("new", "kitchen")
    for number in range(20):
        await desk.ask(f"{text} {number}")
    leave_a_file(Path(server.conversations.open["kitchen"].code_runner.where), text)
    desk.leave()


async def test_what_was_forgotten_is_gone_from_the_disk(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        assert found_in(tmp_path, SECRET)
        desk = await server.device(wanted="kitchen")

        done = await desk.command("forget", "yes")

        assert done.ok
        assert found_in(tmp_path, SECRET) == []
        assert "kitchen" not in (await desk.command("conversations")).text
    assert found_in(tmp_path, SECRET) == []
    async with running_server(tmp_path) as server:
        assert [one.id for one in await server.conversations.all()] == ["main"]


async def test_what_one_was_to_be_reminded_of_is_forgotten_too(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        desk = await server.device(wanted="kitchen")
        assert SECRET in await desk.ask(f"remind me in two hours to buy {SECRET}")

        await desk.command("forget", "yes")

        # A later one of that name must not be told what an earlier one was.
        await desk.command("new", "kitchen")
        assert SECRET not in await desk.ask("what are my reminders")


async def test_folders_that_code_closed_against_changes_are_forgotten_too(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    with permissions_hold():
        async with running_server(tmp_path) as server:
            await talked_about(server, SECRET)
            modules = tmp_path / "workspaces" / "kitchen" / "modules"
            leave_a_file(modules / "deep", SECRET)
            (modules / "link").symlink_to(away)
            for closed in (modules / "deep", modules, away):
                closed.chmod(0o500)
            desk = await server.device(wanted="kitchen")

            assert (await desk.command("forget", "yes")).ok

            assert found_in(tmp_path, SECRET) == []
            assert stat.S_IMODE(away.stat().st_mode) == 0o500


async def test_folders_in_folders_without_end_are_forgotten_too(tmp_path: Path) -> None:
    kitchen = tmp_path / "workspaces" / "kitchen"
    with filled_in(kitchen):
        async with running_server(tmp_path) as server:
            await talked_about(server, SECRET)
            dig(kitchen, 3_000, "d" * 9, f"open('list', 'w').write({SECRET!r})")
            desk = await server.device(wanted="kitchen")

            assert (await desk.command("forget", "yes")).ok

            assert not kitchen.exists()


async def test_what_can_not_be_removed_is_told_and_can_be_forgotten_once_more(
    tmp_path: Path,
) -> None:
    workspaces = tmp_path / "workspaces"
    with permissions_hold():
        async with running_server(tmp_path) as server:
            await talked_about(server, SECRET)
            desk = await server.device(wanted="kitchen")
            workspaces.chmod(0o500)

            done = await desk.command("forget", "yes")

            assert (done.ok, "not forgotten yet" in done.text) == (False, True)
            assert "Permission denied" in done.text
            kitchen = await server.conversations.find("kitchen")
            assert await server.conversations.forget_before(kitchen.last + 1) == 0
            workspaces.chmod(0o700)
            await desk.command("resume", "kitchen")
            assert (await desk.command("forget", "yes")).ok
            assert found_in(tmp_path, SECRET) == []


async def test_what_was_made_in_it_can_not_be_fetched_any_more(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        kept = (await desk.command("export")).file or ""
        await desk.command("new", "kitchen")
        made = (await desk.command("export")).file or ""
        assert server.artifacts.get(made, "")

        await desk.command("forget", "yes")

        assert server.artifacts.get(made, "") is None
        assert server.artifacts.get(kept, "")


async def test_it_is_asked_before_anything_is_forgotten(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        desk = await server.device(wanted="kitchen")

        done = await desk.command("forget")

        assert not done.ok
        assert "/forget yes" in done.text
        assert found_in(tmp_path, SECRET)


async def test_other_conversations_stay_as_they_were(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("keep this")
        desk.leave()
        await talked_about(server, SECRET)
        desk = await server.device(wanted="kitchen")
        await desk.command("forget", "yes")
        assert found_in(tmp_path, "keep this")
        assert await desk.ask("and now") == "3: and now"


async def test_the_last_conversation_is_forgotten_too_and_another_begun(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask(SECRET)
        assert (await desk.command("forget", "yes")).ok
        assert found_in(tmp_path, SECRET) == []
        assert await desk.ask("rhubarb") == "1: rhubarb"


async def test_nothing_is_forgotten_under_somebody_elses_hands(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        desk = await server.device("desk", wanted="kitchen")
        await server.device("phone", wanted="kitchen")

        done = await desk.command("forget", "yes")

        assert not done.ok
        assert "Another device" in done.text
        assert found_in(tmp_path, SECRET)


async def test_a_device_that_may_not_approve_may_not_forget(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        guest = await server.device("guest", wanted="kitchen", may_approve=False)
        assert not (await guest.command("forget", "yes")).ok
        assert found_in(tmp_path, SECRET)


async def test_old_conversations_are_forgotten_in_time_and_new_ones_kept(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        await talked_about(server, SECRET)
        kitchen = next(one for one in await server.conversations.all() if one.id == "kitchen")
        await server.conversations.forget_before(kitchen.began)
        assert found_in(tmp_path, SECRET)
        assert await server.conversations.forget_before(kitchen.last + 1) >= 1
        assert found_in(tmp_path, SECRET) == []


class Days:
    """A wall clock that can be set, and what was forgotten by it."""

    def __init__(self) -> None:
        self.set_by = 0.0
        self.forgot: list[float] = []
        self.talked_at = self()

    def __call__(self) -> float:
        return asyncio.get_running_loop().time() + self.set_by

    async def forget_before(self, when: float) -> int:
        self.forgot.append(when)
        return 1

    async def last_talk(self) -> float:
        return self.talked_at


@asynccontextmanager
async def kept_for(days: int) -> AsyncIterator[Days]:
    clock = Days()
    task = asyncio.create_task(forget_in_time(clock, days, clock))
    yield clock
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.virtual_time(limit_s=1e6)
async def test_every_hour_what_is_older_than_the_days_that_are_kept_is_forgotten() -> None:
    async with kept_for(30) as clock:
        await asyncio.sleep(2.5 * LOOK_EVERY_S)
        first, second = clock.forgot
        assert clock() - second == pytest.approx(30 * DAY_S + 0.5 * LOOK_EVERY_S)
        assert second - first == pytest.approx(LOOK_EVERY_S)


@pytest.mark.virtual_time(limit_s=1e6)
@pytest.mark.parametrize("years", [10, -10])
async def test_by_a_clock_that_jumped_nothing_is_forgotten_for_a_day(years: int) -> None:
    async with kept_for(30) as clock:
        await asyncio.sleep(1.5 * LOOK_EVERY_S)
        assert len(clock.forgot) == 1
        clock.set_by = years * 365 * DAY_S
        await asyncio.sleep(DOUBTED_S - LOOK_EVERY_S)
        assert len(clock.forgot) == 1
        clock.set_by = 0.0
        await asyncio.sleep(DOUBTED_S)
        assert len(clock.forgot) == 1
        await asyncio.sleep(2 * LOOK_EVERY_S)
        assert clock.forgot[-1] == pytest.approx(clock() - 30 * DAY_S, abs=LOOK_EVERY_S)


@pytest.mark.virtual_time(limit_s=1e6)
async def test_by_a_clock_by_which_all_is_old_at_the_start_nothing_is_forgotten_for_a_day() -> None:
    async with kept_for(30) as clock:
        clock.set_by = 70 * 365 * DAY_S
        await asyncio.sleep(DOUBTED_S - LOOK_EVERY_S)
        assert clock.forgot == []
        clock.set_by = 0.0
        await asyncio.sleep(3 * DAY_S)
        assert clock.forgot[-1] == pytest.approx(clock() - 30 * DAY_S, abs=LOOK_EVERY_S)


@pytest.mark.virtual_time(limit_s=1e6)
async def test_who_keeps_everything_forgets_nothing() -> None:
    async with kept_for(0) as clock:
        await asyncio.sleep(7 * DAY_S)
        assert clock.forgot == []
