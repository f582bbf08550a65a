"""Each paired device has a conversation of its own, so that none waits for another."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import ChatMessage
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.turn.events import ApprovalAnswered, Typed
from tests.kernels import lent_home
from tests.plain_model import PlainModel
from tests.server.running_server import running_server, until
from tests.speech_doubles import ToneSynthesizer


async def test_a_paired_device_has_a_conversation_of_its_own_and_comes_back_to_it(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        kitchen = await server.device("Kitchen", paired="d1")
        study = await server.device("Study", paired="d2")
        assert [one.seat.id for one in (desk, kitchen, study)] == ["main", "kitchen", "study"]
        assert await kitchen.ask("one") == "1: one"
        kitchen.leave()
        assert await study.ask("two") == "1: two"
    async with running_server(tmp_path) as server:
        kitchen = await server.device("Kitchen", paired="d1")
        assert kitchen.seat.id == "kitchen"
        assert await kitchen.ask("three") == "3: three"
        assert (await server.device("desk")).seat.id == "main"


async def test_a_device_that_was_taken_to_another_conversation_stays_there(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        desk = await server.device("desk")
        await desk.ask("one")
        phone = await server.device("Phone", paired="d1")
        await phone.command("resume", "main")
        assert await phone.ask("two") == "3: two"
        pad = await server.device("Pad", wanted="main", paired="d2")
        phone.leave()
        pad.leave()
    async with running_server(tmp_path) as server:
        assert (await server.device("Phone", paired="d1")).seat.id == "main"
        assert (await server.device("Pad", paired="d2")).seat.id == "main"


async def test_the_machine_goes_on_with_its_own_and_not_with_what_was_talked_in_last(
    tmp_path: Path,
) -> None:
    async with running_server(tmp_path) as server:
        await (await server.device("desk")).ask("one")
        kitchen = await server.device("Kitchen", paired="d1")
        await kitchen.ask("two")
        desk = await server.device("desk")
        assert desk.seat.id == "main"
        await desk.command("resume", "kitchen")
        assert (await server.device("another terminal")).seat.id == "kitchen"
        await desk.command("resume", "main")
        assert (await server.device("another terminal")).seat.id == "main"


async def test_a_device_whose_conversation_was_forgotten_begins_anew(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        kitchen = await server.device("Kitchen", paired="d1")
        await kitchen.ask("one")
        kitchen.leave()
        await server.conversations.forget(await server.conversations.find("kitchen"))
        again = await server.device("Kitchen", paired="d1")
        assert again.seat.id == "kitchen"
        assert await again.ask("two") == "1: two"


async def test_a_device_that_comes_twice_at_once_has_one_conversation(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        comes = [server.device("Kitchen", paired="d1") for _ in range(3)]
        assert {one.seat.id for one in await asyncio.gather(*comes)} == {"kitchen"}
        assert len(await server.conversations.all()) == 1


async def test_a_guest_s_first_device_finds_what_their_devices_had_together(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        before = await server.conversations.begin("Diary", "ann")
        phone = await server.device("Phone", person="ann", paired="d1")
        pad = await server.device("Pad", person="ann", paired="d2")
        assert phone.seat.id == before.id != pad.seat.id
        assert {one.id for one in await server.conversations.all("ann")} == {before.id, pad.seat.id}


async def test_what_one_device_asks_is_worked_on_while_another_is_answered(tmp_path: Path) -> None:
    async with running_server(tmp_path, voice=ToneSynthesizer()) as server:
        kitchen = await server.device("Kitchen", paired="d1", speaks=True)
        study = await server.device("Study", paired="d2")
        kitchen.seat.happened(Typed("Kitchen", "tell me a story"))
        # Nothing is played there, so that answer goes on for as long as this lasts.
        await until(lambda: kitchen.all(m.SpeechStart))
        assert await study.ask("one") == "1: one"
        assert "It's" in await study.ask("What day is it?")
        assert not kitchen.all(m.SpeechStop)


class Asks(PlainModel):
    """A language model that writes code."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return "```python\nprint(1)\n```"


async def test_what_no_device_there_can_show_is_told_on_the_person_s_other_screens(
    tmp_path: Path,
) -> None:
    environment, report = ensure(lent_home()), await find_sandbox()

    def code_runner(place: Path, reach: Grants, _: Identity | None) -> CodeRunner:
        return CodeRunner(place, environment, report, reach)

    async with running_server(tmp_path, model=Asks(), code_runner=code_runner) as server:
        desk = await server.device("desk")
        anns = await server.device("pad", person="ann")
        kitchen = await server.device("Kitchen", paired="d1", may_approve=False)
        kitchen.seat.happened(Typed("Kitchen", "count"))
        await until(lambda: desk.all(m.Announce))
        (told,) = desk.all(m.Announce)
        assert isinstance(told, m.Announce)
        assert "/resume Kitchen" in told.text
        assert not anns.all(m.Announce)
        await desk.command("resume", "Kitchen")
        await until(lambda: desk.all(m.ApprovalRequest))
        (question,) = desk.all(m.ApprovalRequest)
        assert isinstance(question, m.ApprovalRequest)
        desk.seat.happened(ApprovalAnswered("desk", question.id, question.nonce, "no", None))
        await until(lambda: desk.all(m.ApprovalDone))


async def test_a_timer_that_was_set_in_the_kitchen_is_known_in_the_study(tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        kitchen = await server.device("Kitchen", paired="d1")
        study = await server.device("Study", paired="d2")
        guest = await server.device("pad", person="ann")
        await kitchen.ask("Set a timer for ten minutes.")
        assert "left" in await study.ask("How long is left on the timer?")
        assert "left" not in await guest.ask("How long is left on the timer?")
        await study.ask("Cancel the timer.")
        assert "left" not in await kitchen.ask("How long is left on the timer?")
