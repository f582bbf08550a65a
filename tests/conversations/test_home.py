"""A house that is connected does what is said, if that does no harm, and nothing else."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.agent.llm.model import ChatMessage
from sayso.server.reflexes.home.home import HomeAwayError, Plan
from tests.plain_model import PlainModel
from tests.server.running_server import running_server

pytestmark = pytest.mark.virtual_time

UNDERSTOOD = {
    "Turn on the kitchen light.": frozenset({"light"}),
    "Movie time!": frozenset({"scene", "media_player"}),
    "Lock the front door.": frozenset({"lock"}),
    "Everything off, and lock up.": frozenset({"light", "lock"}),
    "Fizz the buzz.": frozenset[str](),
}


class Poet(PlainModel):
    """Answers what no reflex does."""

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return "I am no house."


class House:
    """Understands a few sentences."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.asked: list[str] = []
        self.silent_when = ""

    async def plan(self, text: str, language: str, device: str) -> Plan | None:
        self.asked.append(text)
        if self.silent_when == "asked":
            await asyncio.sleep(3600)
        kinds = UNDERSTOOD.get(text)
        return None if kinds is None else Plan(text, language, kinds)

    async def carry_out(self, plan: Plan) -> str:
        self.done.append(plan.text)
        if self.silent_when == "acting":
            raise HomeAwayError
        return "Turned on the light."


async def test_what_does_no_harm_is_done_and_told_in_the_houses_own_words(tmp_path: Path) -> None:
    async with running_server(tmp_path, model=Poet()) as server:
        house = server.responder.at_home.home = House()
        desk = await server.device()
        assert await desk.ask("Turn on the kitchen light.") == "Turned on the light."
        assert await desk.ask("Movie time!") == "Turned on the light."
        assert await desk.ask("What time is it?") != "Turned on the light."
        assert house.done == ["Turn on the kitchen light.", "Movie time!"]
        assert "What time is it?" not in house.asked


@pytest.mark.parametrize(
    "said", ["Lock the front door.", "Everything off, and lock up.", "Fizz the buzz."]
)
async def test_what_may_do_harm_or_is_not_known_is_never_done_by_a_reflex(
    tmp_path: Path, said: str
) -> None:
    async with running_server(tmp_path, model=Poet()) as server:
        house = server.responder.at_home.home = House()
        desk = await server.device()
        await desk.ask(said)
        assert house.asked == [said]
        assert not house.done


async def test_a_device_that_may_not_decide_changes_nothing_in_the_house(tmp_path: Path) -> None:
    async with running_server(tmp_path, model=Poet()) as server:
        house = server.responder.at_home.home = House()
        guest = await server.device("tv", may_approve=False)
        assert "light" not in await guest.ask("Turn on the kitchen light.")
        assert not house.done


async def test_a_house_that_is_away_is_said_so_and_holds_up_nothing_else(tmp_path: Path) -> None:
    async with running_server(tmp_path, model=Poet()) as server:
        house = server.responder.at_home.home = House()
        desk = await server.device()
        house.silent_when = "acting"
        assert "don't know whether" in await desk.ask("Turn on the kitchen light.")
        assert house.done == ["Turn on the kitchen light."]
        house.silent_when = "asked"
        began = asyncio.get_running_loop().time()
        assert "doesn't answer" in await desk.ask("Turn on the kitchen light.")
        assert asyncio.get_running_loop().time() - began < 2.5
        house.asked.clear()
        await desk.ask("Write me a poem.")
        assert not house.asked
