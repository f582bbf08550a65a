"""A server with real conversations, without recognition, synthesis and sandbox."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import cast

from sayso.protocol import messages as m
from sayso.protocol.home import Home
from sayso.server.agent.llm.backend import Backend, Backends
from sayso.server.agent.llm.model import ChatMessage, ChatModel
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.spending import DailyLimits, DailySpending
from sayso.server.agent.tools.tool import Tool
from sayso.server.assembly.agent import AgentParts
from sayso.server.assembly.conversation import SharedParts, open_conversation
from sayso.server.assembly.unavailable import UnavailableRecognizer, UnavailableSynthesizer
from sayso.server.capabilities.skills.skill_files import read_skills
from sayso.server.conversations.deletion import wipe
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.conversations.files.upload_quota import UploadLimits, UploadRoom
from sayso.server.conversations.participant import Participant
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.conversations.registry import ConversationRegistry
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.protection.folder_identity import Identity
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from sayso.server.settings import MB, Settings
from sayso.server.slash.builtin import SHIPPED
from sayso.server.slash.commands import Commands
from sayso.server.slash.own_commands import OwnCommands
from sayso.server.speech.recognition.recognizer import Recognizer
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.speech.speech import Speech
from sayso.server.speech.synthesis.session import SpeechSynthesis
from sayso.server.speech.synthesis.synthesizer import Synthesizer
from sayso.server.speech.synthesis.voices import OneVoice
from sayso.server.store.event_log import EventLog
from sayso.server.trust.principal import THIS_MACHINE, Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Joined, Ticket, Typed
from tests.plain_model import PlainModel

WAIT_S = 20.0
"""Longest time for anything here on a busy machine."""


async def until(is_so: Callable[[], object]) -> None:
    """Let the server work until something is so."""
    async with asyncio.timeout(WAIT_S):
        for pause in repeat(0.002):
            if is_so():
                return
            await asyncio.sleep(pause)


class Echo(PlainModel):
    """A language model that says back what it is told last, and how much it was told."""

    def __init__(self, first: str = "") -> None:
        self._first = first
        self.name = first.strip() or "echo"

    def says(self, messages: Sequence[ChatMessage]) -> str:
        return f"{self._first}{len(messages) - 1}: {messages[-1]['content']}"


@dataclass
class Device:
    """A device that takes part, and what it was told."""

    seat: Participant
    name: str
    told: list[m.FromServer] = field(default_factory=list)
    sounds: list[Send] = field(default_factory=list)
    pcm: bytearray = field(default_factory=bytearray)
    """All speech that it was sent."""

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        self.told.append(message)

    def send(self, speech: Send) -> None:
        self.sounds.append(speech)
        self.pcm += speech.pcm

    def all(self, kind: type) -> list[m.FromServer]:
        return [message for message in self.told if isinstance(message, kind)]

    async def ask(self, text: str) -> str:
        """Type something and wait for the answer."""
        self.told.clear()
        self.seat.happened(Typed(self.name, text))
        idle = m.TurnState("idle", "idle", "silent")
        await until(lambda: self.all(m.Metrics) and self.told[-1] == idle)
        replies = cast("list[m.ReplyDelta]", self.all(m.ReplyDelta))
        return "".join(reply.text for reply in replies)

    async def command(self, name: str, text: str = "") -> m.CommandDone:
        """Give a command and wait for what comes of it."""
        before = len(self.all(m.CommandDone))
        self.seat.command(self.name, name, text)
        await until(lambda: len(self.all(m.CommandDone)) > before)
        return cast("m.CommandDone", self.all(m.CommandDone)[-1])

    def leave(self) -> None:
        self.seat.leave(self.name)


@dataclass
class RunningServer:
    """What a test works with."""

    conversations: ConversationRegistry
    commands: Commands
    log: EventLog
    artifacts: Artifacts
    responder: ReflexResponder

    async def device(
        self,
        name: str = "desk",
        wanted: str = "",
        person: str = "",
        *,
        paired: str = "",
        may_approve: bool = True,
        may_admin: bool = True,
        speaks: bool = False,
    ) -> Device:
        """`paired`: its lasting id; a guest's has one in any case, others are programs here."""
        who = THIS_MACHINE
        if paired or person:
            who = Principal(paired or f"{person}'s {name}", person, who.scopes, name)
        seat = await Participant.take(self.conversations, self.commands, wanted, who)
        device = Device(seat, name)
        joined = Joined(name, speaks=speaks, may_approve=may_approve, may_admin=may_admin)
        seat.join(joined, device)
        return device


@asynccontextmanager
async def running_server(
    folder: Path,
    *,
    idle_s: float = 1_800.0,
    open_at_most: int = 16,
    day: DailyLimits | None = None,
    model: ChatModel | None = None,
    ears: Recognizer | None = None,
    voice: Synthesizer | None = None,
    code_runner: Callable[[Path, Grants, Identity | None], CodeRunner] | None = None,
    guest_bytes: int = 1_000_000,
    tools: Iterable[Tool] = (),
    settings: Settings | None = None,
) -> AsyncIterator[RunningServer]:
    """A server that lives in a folder, until the block ends."""
    home = Home(folder, folder, folder)
    log = await EventLog.open(folder / "events.sqlite")
    no_sandbox = SandboxReport(holds=False, remedy="There is none here.")

    async def remind(
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None:
        await conversations.tell(words, device, conversation, tone)

    def owner(conversation: str) -> str:
        return conversations.owner(conversation)

    async def another(name: str, anywhere: bool) -> Backend:
        missing = "" if name == "loud" and anywhere else f"No model here is called {name}."
        return Backend(Echo("LOUD "), profile("default"), "Answers come from loud.", missing)

    settings = settings or Settings()
    agents = AgentParts(
        settings=settings,
        log=log,
        backends=Backends(Backend(model or Echo(), profile("default")), another),
        code_runner=code_runner
        or (lambda place, reach, _: CodeRunner(place, None, no_sandbox, reach)),
        day=await DailySpending.open(log, day or DailyLimits()),
        policy=Policy(),
        tools=tools,
        clock=None,
        hooks=folder / "hooks",
    )
    shared = SharedParts(
        home=home,
        agents=agents,
        speech=Speech(
            SpeechRecognition(ears or UnavailableRecognizer("no ears")),
            SpeechSynthesis(OneVoice(voice or UnavailableSynthesizer("no voice"))),
        ),
        artifacts=Artifacts(),
        responder=await ReflexResponder.load(log, remind, owner, folder / "memory"),
        preferences=await Preferences.open(log),
        upload_limits=UploadLimits(settings.code.upload_mb * MB, UploadRoom(guest_bytes)),
    )
    conversations = ConversationRegistry(
        log,
        partial(open_conversation, shared),
        partial(wipe, home, shared.artifacts, shared.responder.forget),
        idle_s=idle_s,
        room_for=lambda _: open_at_most,
    )

    def skills() -> Mapping[str, str]:
        found, _ = read_skills([folder / "skills"])
        return {name: skill.description for name, skill in found.items()}

    commands = Commands(SHIPPED, OwnCommands(folder / "commands", skills))
    try:
        yield RunningServer(conversations, commands, log, shared.artifacts, shared.responder)
    finally:
        await conversations.close()
        await log.close()
