"""The rights of a device that may only talk, and of a guest, by slash command and by voice."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.assembly.models import KEPT_FOR_THE_OWNER, MOST_MODELS, Builder
from sayso.server.settings import Settings
from sayso.server.slash.builtin import SHIPPED
from sayso.server.slash.commands import NOT_HERE
from tests.server.running_server import running_server

DECIDES = {
    "undo": "",
    "redo": "",
    "reset": "",
    "forget": "yes",
    "open": "/",
    "mode": "workspace",
    "model": "loud",
    "grants": "forget 1",
    "folder": "/",
    "os": "",
    "instructions": "forget 1",
}
"""With what they are tried."""
LOOKS = (
    "help",
    "conversations",
    "cost",
    "diff",
    "mode",
    "model",
    "grants",
    "instructions",
    "folder",
    "export",
    "jobs",
    "past",
)
MOVES = ("new", "resume", "save", "pin", "background")


async def test_who_may_only_talk_decides_nothing_by_a_command(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        radio = await server.device("radio", may_approve=False)
        await radio.ask("one")
        for name, text in DECIDES.items():
            done = await radio.command(name, text)
            assert (done.ok, done.text) == (False, NOT_HERE), name
        for name in LOOKS:
            assert (await radio.command(name)).ok or name in ("grants", "instructions"), name
        assert (await radio.ask("two")).startswith("3:")  # the model knows what was said


def test_each_command_says_whether_talking_is_enough() -> None:
    told = {command.name: command.needs for command in SHIPPED}
    assert {name for name, needs in told.items() if needs == "approve"} == set(DECIDES)
    assert set(told) <= {*DECIDES, *LOOKS, *MOVES}


@pytest.mark.parametrize("words", ["undo that", "redo that"])
async def test_who_may_only_talk_takes_nothing_back_by_a_word(tmp_path: Path, words: str) -> None:
    async with running_server(tmp_path) as server:
        radio = await server.device("radio", may_approve=False)
        assert "may not decide that" in await radio.ask(words)
        desk = await server.device("desk")
        assert "may not decide that" not in await desk.ask(words)


async def test_only_the_owner_names_a_model_that_lies_elsewhere(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        guest = await server.device("phone", person="Ann")
        assert not (await guest.command("model", "loud")).ok
        tablet = await server.device("tablet", may_admin=False)
        assert not (await tablet.command("model", "loud")).ok
        desk = await server.device("desk")
        assert (await desk.command("model", "loud")).ok


async def test_a_guest_is_told_what_its_own_conversation_used_and_no_more(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        guest = await server.device("phone", person="Ann")
        told = (await guest.command("cost")).text
        assert "This conversation" in told
        assert "Today" not in told
        desk = await server.device("desk")
        assert "Today" in (await desk.command("cost")).text


async def test_a_guests_model_is_one_that_was_fetched_and_a_file_is_nobodys(tmp_path: Path) -> None:
    weights = tmp_path / "evil.gguf"
    weights.write_bytes(b"GGUF")
    elsewhere = ("acme/one", "openai/http://127.0.0.1:1/v1", "ollama/qwen", "gpt-5", "nothing")
    files = (str(weights), "~/evil.gguf", "file:evil", "../evil.gguf")
    async with AsyncExitStack() as stack:
        builder = Builder(Home.find(), Settings(), stack, lambda _name, _look: None)
        for name in (*elsewhere, *files):
            assert "no model" in (await builder.backend_named(name, False)).missing, name
        for name in files:
            assert "no model" in (await builder.backend_named(name, True)).missing, name
        assert not (await builder.backend_named("acme/one", True)).missing


async def test_models_do_not_pile_up_and_guests_leave_room_for_the_owner(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        builder = Builder(Home.find(), Settings(), stack, lambda _name, _look: None)
        for number in range(MOST_MODELS - KEPT_FOR_THE_OWNER):
            assert not (await builder.backend_named(f"acme/{number}", True)).missing
        fetched = "SmolLM2-135M-Instruct"
        assert "have been begun" in (await builder.backend_named(fetched, False)).missing
        for number in range(MOST_MODELS):
            await builder.backend_named(f"acme/{number}", True)
        assert "have been begun" in (await builder.backend_named("acme/x", True)).missing
        assert not (await builder.backend_named("acme/0", True)).missing
