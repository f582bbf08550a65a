"""The tools `home`, which acts, and `home_states`, which looks: for what Home Assistant's own
sentences do not know ("everything off but the hall").
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final

from sayso.protocol.visible import HIDDEN
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext
from sayso.server.capabilities.home.assistant import (
    HomeAssistant,
    HomeAwayError,
    HomeRefusedError,
)
from sayso.server.capabilities.home.domains import call_is_calm
from sayso.server.runtimes.runtime import Ending, Output

TOLD_CHARS: Final = 4_000
"""Of what is in the home, in the prompt."""

ENTITIES_MOST: Final = 50
STATES_CHARS: Final = 8_000

_ENTITY: Final = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_SERVICE: Final = re.compile(r"[a-z0-9_]+\.[a-z0-9_]+")
_NAMES: Final = {"type": "array", "items": {"type": "string"}, "maxItems": ENTITIES_MOST}


class HomeTool(Tool):
    """Calls services of the home."""

    name = "home"
    use = (
        "Act in the person's home: a Home Assistant service such as light.turn_on for entities,"
        " with its data such as {'brightness_pct': 40}."
    )
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {
            "service": {"type": "string", "maxLength": 80},
            "entities": {**_NAMES, "minItems": 1},
            "data": {"type": "object"},
        },
        "required": ["service", "entities"],
        "additionalProperties": False,
    }

    def __init__(self, home: HomeAssistant) -> None:
        self._home = home
        self.told = ""

    async def learn(self) -> None:
        """Learn what is in the home, by the names that its household gave. Raises HomeAwayError."""
        lines, room = [], TOLD_CHARS
        for entity, name in await self._home.entities():
            line = f"{entity}: {HIDDEN.sub('', ' '.join(name.split()))[:60]}".rstrip(": ")
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        self.told = "\n".join(("In the person's home, for the tool home:", *lines)) if lines else ""

    @property
    def source(self) -> str:
        return ""  # what comes back is ours

    def read(self, label: str, text: str) -> Arguments:
        arguments = super().read(label, text)
        if not _SERVICE.fullmatch(arguments["service"]):
            raise ArgumentsError("The service must be like light.turn_on.")
        if wrong := [each for each in arguments["entities"] if not _ENTITY.fullmatch(each)]:
            raise ArgumentsError(f"Entities must be like light.hall, not {wrong[0][:40]}.")
        if set(arguments.get("data", {})) & {"entity_id", "area_id", "device_id", "label_id"}:
            raise ArgumentsError("Name what is acted on in entities alone, not in data.")
        return arguments

    def goes_unasked(self, arguments: Arguments, read: Sequence[str]) -> bool:
        return not read and call_is_calm(arguments["service"], arguments["entities"])

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return (f"{arguments['service']} in your home: {', '.join(arguments['entities'])}",)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            await self._home.call(
                arguments["service"], arguments["entities"], arguments.get("data", {})
            )
        except (HomeAwayError, HomeRefusedError) as problem:
            yield Output("error", f"{problem}\n")
            yield Ending("error", clock() - began)
        else:
            yield Output("result", "Done.\n")
            yield Ending("ok", clock() - began)


class HomeStates(Tool):
    """Looks how things in the home are."""

    name = "home_states"
    use = "Look how things in the person's home are: entities or whole domains such as 'light'."
    schema: Mapping[str, Any] = {
        "type": "object",
        "properties": {"of": {**_NAMES, "minItems": 1}},
        "required": ["of"],
        "additionalProperties": False,
    }
    undo = ""

    def __init__(self, home: HomeAssistant) -> None:
        self._home = home

    @property
    def source(self) -> str:
        return "the states of your home"

    def goes_unasked(self, arguments: Arguments, read: Sequence[str]) -> bool:
        return True  # nothing is sent but which of them are wanted, and to the home alone

    def may_touch(self, arguments: Arguments) -> tuple[str, ...]:
        return (f"look at {', '.join(arguments['of'])} in your home",)

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        try:
            states = await self._home.states(arguments["of"])
        except (HomeAwayError, HomeRefusedError) as problem:
            yield Output("error", f"{problem}\n")
            yield Ending("error", 0.0)
            return
        told = "\n".join(_line(each) for each in states)[:STATES_CHARS]
        yield Output("result", f"{told or 'There is nothing of that kind.'}\n")
        yield Ending("ok", 0.0)


def _line(state: Mapping[str, Any]) -> str:
    attributes = state.get("attributes") or {}
    said = json.dumps(
        {key: value for key, value in attributes.items() if not key.startswith("supported_")},
        ensure_ascii=False,
    )
    return f"{state.get('entity_id')}: {state.get('state')} {said[:300]}"
