"""What was decided for a conversation lasts as long as it, is listed, and can be taken back."""

import asyncio
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.agent.permissions.access_syntax import Place, Wish
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_settings import Terms, granted
from sayso.server.runtimes.access import Folder, Reach
from sayso.server.settings import Settings
from sayso.server.store.decisions import ModeChanged, ModelChosen
from sayso.server.store.records import Asked, ConversationReset, Record
from tests.server.running_server import Device, Household, household, until


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    made = tmp_path / "ada" / "Downloads"
    made.mkdir(parents=True)
    return made


async def grant(house: Household, device: Device, folder: Path, *, lasting: bool = False) -> None:
    """As a yes to a question does."""
    here = house.conversations.open[device.seat.id]
    grant = here.agent.say_so.weigh(Wish((Place(str(folder), "read"),), ("api.a.org",)))
    await here.agent.say_so.grant(grant, lasting=lasting)
    record = granted("r1", grant.added, device.name, lasting=lasting)
    await here.journal.note("person", record)


async def test_grants_mode_and_model_are_as_they_were_after_a_restart(
    tmp_path: Path, downloads: Path
) -> None:
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        await grant(house, desk, downloads)
        assert (await desk.command("mode", "workspace")).ok
        assert (await desk.command("model", "loud")).ok
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        assert "▸ workspace" in (await desk.command("mode")).text
        assert await desk.ask("hi") == "LOUD 1: hi"
        listed = (await desk.command("grants")).text
        assert f"1  read {downloads}  for this conversation" in listed
        assert "2  host api.a.org" in listed
        assert house.conversations.open["main"].workshop.reach.folders == (Folder(downloads),)
        assert not desk.all(m.Announce)
        await desk.command("new", "Garden")
        assert "Nothing" in (await desk.command("grants")).text
        assert "▸ ask" in (await desk.command("mode")).text


async def test_what_is_taken_back_stays_taken_back(tmp_path: Path, downloads: Path) -> None:
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        await grant(house, desk, downloads)
        pad = await house.device("pad", may_approve=False)
        assert not (await pad.command("grants", "forget 1")).ok
        for none in ("9", "0", "9" * 5_000):
            assert "no such grant" in (await desk.command("grants", f"forget {none}")).text
        done = await desk.command("grants", f"forget {downloads}")
        assert done.text == f"Taken back from the next run on: read {downloads}."
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        assert "1  host api.a.org" in (await desk.command("grants")).text
        await desk.command("grants", "forget")
        assert "Nothing" in (await desk.command("grants")).text
        assert (await desk.command("model", "loud")).ok
        assert (await desk.command("model", "default")).ok
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        assert "Nothing" in (await desk.command("grants")).text
        assert await desk.ask("hi") == "1: hi"


def lead_elsewhere(folder: Path, to: Path) -> None:
    folder.rmdir()
    folder.symlink_to(to)


async def test_what_is_no_more_as_it_was_is_closed_and_told(
    tmp_path: Path, downloads: Path
) -> None:
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        await grant(house, desk, downloads)
        here = house.conversations.open["main"]
        for record in (ModeChanged("full", "desk"), ModelChosen("gone", "desk")):
            await here.journal.note("person", record)
    await asyncio.to_thread(lead_elsewhere, downloads, tmp_path)
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        told = " ".join(one.text for one in desk.all(m.Announce) if isinstance(one, m.Announce))
        assert f"{downloads} is not what it was" in told
        assert "The mode full ended with the server; it is ask again." in told
        assert "No model here is called gone. echo answers instead." in told
        assert "read" not in (await desk.command("grants")).text
    async with household(tmp_path / "house") as house:
        desk = await house.device()
        told = " ".join(one.text for one in desk.all(m.Announce) if isinstance(one, m.Announce))
        assert "The mode full" not in told


def test_a_reset_takes_back_grants_and_mode_and_leaves_the_model() -> None:
    reach = Reach(hosts=("a.org",), network=True)
    records: list[Record] = [
        granted("r1", reach, "desk", lasting=False),
        granted("r2", Reach(hosts=("b.org",)), "desk", lasting=True),
        ModeChanged("workspace"),
        ModelChosen("qwen"),
    ]
    assert Terms.of(records) == Terms(reach, "workspace", "qwen")
    assert Terms.of([*records, ConversationReset()]) == Terms(model="qwen")


async def test_what_was_granted_for_good_is_taken_out_of_the_settings(
    tmp_path: Path, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home", tmp_path / "home", tmp_path / "home")
    monkeypatch.chdir(tmp_path)

    def opened() -> StandingGrants:
        return StandingGrants(home, Settings.load(home))

    both = Reach((Folder(downloads, "write"),), ("a.org",), network=True)
    assert await opened().keep(both) == ""
    standing = opened()
    assert standing.reach == both
    for part in both.parts:
        assert await standing.drop(part) == ""
    assert standing.reach == opened().reach == Reach()
    await standing.keep(Reach(hosts=("a.org",)))
    monkeypatch.setenv("SAYSO_CODE_HOSTS", "a.org")
    assert "code.hosts" in await standing.drop(Reach(hosts=("a.org",)))
    assert standing.reach == Reach()


async def test_who_was_cut_off_is_told_so_and_how_to_go_on(tmp_path: Path) -> None:
    async with household(tmp_path) as house:
        desk = await house.device()
        here = house.conversations.open["main"]
        await here.journal.note("person", Asked("tell me of my cat Tom"))
    async with household(tmp_path) as house:
        desk = await house.device()
        await until(lambda: desk.all(m.Announce))
        (told,) = desk.all(m.Announce)
        assert isinstance(told, m.Announce)
        assert "in the middle of “tell me of my cat Tom”" in told.text
        assert "(Your program ended in the middle of that" in await desk.ask("go on")
    async with household(tmp_path) as house:
        desk = await house.device()
        await desk.command("help")
        assert not desk.all(m.Announce)
