"""What the model keeps for a person: timers, alarms, reminders and lists, with one call each."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.agent.llm.model import (
    ChatMessage,
    Delta,
    TextDelta,
    ToolCallDelta,
    ToolDefinition,
    Usage,
)
from tests.plain_model import PlainModel
from tests.server.running_server import running_server

pytestmark = pytest.mark.virtual_time


class Keeper(PlainModel):
    """A model that calls one tool with what it is told to, and says what came of it."""

    calls_tools = True

    def __init__(self, tool: str, **arguments: object) -> None:
        self._call = (tool, json.dumps(arguments))
        self.offered: list[str] = []

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return str(messages[-1]["content"])

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        self.offered = [tool["function"]["name"] for tool in tools]
        if messages[-1]["role"] == "tool":
            yield TextDelta(self.says(messages))
        else:
            yield ToolCallDelta(0, "call1", *self._call)
        yield Usage(1, 1, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            {"action": "set", "kind": "timer", "when": "10 minutes", "what": "egg"},
            "Egg timer set for ten minutes.",
        ),
        (
            {"action": "set", "kind": "alarm", "when": "every weekday at 7 am"},
            "The alarm will ring every weekday at seven o'clock in the morning.",
        ),
        ({"action": "set", "when": "in 2 hours", "what": "call Mum"}, "I'll remind you in two h"),
        ({"action": "set", "when": "2090-01-01T09:00", "what": "rest"}, "That is too far ahead"),
        ({"action": "set", "kind": "timer", "when": "tomorrow at nine"}, "A timer takes a length"),
        ({"action": "set", "when": "some day", "what": "rest"}, "The time 'some day' was not und"),
        ({"action": "list"}, "No timer is running. No alarm is set. There are no reminders."),
        ({"action": "cancel"}, "Say which kind to cancel"),
        ({"action": "cancel", "kind": "alarm"}, "No alarm is set."),
        ({"action": "cancel", "kind": "timer", "all": True}, "No timer is running."),
        ({"action": "move", "when": "7:30"}, "No alarm is set."),
        ({"action": "pause", "what": "egg"}, "No timer is running."),
        ({"action": "snooze"}, "No alarm is ringing."),
    ],
)
async def test_a_model_sets_lists_and_cancels_with_one_call_and_nobody_is_asked(
    tmp_path: Path, arguments: dict[str, object], told: str
) -> None:
    model = Keeper("reminders", **arguments)
    async with running_server(tmp_path, model=model) as server:
        desk = await server.device()
        assert told in await desk.ask("See to it as we said before.")
        assert not desk.all(m.ApprovalRequest)
        assert {"reminders", "household_lists"} <= set(model.offered)


async def test_what_the_model_kept_is_there_for_the_reflexes_and_a_guest_has_their_own(
    tmp_path: Path,
) -> None:
    model = Keeper("household_lists", action="add", name="shopping", items=["milk", "eggs"])
    async with running_server(tmp_path, model=model) as server:
        desk, guest = await server.device(), await server.device("guest", person="Anna")
        assert "I put milk and eggs on" in await desk.ask("We have no breakfast for tomorrow.")
        assert await desk.ask("What's on it?") == "On your shopping list: milk and eggs."
        assert "nothing" in await guest.ask("What's on my shopping list?")


async def test_a_model_moves_and_cancels_one_of_several_by_its_time(tmp_path: Path) -> None:
    moves = Keeper("reminders", action="move", old="7", when="half past eight")
    async with running_server(tmp_path, model=moves) as server:
        desk = await server.device()
        for said in ("Wake me tomorrow at seven.", "Wake me tomorrow at nine."):
            await desk.ask(said)
        assert "half past eight in the morning instead" in await desk.ask("The early one later.")
    cancels = Keeper("reminders", action="cancel", kind="alarm", when="tomorrow at 9")
    async with running_server(tmp_path, model=cancels) as server:
        desk = await server.device()
        assert "won't ring tomorrow at nine" in await desk.ask("No need of the late one.")
        assert "half past eight" in await desk.ask("What alarms do I have?")


async def test_what_strangers_wrote_has_the_model_keep_nothing(tmp_path: Path) -> None:
    model = Keeper("reminders", action="set", when="in 5 minutes", what="pay the prince")
    async with running_server(tmp_path, model=model) as server:
        desk = await server.device()
        here = server.conversations.open["main"]
        here.conversation._agent.permissions.outside_content.read(["evil.example.org"])
        assert "what strangers wrote there" in await desk.ask("Sum the page up for me.")
        assert await desk.ask("What are my reminders?") == "There are no reminders."
        await asyncio.sleep(0)
