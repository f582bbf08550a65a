"""The server ends in the middle of an answer: what may not have been heard is said once more."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.store.records import Heard, Record
from sayso.server.store.steering import SaidBeside
from sayso.server.turn import events
from tests.conversations.test_spoken_turns import hear_out
from tests.server.running_server import Device, Echo, RunningServer, running_server, until
from tests.speech_doubles import ToneSynthesizer

pytestmark = pytest.mark.virtual_time

TIDE = "1: when is the tide high"


def server_that_talks(folder: Path) -> AbstractAsyncContextManager[RunningServer]:
    return running_server(folder, voice=ToneSynthesizer())


async def ask(server: RunningServer, text: str = "when is the tide high") -> Device:
    """Returns as soon as the answer begins to be heard."""
    desk = await server.device(speaks=True)
    desk.seat.happened(events.Typed(desk.name, text))
    await until(lambda: desk.sounds and desk.all(m.Metrics) == [])
    return desk


async def told_after_a_restart(folder: Path) -> tuple[Sequence[str], Sequence[str]]:
    """What is shown unasked, and what is said, when somebody is there again."""
    async with server_that_talks(folder) as server:
        desk = await server.device(speaks=True)
        await desk.command("help")
        if shown := [each.text for each in desk.all(m.Announce) if isinstance(each, m.Announce)]:
            await hear_out(desk)
        said = [each.text for each in desk.told if isinstance(each, m.SpeechStart)]
        return shown, said


async def records(server: RunningServer) -> Sequence[Record]:
    return [event.record for event in await server.log.conversation("main")]


async def test_what_was_being_said_is_said_again_once(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        await ask(server)
    shown, said = await told_after_a_restart(tmp_path)
    assert shown == [f"Sayso ended in the middle of this, and is back: {TIDE}"]
    assert TIDE.partition(": ")[2] in " ".join(said)
    assert await told_after_a_restart(tmp_path) == ([], [])


async def test_that_devices_are_sent_away_as_it_ends_is_no_interruption(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await ask(server)
        server.conversations.halt()
        desk.leave()
        await until(lambda: True)
    shown, _ = await told_after_a_restart(tmp_path)
    assert shown == [f"Sayso ended in the middle of this, and is back: {TIDE}"]


async def test_work_that_the_end_breaks_off_was_interrupted_by_nobody(tmp_path: Path) -> None:
    thinking = Echo()
    thinking.takes_s = 100.0
    async with running_server(tmp_path, model=thinking) as server:
        desk = await server.device()
        desk.seat.happened(events.Typed(desk.name, "when is the tide high"))
        await until(lambda: desk.all(m.TurnState))
        await asyncio.sleep(10.0)
    for _ in range(2):
        shown, _ = await told_after_a_restart(tmp_path)
        assert [each.partition(",")[0] for each in shown] == [
            "Sayso ended in the middle of “when is the tide high”"
        ]


async def test_it_is_said_again_where_it_was_being_said(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        await ask(server)
    async with server_that_talks(tmp_path) as server:
        bedroom = await server.device("bedroom", speaks=True)
        await asyncio.sleep(10.0)
        assert not bedroom.sounds
        desk = await server.device("desk", speaks=True)
        await until(lambda: desk.sounds)
        assert not bedroom.sounds


async def test_who_comes_back_much_later_does_not_hear_it_again(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        await ask(server)
    async with server_that_talks(tmp_path) as server:
        await server.conversations.enter(await server.conversations.latest())
        await asyncio.sleep(600.0)
        desk = await server.device("desk", speaks=True)
        await asyncio.sleep(10.0)
        assert not desk.sounds


async def test_what_was_heard_to_its_end_is_not_said_again(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        await hear_out(await ask(server))
    assert await told_after_a_restart(tmp_path) == ([], [])


async def test_what_the_person_interrupted_is_not_said_again(tmp_path: Path) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await ask(server)
        desk.seat.happened(events.Interrupted(desk.name, desk.sounds[-1].stream, 100))
        await until(lambda: desk.all(m.Metrics))
    assert await told_after_a_restart(tmp_path) == ([], [])


async def test_an_answer_without_a_model_changes_nothing_of_what_the_model_knows(
    tmp_path: Path,
) -> None:
    async with server_that_talks(tmp_path) as server:
        desk = await ask(server)
        await hear_out(desk)
        before = len(await records(server))
        desk.told.clear()
        desk.seat.happened(events.Typed(desk.name, "what time is it"))
        await until(lambda: desk.sounds)
        desk.seat.happened(events.Interrupted(desk.name, desk.sounds[-1].stream, 100))
        await until(lambda: desk.all(m.Metrics))
        known = [one for one in await records(server) if not isinstance(one, SaidBeside)]
        assert len(known) == before
        assert not [record for record in known if isinstance(record, Heard)]
    assert await told_after_a_restart(tmp_path) == ([], [])
