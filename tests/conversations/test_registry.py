"""Several conversations: each its own memory, found again by name, moved between, begun anew."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.conversations.registry import NoSuchConversation, slug
from sayso.server.reflexes.reminders.reminders import MAX_OPEN
from sayso.server.store.records import Asked, Event
from sayso.server.turn.events import Joined
from tests.server.running_server import running_server, until


async def test_the_programs_on_one_machine_have_one_conversation(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        phone = await server.device("phone")
        assert desk.seat.id == phone.seat.id == "main"
        assert await desk.ask("tell me a story") == "1: tell me a story"
        assert phone.all(m.ReplyDelta)


async def test_conversations_remember_apart_from_each_other(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("one") == "1: one"
        assert (await desk.command("new", "Taxes 2026")).ok
        assert desk.seat.id == "taxes-2026"
        assert await desk.ask("two") == "1: two"
        assert (await desk.command("resume", "main")).ok
        assert await desk.ask("three") == "3: three"
        assert (await desk.command("resume", "taxes 2026")).ok
        assert await desk.ask("four") == "3: four"
        folders = {here.code_runner.where for here in server.conversations.open.values()}
        assert folders == {str(tmp_path / "workspaces" / one) for one in ("main", "taxes-2026")}


async def test_a_number_as_long_as_a_page_is_no_conversation(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        told = await desk.command("resume", "9" * 5_000)
        assert (told.ok, "There is no conversation" in told.text) == (False, True)


async def test_a_move_is_told_before_its_answer_and_before_what_follows(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("one")
        desk.told.clear()
        await desk.command("new", "Garden")
        await until(lambda: desk.all(m.TurnState))
        kinds = [type(message) for message in desk.told]
        assert kinds.index(m.Conversation) == 0
        assert desk.told[0] == m.Conversation("garden", "Garden")


async def test_a_conversation_s_name_is_what_it_looks_like(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        for command in ("new", "save"):
            await desk.command(command, "Ro\u202eses\x1b[2J\n and  more")
            listed = (await desk.command("conversations")).text.splitlines()
            assert "Ro ses [2J and more" in [line.split("  ")[-1] for line in listed]


async def test_after_a_restart_conversations_and_their_names_are_there(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("how high is the Eiffel tower")
        await desk.command("new", "Garden")
        await desk.command("save", "Roses")
        await desk.ask("when to cut them")
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert desk.seat.id == "garden"
        listed = (await desk.command("conversations")).text.splitlines()
        assert [line.split("  ")[-1] for line in listed] == [
            "Roses",
            "how high is the Eiffel tower",
        ]
        await desk.command("resume", "eiffel")
        assert await desk.ask("and in feet") == "3: and in feet"


async def test_a_device_may_want_a_conversation_and_is_told_if_it_is_not_there(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.command("new", "Garden")
        assert (await server.device("phone", wanted="garden")).seat.id == "garden"
        pad = await server.device("pad", wanted="attic")
        (error,) = pad.all(m.Error)
        assert isinstance(error, m.Error)
        assert error.message == 'There is no conversation attic; you are in "Garden" instead.'


async def test_a_person_sees_their_own_conversations_and_nobody_elses(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        owners = await server.conversations.latest()
        anns = await server.conversations.begin("Diary", person="ann")
        assert [one.id for one in await server.conversations.all("ann")] == [anns.id]
        assert [one.id for one in await server.conversations.all()] == [owners.id]
        bob = await server.device("phone", wanted=anns.id, person="bob")
        assert bob.seat.id not in (owners.id, anns.id)
        assert not (await bob.command("resume", "Diary")).ok


async def test_a_name_that_another_person_gave_is_no_more_taken_than_any_other(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        await server.conversations.begin("Divorce")
        one, other = [await server.conversations.begin(name, "ann") for name in ("Divorce", "Tea")]
        assert len(one.id) - len("divorce") == len(other.id) - len("tea")
        assert not one.id.endswith("-2")


async def test_no_word_of_one_person_reaches_another(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        people = {name: await server.device(name, person=name) for name in ("ann", "bob")}
        told: dict[str, list[str]] = {name: [] for name in people}
        for number in range(10):
            for name, device in people.items():
                await device.ask(f"{name}{number}")
                told[name].append(str(device.told))
                assert name in (await device.command("conversations")).text
        for name, other in (("ann", "bob"), ("bob", "ann")):
            heard = "".join(told[name])
            assert f"{name}9" in heard
            assert f"{other}0" not in heard
            assert f"{other}9" not in heard


async def test_who_looks_for_a_conversation_begins_none(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        with pytest.raises(NoSuchConversation):
            await server.conversations.find("", "ann")
        assert await server.conversations.all("ann") == []
        for name in ("garden", "taxes"):
            ann = await server.device("radio", person="ann")
            await ann.command("new", name)
            await ann.ask("tell me a story")
        assert (await server.conversations.find("", "ann")).name == "taxes"


async def test_what_was_made_for_one_person_nobody_else_can_fetch(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        ann = await server.device("radio", person="ann")
        await ann.ask("tell me a story")
        made = (await ann.command("export")).file or ""
        assert server.artifacts.get(made, "ann")
        assert server.artifacts.get(made, "bob") is None
        assert server.artifacts.get(made, "") is None


async def test_a_reminder_is_told_to_the_one_who_asked_for_it_alone(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        ann = await server.device("radio", person="ann")
        bob = await server.device("radio 2", person="bob")
        await server.conversations.tell(lambda: "the cake", "gone", ann.seat.id)
        await until(lambda: ann.all(m.Announce))
        conversation = ann.seat.id
        ann.leave()
        telling = asyncio.create_task(
            server.conversations.tell(lambda: "the door", "gone", conversation)
        )
        await bob.command("help")
        assert not telling.done()
        again = await server.device("radio", person="ann")
        await until(lambda: again.all(m.Announce))
        await telling
        assert "the door" in str(again.told)
        assert "cake" not in str(bob.told)
        assert "door" not in str(bob.told)


async def test_nobody_uses_up_the_reminders_of_another_person(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        ann = await server.device("radio", person="ann")
        for count in range(2):
            for _ in range(MAX_OPEN // 2):
                assert "Timer set" in await ann.ask("set a timer for nine hours")
            if not count:
                await ann.command("new", "more")
        assert "already keep" in await ann.ask("set a timer for nine hours")
        for other in (await server.device("desk"), await server.device("phone", person="bob")):
            assert "Timer set" in await other.ask("set a timer for nine hours")


async def test_nobodys_conversations_close_because_another_person_opens_many(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path, open_at_most=3) as server:
        desk, ann = await server.device(), await server.device("radio", person="ann")
        await desk.ask("tell me a story")
        desk.leave()
        for name in ("a", "b", "c", "d"):
            await ann.command("new", name)
        assert "main" in server.conversations.open
        assert len(server.conversations.open) == 3


async def test_reset_forgets_for_the_model_what_the_log_keeps(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("one")
        assert (await desk.command("reset")).ok
        assert await desk.ask("two") == "1: two"
        kept = str(await server.log.conversation("main"))
        assert "'one'" in kept
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert await desk.ask("three") == "3: three"


async def test_an_unknown_command_is_answered(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        done = await desk.command("dance")
        assert done == m.CommandDone(
            "dance", ok=False, text="There is no /dance; /help lists what there is."
        )
        assert "/resume" in (await desk.command("help")).text


async def test_idle_conversations_are_closed_and_come_back_as_they_were(tmp_path: Path) -> None:
    async with running_server(tmp_path, open_at_most=2) as server:
        desk = await server.device()
        await desk.ask("one")
        for name in ("a", "b", "c"):
            await desk.command("new", name)
        assert set(server.conversations.open) == {"b", "c"}
        await desk.command("resume", "main")
        assert await desk.ask("two") == "3: two"


async def test_a_conversation_that_nobody_takes_part_in_is_closed_after_a_while(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path, idle_s=0.05) as server:
        desk = await server.device()
        phone = await server.device("phone")
        await phone.command("new", "b")
        desk.leave()
        task = asyncio.create_task(server.conversations.run())
        await until(lambda: set(server.conversations.open) == {"b"})
        task.cancel()


async def test_a_reminder_is_told_where_its_device_is(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk, phone = await server.device("desk"), await server.device("phone")
        await desk.command("new", "b")
        await server.conversations.tell(lambda: "Tea!", "desk", "main")
        await until(lambda: desk.all(m.Announce))
        assert not phone.all(m.Announce)
        desk.leave()
        await server.conversations.tell(lambda: "Eggs!", "desk", "b")
        await until(lambda: phone.all(m.Announce))
        phone.leave()
        telling = asyncio.create_task(server.conversations.tell(lambda: "Milk!", "desk", "b"))
        desk.seat.join(Joined("desk", speaks=False), desk)
        phone.seat.join(Joined("phone", speaks=False), phone)
        await until(lambda: "Milk!" in str(desk.told + phone.told))
        await telling


def test_names_become_folders() -> None:
    assert slug("Taxes, 2026!") == "taxes-2026"
    assert slug("../../etc") == "etc"
    assert slug("日記") == ""


# What a conversation may choose, and has spent.


async def test_another_model_answers_in_this_conversation_alone(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert "echo" in (await desk.command("model")).text
        assert not (await desk.command("model", "nobody")).ok
        assert (await desk.command("model", "loud")).ok
        assert await desk.ask("tell me a story") == "LOUD 1: tell me a story"
        await desk.command("new")
        assert await desk.ask("tell me a story") == "1: tell me a story"


async def test_the_mode_is_chosen_where_one_may_approve(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        assert "▸ ask" in (await desk.command("mode")).text
        assert not (await desk.command("mode", "reckless")).ok
        assert (await desk.command("mode", "workspace")).ok
        assert server.conversations.open["main"].agent.permissions.mode == "workspace"
        assert "own console" in (await desk.command("mode", "full")).text
        radio = await server.device("radio", may_approve=False)
        assert not (await radio.command("mode", "ask")).ok
        assert not (await radio.command("model", "loud")).ok
        assert (await radio.command("mode")).ok


async def test_the_cost_is_told_for_here_and_for_today(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("tell me a story")
        await desk.command("new")
        await desk.ask("tell me a story")
        told = (await desk.command("cost")).text.splitlines()
        assert told == ["This conversation: 3 tokens.", "Today, all conversations: 6 tokens."]


async def test_a_conversation_is_exported_as_a_file(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("tell me a story")
        done = await desk.command("export")
        assert (done.ok, done.file_name) == (True, "main.ipynb")
        item = server.artifacts.get(done.file or "", "")
        assert item
        assert "tell me a story" in str(json.loads(item.data)["cells"])
        assert (await desk.command("export", "json")).file_name == "main.jsonl"
        assert not (await desk.command("export", "pdf")).ok


async def test_what_a_request_took_is_told_with_its_times(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        await desk.ask("tell me a story")
        (metrics,) = desk.all(m.Metrics)
        assert isinstance(metrics, m.Metrics)
        assert metrics.cost == {"tokens_in": 2, "tokens_out": 1}
        await desk.ask("what time is it")
        (metrics,) = desk.all(m.Metrics)
        assert isinstance(metrics, m.Metrics)
        assert metrics.cost == {}


@pytest.mark.slow
async def test_nobody_waits_for_a_long_conversation_to_be_exported(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device()
        for _ in range(40):
            await server.log.append(
                Event("main", "person", Asked("What was said long ago. " * 4_000))
            )
        waited = asyncio.create_task(longest_wait())
        began = time.perf_counter()
        assert (await desk.command("export")).file
        took = time.perf_counter() - began
        waited.cancel()
        assert await waited < took / 3


async def longest_wait() -> float:
    """How long others had to wait for their turn at worst, until cancelled."""
    worst, before = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(0)
            before, since = time.perf_counter(), time.perf_counter() - before
            worst = max(worst, since)
    except asyncio.CancelledError:
        return max(worst, time.perf_counter() - before)
