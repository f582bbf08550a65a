"""Opens a conversation of the server: its agent, with devices, speech and files on top."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from textwrap import shorten
from typing import Final

from sayso.protocol.home import Home
from sayso.server.agent.conversation_agent import ConversationAgent
from sayso.server.agent.permissions.untrusted_folders import UntrustedFolders
from sayso.server.agent.record.journal import LATELY_S
from sayso.server.agent.tools.tool import Tool
from sayso.server.assembly.agent import AgentOptions, AgentParts, open_agent
from sayso.server.assembly.browser import browser_folder
from sayso.server.assembly.desktop import DeviceScreens
from sayso.server.capabilities.household.tools import ListTool, ReminderTool
from sayso.server.capabilities.memory.tools import MemoryTool
from sayso.server.conversations.driver import ConversationDriver
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.conversations.files.upload_quota import UploadLimits
from sayso.server.conversations.files.workspaces import Workspaces
from sayso.server.conversations.neighbourhood import Neighbourhood
from sayso.server.conversations.open_conversation import OpenConversation
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.speech.recognition.rival_devices import RivalDevices
from sayso.server.speech.speech import Speech
from sayso.server.store.private_folders import make_private
from sayso.server.store.records import Conversation
from sayso.server.turn.effects import Effect
from sayso.server.turn.events import Announced

log = logging.getLogger(__name__)

CUT_OFF: Final = (
    "Sayso ended in the middle of “{asked}”, and is back. Say “go on” to have it finished;"
    " nothing that ran is run again."
)
HALF_SAID: Final = "Sayso ended in the middle of this, and is back: {answer}"
ASKED_CHARS: Final = 80
"""Of the request, in that sentence: it is spoken, too."""


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What all conversations of a server have in common."""

    home: Home
    agents: AgentParts
    speech: Speech
    artifacts: Artifacts
    responder: ReflexResponder
    preferences: Preferences
    upload_limits: UploadLimits
    folders: UntrustedFolders = field(default_factory=UntrustedFolders)
    """Tracks which folders may hold untrusted content."""
    rival_devices: RivalDevices = field(default_factory=RivalDevices)
    watch: Callable[[Effect], None] = lambda _: None
    """Sees everything that turns want done."""


async def open_conversation(shared: SharedParts, about: Conversation) -> OpenConversation:
    """Open a conversation. Raises StoreError."""
    await asyncio.to_thread(_keep_names_private, shared.home)
    agents, state = shared.agents, shared.home.state
    workspaces = Workspaces(shared.home, agents.settings, agents.standing)
    opened: list[ConversationAgent] = []

    def folder() -> str:
        """In which code runs; a conversation's own is known by the conversation."""
        where = opened[0].code_runner.where if opened else ""
        return about.id if Path(where).name == about.id else where

    screens = DeviceScreens()
    memory = MemoryTool(shared.responder.memories, about.owner, folder)
    options = AgentOptions(
        about.id,
        workspaces.of(about),
        outputs=state / "outputs" / about.id,
        undo=state / "undo",
        guest=bool(about.owner),
        tools=(*household_tools(shared.responder, about.id), memory),
        helpers=shared.home.data / "helpers",
        browser=browser_folder(shared.home, about.owner),
        screens=screens,
        neighbours=Neighbourhood(agents.log, workspaces, shared.folders, about.id),
    )
    own = await open_agent(agents, options)
    opened.append(own)
    artifacts = shared.artifacts.of(about.owner, about.id)
    driver = ConversationDriver(
        about.id,
        replace(shared.speech, rivals=shared.rival_devices.of(about.owner, about.id)),
        own.agent,
        own.undo_requests,
        artifacts,
        shared.responder,
        shared.preferences,
        shared.watch,
    )
    screens.driven_by(driver)
    driver.notices.extend(own.lost)
    if own.journal.cut_off:
        asked = shorten(own.journal.cut_off, ASKED_CHARS, placeholder="…")
        driver.happened(Announced(CUT_OFF.format(asked=asked), device=""))
    if half := own.journal.half_said:
        driver.owe(half.device, HALF_SAID.format(answer=half.text), LATELY_S)
    return OpenConversation(
        about,
        own,
        driver,
        artifacts,
        shared.responder.undo_answers,
        log=agents.log,
        workspaces=workspaces,
        upload_limits=shared.upload_limits,
    )


def household_tools(responder: ReflexResponder, conversation: str) -> tuple[Tool, ...]:
    """What the model keeps for the person: timers, alarms, reminders and lists."""
    with_what = (
        responder.answer,
        partial(responder.asker, conversation),
        responder.languages,
        responder.now,
    )
    return (ReminderTool(*with_what), ListTool(*with_what))


def _keep_names_private(home: Home) -> None:
    own = (home.data / "workspaces", home.state / "outputs", home.state / "undo")
    try:
        make_private(*own)
    except OSError as error:
        log.warning("The names of conversations may be seen by others here: %s", error)
