"""What was decided for a conversation lasts as long as it, is listed, and can be taken back."""

import asyncio
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.agent.permissions.access_syntax import AccessRequest, RequestedFolder
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.agent.record.conversation_settings import ConversationSettings, granted
from sayso.server.runtimes.grants import Folder, Grants
from sayso.server.settings import Settings
from sayso.server.store.decisions import ModeChanged, ModelChosen
from sayso.server.store.records import Asked, ConversationReset, Record
from tests.server.running_server import Device, RunningServer, running_server, until


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    made = tmp_path / "ada" / "Downloads"
    made.mkdir(parents=True)
    return made


async def grant(
    server: RunningServer, device: Device, folder: Path, *, lasting: bool = False
) -> None:
    """As a yes to a question does."""
    here = server.conversations.open[device.seat.id]
    grant = here.agent.permissions.weigh(
        AccessRequest((RequestedFolder(str(folder), "read"),), ("api.a.org",))
    )
    await here.agent.permissions.grant(grant, lasting=lasting)
    record = granted("r1", grant.added, device.name, lasting=lasting)
    await here.journal.note("person", record)


async def test_grants_mode_and_model_are_as_they_were_after_a_restart(
    tmp_path: Path, downloads: Path
) -> None:
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        await grant(server, approvals, downloads)
        assert (await approvals.command("mode", "workspace")).ok
        assert (await approvals.command("model", "loud")).ok
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        assert "▸ workspace" in (await approvals.command("mode")).text
        assert await approvals.ask("tell me a story") == "LOUD 1: tell me a story"
        listed = (await approvals.command("grants")).text
        assert f"1  read {downloads}  for this conversation" in listed
        assert "2  host api.a.org" in listed
        assert server.conversations.open["main"].code_runner.reach.folders == (Folder(downloads),)
        assert not approvals.all(m.Announce)
        await approvals.command("new", "Garden")
        assert "Nothing" in (await approvals.command("grants")).text
        assert "▸ ask" in (await approvals.command("mode")).text


async def test_what_is_taken_back_stays_taken_back(tmp_path: Path, downloads: Path) -> None:
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        await grant(server, approvals, downloads)
        pad = await server.device("pad", may_approve=False)
        assert not (await pad.command("grants", "forget 1")).ok
        for none in ("9", "0", "9" * 5_000):
            assert "no such grant" in (await approvals.command("grants", f"forget {none}")).text
        done = await approvals.command("grants", f"forget {downloads}")
        assert done.text == f"Taken back from the next run on: read {downloads}."
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        assert "1  host api.a.org" in (await approvals.command("grants")).text
        await approvals.command("grants", "forget")
        assert "Nothing" in (await approvals.command("grants")).text
        assert (await approvals.command("model", "loud")).ok
        assert (await approvals.command("model", "default")).ok
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        assert "Nothing" in (await approvals.command("grants")).text
        assert await approvals.ask("tell me a story") == "1: tell me a story"


def lead_elsewhere(folder: Path, to: Path) -> None:
    folder.rmdir()
    folder.symlink_to(to)


async def test_what_is_no_more_as_it_was_is_closed_and_told(
    tmp_path: Path, downloads: Path
) -> None:
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        await grant(server, approvals, downloads)
        here = server.conversations.open["main"]
        for record in (ModeChanged("full", "desk"), ModelChosen("gone", "desk")):
            await here.journal.note("person", record)
    await asyncio.to_thread(lead_elsewhere, downloads, tmp_path)
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        told = " ".join(
            one.text for one in approvals.all(m.Announce) if isinstance(one, m.Announce)
        )
        assert f"{downloads} is not what it was" in told
        assert "The mode full ended with the server; it is ask again." in told
        assert "No model here is called gone. echo answers instead." in told
        assert "read" not in (await approvals.command("grants")).text
    async with running_server(tmp_path / "server") as server:
        approvals = await server.device()
        told = " ".join(
            one.text for one in approvals.all(m.Announce) if isinstance(one, m.Announce)
        )
        assert "The mode full" not in told


def test_a_reset_takes_back_grants_and_mode_and_leaves_the_model() -> None:
    reach = Grants(hosts=("a.org",), network=True)
    records: list[Record] = [
        granted("r1", reach, "desk", lasting=False),
        granted("r2", Grants(hosts=("b.org",)), "desk", lasting=True),
        ModeChanged("workspace"),
        ModelChosen("qwen"),
    ]
    assert ConversationSettings.of(records) == ConversationSettings(reach, "workspace", "qwen")
    assert ConversationSettings.of([*records, ConversationReset()]) == ConversationSettings(
        model="qwen"
    )


async def test_what_was_granted_for_good_is_taken_out_of_the_settings(
    tmp_path: Path, downloads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "home", tmp_path / "home", tmp_path / "home")
    monkeypatch.chdir(tmp_path)

    def opened() -> StandingGrants:
        return StandingGrants(home, Settings.load(home))

    both = Grants((Folder(downloads, "write"),), ("a.org",), network=True)
    assert await opened().keep(both) == ""
    standing = opened()
    assert standing.reach == both
    for part in both.parts:
        assert await standing.drop(part) == ""
    assert standing.reach == opened().reach == Grants()
    await standing.keep(Grants(hosts=("a.org",)))
    monkeypatch.setenv("SAYSO_CODE_HOSTS", "a.org")
    assert "code.hosts" in await standing.drop(Grants(hosts=("a.org",)))
    assert standing.reach == Grants()


async def test_who_was_cut_off_is_told_so_and_how_to_go_on(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        approvals = await server.device()
        here = server.conversations.open["main"]
        await here.journal.note("person", Asked("tell me of my cat Tom"))
    async with running_server(tmp_path) as server:
        approvals = await server.device()
        await until(lambda: approvals.all(m.Announce))
        (told,) = approvals.all(m.Announce)
        assert isinstance(told, m.Announce)
        assert "in the middle of “tell me of my cat Tom”" in told.text
        assert "(Your program ended in the middle of that" in await approvals.ask("go on")
    async with running_server(tmp_path) as server:
        approvals = await server.device()
        await approvals.command("help")
        assert not approvals.all(m.Announce)
