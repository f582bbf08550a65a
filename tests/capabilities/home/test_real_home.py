"""A real Home Assistant: calm sentences at once, what secures the house never without a yes, and
one sentence when it is gone.

Run by hand, with SAYSO_TEST_HOME_ASSISTANT (docs/home.md): it weighs close to a gigabyte.
"""

import asyncio
import json
import os
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest
from sayso.server.capabilities.home.assistant import HomeAssistant
from sayso.server.capabilities.home.sentences import HomeSentences
from sayso.server.capabilities.home.tools import HomeStates, HomeTool
from tests.agent.conftest import AgentRig
from tests.agent.permissions.places import Described
from tests.capabilities.home.real_home import RealHome, real_home
from tests.scripted_model import Reply, says
from tests.server.running_server import Device, running_server

HASS = os.environ.get("SAYSO_TEST_HOME_ASSISTANT", "")
NOWHERE = Described("python")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.foreign,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not HASS, reason="SAYSO_TEST_HOME_ASSISTANT names no hass"),
]

EXPOSED = (
    "lock.front_door",
    "lock.kitchen_door",
    "cover.garage_door",
    "alarm_control_panel.security",
    "script.open_up",
    "weather.demo_weather_south",
)

CALM: tuple[tuple[str, str, str], ...] = (
    ("Turn off the kitchen lights.", "light.kitchen_lights", "off"),
    ("Turn on the kitchen lights.", "light.kitchen_lights", "on"),
    ("Switch off the ceiling lights.", "light.ceiling_lights", "off"),
    ("Switch the ceiling lights on.", "light.ceiling_lights", "on"),
    ("Turn the bed light on.", "light.bed_light", "on"),
    ("Bed light off", "light.bed_light", "off"),
    ("Turn off the office RGBW lights.", "light.office_rgbw_lights", "off"),
    ("Turn on office RGBW lights", "light.office_rgbw_lights", "on"),
    ("Turn off the living room RGBWW lights", "light.living_room_rgbww_lights", "off"),
    ("Turn on the AC.", "switch.ac", "on"),
    ("Turn the decorative lights off", "switch.decorative_lights", "off"),
    ("Turn on decorative lights", "switch.decorative_lights", "on"),
    ("Set the ceiling lights brightness to 50 percent", "light.ceiling_lights", "on"),
    ("Set the office RGBW lights to red", "light.office_rgbw_lights", "on"),
    ("Set the heatpump temperature to 25 degrees", "climate.heatpump", "heat"),
    ("Set the walkman volume to 50 percent", "media_player.walkman", "playing"),
    ("Turn on the living room fan.", "fan.living_room_fan", "on"),
    ("Turn off the living room fan.", "fan.living_room_fan", "off"),
    ("Turn on the ceiling fan.", "fan.ceiling_fan", "on"),
    ("Turn off the ceiling fan", "fan.ceiling_fan", "off"),
    ("Turn on movie night", "light.kitchen_lights", "off"),
    ("Pause the walkman", "media_player.walkman", "paused"),
    ("Resume the walkman", "media_player.walkman", "playing"),
)
"""A sentence, what it changes, and to what."""

ASKED: tuple[str, ...] = (
    "Is the front door locked?",
    "What's the weather?",
    "Is the kitchen lights on?",
    "Which lights are on?",
)

SECURES: tuple[tuple[str, str], ...] = (
    ("Unlock the front door.", "lock.front_door"),
    ("Open the front door lock.", "lock.front_door"),
    ("Unlock the kitchen door", "lock.kitchen_door"),
    ("Open the garage door.", "cover.garage_door"),
    ("Close the garage door.", "cover.garage_door"),
    ("Run the script open up.", "lock.front_door"),
    ("Turn off the front door.", "lock.front_door"),
    ("Turn on open up", "lock.front_door"),
)


@asynccontextmanager
async def desk_in(tmp_path: Path, home: RealHome) -> AsyncIterator[Device]:
    """A device of a server that has this home, and whose model only says back."""
    async with running_server(tmp_path / "sayso") as server:
        assistant = HomeAssistant(home.url, home.token)
        await assistant.warm()
        server.responder.at_home.home = HomeSentences(assistant)
        server.responder.serves = lambda _: True
        try:
            yield await server.device()
        finally:
            await assistant.close()


async def test_a_real_home_is_spoken_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with (
        real_home(Path(HASS), tmp_path / "home", EXPOSED) as home,
        desk_in(tmp_path, home) as desk,
    ):
        took = []
        for sentence, entity, state in CALM:
            began = time.perf_counter()
            said = await desk.ask(sentence)
            changed = await home.changed(entity, began)
            assert changed, (sentence, said)
            at, now = changed
            assert now == state, (sentence, said)
            took.append(1_000 * (at - began))
            assert sentence not in said, f"{sentence} went to the model"
        for sentence in ASKED:
            said = await desk.ask(sentence)
            assert sentence not in said, f"{sentence} went to the model"
        for sentence, entity in SECURES:
            before = await home.state(entity)
            await desk.ask(sentence)
            await asyncio.sleep(0.3)  # what it might have begun shows by then
            assert await home.state(entity) == before, sentence
        with capsys.disabled():
            figures = {
                "home_ms": round(statistics.median(took), 1),
                "home_ms_slowest": round(max(took), 1),
                "sentences": len(took),
            }
            print(json.dumps(figures))  # noqa: T201 - what this run is for
        assert max(took) <= 300


async def test_the_model_has_its_tools_and_opens_nothing_without_a_yes(
    rig: AgentRig, tmp_path: Path
) -> None:
    def acts(service: str, entity: str) -> Reply:
        given = json.dumps({"service": service, "entities": [entity]})
        return Reply(calls=[{"name": "home", "arguments": given}])

    async with real_home(Path(HASS), tmp_path / "home", EXPOSED) as home:
        assistant = HomeAssistant(home.url, home.token)
        tool = HomeTool(assistant)
        await tool.learn()
        assert "light.kitchen_lights" in tool.told
        assert "lock.front_door: Front Door" in tool.told
        agent = await rig.agent(
            acts("light.turn_off", "light.kitchen_lights"),
            acts("lock.unlock", "lock.front_door"),
            says("Done."),
            tools=[tool, HomeStates(assistant)],
            code_runner=NOWHERE,
        )
        await rig.ask(agent, "Everything off, and open up.", "no")
        assert await home.state("light.kitchen_lights") == "off"
        assert await home.state("lock.front_door") == "locked"
        (asked,) = rig.told(ApprovalRequest)
        assert asked.tap
        rig.model.add(acts("lock.unlock", "lock.front_door"), says("Open."))
        await rig.ask(agent, "Open up.", "yes")
        await home.until("lock.front_door", "unlocked")
        await assistant.close()


async def test_a_home_that_is_gone_is_one_sentence(tmp_path: Path) -> None:
    async with real_home(Path(HASS), tmp_path / "home") as home, desk_in(tmp_path, home) as desk:
        await desk.ask("Turn off the kitchen lights.")
        await home.stop()
        began = time.perf_counter()
        said = await desk.ask("Turn on the kitchen lights.")
        assert time.perf_counter() - began < 2.5
        assert "home" in said.lower()
