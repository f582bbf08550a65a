"""A person chooses the folder in which a conversation's code runs; some folders are never taken."""

import asyncio
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.conversations.files.workspace_choice import chosen_folder
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import GrantError
from tests.server.running_server import running_server


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    made = tmp_path / "my garden"
    made.mkdir()
    (made / "plan").write_text("roses")
    return made


async def test_a_folder_is_chosen_kept_and_given_back(tmp_path: Path, garden: Path) -> None:
    own = tmp_path / "server" / "workspaces" / "main"
    async with running_server(tmp_path / "server") as server:
        desk = await server.device()
        assert f"Code runs in {own}." in (await desk.command("folder")).text
        pad = await server.device("pad", may_approve=False)
        assert not (await pad.command("folder", str(garden))).ok
        assert (await desk.command("folder", str(garden))).ok
        plan = await pad.seat._here.download("plan")
        assert plan
        with plan:
            assert plan.read() == b"roses"
    async with running_server(tmp_path / "server") as server:
        desk = await server.device()
        assert f"Code runs in {garden}." in (await desk.command("folder")).text
        assert (await desk.command("folder", "own")).ok
    async with running_server(tmp_path / "server") as server:
        desk = await server.device()
        assert f"Code runs in {own}." in (await desk.command("folder")).text
        await desk.command("folder", str(garden))
        await desk.command("forget", "yes")
    assert await asyncio.to_thread(lambda: (garden.exists(), own.exists())) == (True, False)


async def test_a_folder_has_a_conversation_of_its_own(tmp_path: Path, garden: Path) -> None:
    async with running_server(tmp_path / "server") as server:
        desk = await server.device()
        await desk.ask("one")
        done = await desk.command("open", str(garden))
        assert done.text == f"This is my garden; it is new. Code runs in {garden}."
        assert await desk.ask("two") == "1: two"
        await desk.command("resume", "main")
        assert "goes on where it was" in (await desk.command("open", str(garden))).text
        assert await desk.ask("three") == "3: three"
        bob = await server.device("phone", person="bob")
        assert "owner's" in (await bob.command("open", str(garden))).text


def test_some_folders_are_never_taken(
    tmp_path: Path, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    home = Home.find()
    home.config.mkdir(exist_ok=True)
    never = ["/", "/etc", "/usr/lib", "/home", "/proc", str(home.state), str(tmp_path)]
    for path in [*never, str(garden / "plan"), "garden", str(garden / "none")]:
        with pytest.raises(GrantError, match=r"\.$"):
            chosen_folder(path, Permissions())
    deny = Policy([f"deny path {garden}\nmatches: cat '{garden}/plan'\nspares: ls /"])
    with pytest.raises(GrantError, match="forbids"):
        chosen_folder(str(garden), Permissions(deny))
    assert chosen_folder(str(garden), Permissions()) == (garden, ())


async def test_what_gives_pause_needs_a_second_yes(
    tmp_path: Path, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(garden))
    async with running_server(tmp_path / "server") as server:
        desk = await server.device()
        refused = await desk.command("folder", "~/")
        assert not refused.ok
        assert "whole home folder" in refused.text
        assert (await desk.command("folder", "~/ yes")).ok
        assert f"Code runs in {garden}." in (await desk.command("folder")).text
