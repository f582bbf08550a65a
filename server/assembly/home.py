"""The home that the settings name. Where none is named, nothing of it is imported."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sayso.server.agent.tools.tool import Tool
from sayso.server.home_network import is_at_home
from sayso.server.process import end
from sayso.server.reflexes.home.home import Home
from sayso.server.settings.defaults import Home as HomeSettings

LEARN_AGAIN_S: Final = 600.0
"""Between looks at what there is in the home: a new lamp is known after ten minutes."""


@dataclass(frozen=True, slots=True)
class OpenHome:
    """A home that can be asked."""

    sentences: Home
    """For the reflexes."""
    tools: Iterable[Tool]


def home_trouble(settings: HomeSettings) -> str:
    """What is wrong with the settings of a home, in a sentence; empty if nothing is."""
    address = urlsplit(settings.url)
    safe = address.scheme == "https" or (
        address.scheme == "http" and is_at_home(address.hostname or "")
    )
    if not safe:
        return "home.url must begin with https:// beyond your home; the home is left alone."
    if not os.environ.get(settings.token_variable):
        return f"The environment has no {settings.token_variable}; make a token in your profile."
    return ""


def open_home(settings: HomeSettings, stack: AsyncExitStack) -> OpenHome | None:
    """The home; None where none is named, or not as it must be. It ends with the stack."""
    if not settings.url or home_trouble(settings):
        return None
    from sayso.server.capabilities.home.assistant import (
        HomeAssistant,
        HomeAwayError,
        HomeRefusedError,
    )
    from sayso.server.capabilities.home.sentences import HomeSentences
    from sayso.server.capabilities.home.tools import HomeStates, HomeTool

    home = HomeAssistant(settings.url, os.environ[settings.token_variable])
    tool = HomeTool(home)

    async def learn() -> None:
        with suppress(HomeAwayError):
            await home.warm()
        while True:
            try:
                await tool.learn()
            except (HomeAwayError, HomeRefusedError):
                tool.told = ""
            await asyncio.sleep(LEARN_AGAIN_S)

    stack.push_async_callback(home.close)
    stack.push_async_callback(end, asyncio.create_task(learn()))
    return OpenHome(HomeSentences(home), (tool, HomeStates(home)))
