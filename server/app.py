"""The composition root: a Sayso that runs. Nothing else knows which part stands behind a seam."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Self

from sayso.protocol.features import ServerFeature
from sayso.protocol.health import Finding
from sayso.protocol.home import Home, make_token
from sayso.server.agent.instructions.trusted_instructions import TrustedInstructions
from sayso.server.agent.llm.backend import Backends
from sayso.server.agent.permissions.standing_grants import StandingGrants, loaded_files, policy_of
from sayso.server.agent.record.conversation_record import Place
from sayso.server.agent.record.conversation_undo import recovery_of
from sayso.server.agent.spending import DailySpending
from sayso.server.agent.tools.tool import ToolSet
from sayso.server.assembly.adapters import AdapterHost, open_adapters
from sayso.server.assembly.agent import AgentParts, day_limits
from sayso.server.assembly.conversation import SharedParts, open_conversation
from sayso.server.assembly.helpers import sweep_copies
from sayso.server.assembly.home import home_trouble, open_home
from sayso.server.assembly.models import Builder, skill_names
from sayso.server.assembly.pictures import open_reading
from sayso.server.assembly.said_once import is_news
from sayso.server.assembly.speech import SpeechParts
from sayso.server.assembly.warm_up import prepare
from sayso.server.conversations.choices import Choices
from sayso.server.conversations.deletion import forget_in_time, wipe
from sayso.server.conversations.files.artifacts import Artifacts
from sayso.server.conversations.files.upload_quota import UploadLimits, UploadRoom
from sayso.server.conversations.participant import Participant
from sayso.server.conversations.preferences import Preferences
from sayso.server.conversations.reflexes.reflex_responder import ReflexResponder
from sayso.server.conversations.registry import ConversationRegistry, NoSuchConversation
from sayso.server.gateway.admission.access_recorder import AccessRecorder
from sayso.server.gateway.host import Greeting
from sayso.server.gateway.http.adapter_routes import Routes
from sayso.server.gateway.lan.remote_access import RemoteAccess
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.listener import CannotListenError, Listener
from sayso.server.observability.metrics import Part, ServerMetrics
from sayso.server.process import end, keep_for_good
from sayso.server.reflexes.language_set import USUAL, LanguageSet
from sayso.server.runtimes.protection.own_places import name_also
from sayso.server.runtimes.resources.cgroups import Cgroups
from sayso.server.settings import MB, Settings
from sayso.server.slash.builtin import SHIPPED
from sayso.server.slash.commands import Commands
from sayso.server.slash.own_commands import OwnCommands
from sayso.server.speech.recognition.session import SpeechRecognition
from sayso.server.speech.speech import Speech
from sayso.server.speech.synthesis.session import SpeechSynthesis
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.trust.certificates import CertificateError, bracketed
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import OWNER, THIS_MACHINE, Principal

log = logging.getLogger(__name__)

NAME = "Sayso"
FEATURES: Final[tuple[ServerFeature, ...]] = (
    "ptt",
    "hands_free",
    "approvals",
    "files",
    "uploads",
    "resume",
    "partials",
    "word_times",
    "down_rates",
    "settings",
    "tasks",
    "commands",
    "pairing",
    "desktop",
)
"""What this server can do beyond the handshake; SPEC.md tells what each means."""

PARTS = (
    "ears", "voice", "language model", "code", "tools", "MCP servers", "skills", "hooks", "web",
    "home", "log",
)  # fmt: skip
"""In the order of a conversation."""


class App:
    """Use it as an async context manager; `start` makes it ready."""

    def __init__(
        self,
        home: Home,
        settings: Settings,
        speech_parts: SpeechParts,
        server_metrics: ServerMetrics,
        cgroups: Cgroups | None = None,
    ) -> None:
        self._home = home
        self._settings = settings
        self._speech_parts = speech_parts
        self._policy = policy_of(settings)
        self._stack = AsyncExitStack()
        self._artifacts = Artifacts()
        self._server_metrics = server_metrics
        self._builder = Builder(home, settings, self._stack, server_metrics.watch_part, cgroups)
        self._memory_bound = "cgroup" if cgroups else "watch"
        self._devices = Devices(home.state / "devices.json")
        self._access_recorder = AccessRecorder()
        self._routes = Routes()
        self._listener = Listener(
            self,
            make_token(home),
            _limits(settings),
            devices=self._devices,
            also=(name for name in settings.listen.names if ":" in name),
            records=self._access_recorder,
            routes=self._routes,
        )
        self._ready = asyncio.Event()
        own = OwnCommands(home.config / "commands", partial(skill_names, home))
        self._commands = Commands(SHIPPED, own)
        self._conversations: ConversationRegistry
        self._choices: Choices
        self.address = ""
        """Host and port that it listens on."""
        self._network: RemoteAccess | None = None
        """The TLS entrance for other devices; None if they can't connect."""

    async def __aenter__(self) -> Self:
        listen = self._settings.listen
        port = await self._listener.open(listen.host, listen.port)
        self.address = f"{bracketed(listen.host)}:{port}"
        if listen.network:
            self._network = RemoteAccess(self._home, listen, self._listener)
            try:
                await self._network.open()
            except (CannotListenError, CertificateError):
                await self._listener.close()
                raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._ready.is_set():
            # First: that devices are sent away is none of their persons' doing.
            self._conversations.halt()
        await self._listener.close()
        await self._stack.aclose()

    async def start(self) -> None:
        """Build all parts side by side; returns when it is ready to hear."""
        name_also(loaded_files(self._settings, Path.cwd()))
        event_log = await self._open_log()
        await asyncio.to_thread(sweep_copies, self._home.data / "helpers")
        recognizer, voices, backend, code_backend, tools, responder = await asyncio.gather(
            self._speech_parts.recognizer(),
            self._speech_parts.voices(),
            self._builder.backend(),
            self._builder.code_backend(),
            self._builder.tools(),
            self._responder(event_log),
        )
        # A model may look things up, if it is let; the smallest one only makes them up.
        looks_up = backend.profile.name != "pocket"
        await asyncio.to_thread(self._builder.hooks)
        self._builder.web()
        home = open_home(self._settings.home, self._stack)
        if self._settings.home.url:
            trouble = home_trouble(self._settings.home)
            told = Finding("home", "bad" if trouble else "good", trouble or "Home Assistant.")
            self._builder.findings["home"] = told
        responder.at_home.home = home.sentences if home else None
        served = {"web": looks_up, "home": home is not None, "music": home is not None}
        responder.serves = lambda need: bool(tools) or served[need]
        voice = self._settings.voice
        speech = Speech(
            SpeechRecognition(
                recognizer,
                capacity=self._speech_parts.capacity,
                only_language=self._speech_parts.only_language,
            ),
            SpeechSynthesis(voices, speed=voice.speed),
            "on" if voice.fillers else "off",
        )
        agents = AgentParts(
            self._settings,
            event_log,
            Backends(backend, self._builder.backend_named),
            code_backend.code_runner,
            await DailySpending.open(event_log, day_limits(self._settings)),
            self._policy,
            StandingGrants(self._home, self._settings),
            ToolSet(
                tools,
                await self._builder.mcp(code_backend.report.sandbox),
                home.tools if home else (),
            ),
            place=self._place,
            skills=await self._builder.skills(),
            instructions=TrustedInstructions(self._home.state / "trusted-instructions.json"),
            hooks=self._home.config / "hooks",
            words_in=open_reading(self._home, lambda: code_backend.report.sandbox, self._stack),
        )
        code = self._settings.code
        shared = SharedParts(
            self._home,
            agents,
            speech,
            self._artifacts,
            responder,
            await Preferences.open(event_log),
            UploadLimits(code.upload_mb * MB, UploadRoom(code.guest_upload_mb * MB)),
            watch=self._server_metrics.saw,
        )
        self._conversations = ConversationRegistry(
            event_log,
            partial(open_conversation, shared),
            partial(wipe, self._home, self._artifacts, responder.forget),
        )
        self._choices = Choices(self._home, self._conversations)
        adapter_host = AdapterHost(
            self._conversations,
            self._commands,
            agents.backends,
            agents.day,
            event_log,
            speech,
            self._choices.look,
        )
        await open_adapters(self._settings, adapter_host, self._routes, self._devices, self._stack)
        self._server_metrics.count_devices(lambda: self._conversations.devices)
        self._server_metrics.watch_part("log", lambda: Part(event_log.trouble))
        self._server_metrics.watch_part("code", self._look_at_code)
        self._stack.push_async_callback(self._conversations.close)
        await self._conversations.enter(await self._conversations.latest())
        for about in await event_log.conversations():
            if recovery_of(self._home.state / "undo", about.id).is_there:
                await self._conversations.enter(about)
        await self._conversations.open_for_jobs()
        if backend.introduction:
            self._conversations.notice(backend.introduction)
        for sentence in self._speech_parts.leaves_home:
            if is_news(self._home, sentence):
                self._conversations.notice(sentence)
        # Else the first question would wait for what is loaded once, and nobody would know why.
        await self._builder.warmed()
        lives: list[Coroutine[Any, Any, None]] = [
            self._conversations.run(),
            responder.run(),
            prepare(speech.synthesis),
            asyncio.to_thread(responder.languages.load_rest),
        ]
        keep_days = self._settings.storage.keep_days
        lives.append(forget_in_time(self._conversations, keep_days))
        if self._network:
            lives.append(self._network.run())
        for life in lives:
            self._stack.push_async_callback(end, asyncio.create_task(life))
        keep_for_good()
        self._ready.set()

    async def _responder(self, event_log: EventLog) -> ReflexResponder:
        """It understands the language that is heard, and the others in a moment."""
        heard = self._settings.ears.language
        only = USUAL if heard == "auto" else heard
        languages = await asyncio.to_thread(LanguageSet.load, only=only)
        folder = self._home.state / "memory"
        return await ReflexResponder.load(
            event_log, self._remind, self._owner, folder, languages=languages
        )

    async def _remind(
        self,
        words: Callable[[], str],
        device: str,
        conversation: str,
        tone: Callable[[], float] | None = None,
    ) -> None:
        await self._conversations.tell(words, device, conversation, tone)

    def _owner(self, conversation: str) -> str:
        return self._conversations.owner(conversation)

    def summary(self) -> str:
        """For the screen: how each part is, and what to do next."""
        lines = [f"{NAME} is ready on http://{self.address}"]
        if self._network:
            devices = f"https://{self._network.address}, {len(self._devices.all)} paired"
            lines.append(f"  {'other devices':16}{devices}. To let one in: sayso pair")
        for finding in self._findings:
            remedy = f" {finding.remedy}" if finding.remedy else ""
            lines.append(f"  {finding.part:16}{finding.detail}{remedy}")
        lines.append('Talk:  sayso talk    Type:  sayso ask "…"    In trouble:  sayso doctor')
        return "\n".join(lines)

    # --- Host: what the gateway asks ---

    async def conversation(self, wanted: str = "", who: Principal = THIS_MACHINE) -> Participant:
        """A place in the conversation that is wanted, as soon as it can be talked in."""
        await self._ready.wait()
        return await Participant.take(self._conversations, self._commands, wanted, who)

    def greeting(self, person: str = OWNER) -> Greeting:
        models = {finding.part: finding.detail for finding in self._findings}
        return Greeting(
            f"{NAME} {version('sayso')}", models, FEATURES, self._commands.about(person)
        )

    def health(self) -> Mapping[str, Any]:
        findings = self._findings
        return {
            "version": version("sayso"),
            "ready": self._ready.is_set(),
            "models": {finding.part: finding.detail for finding in findings},
            "memory_bound": self._memory_bound,
            "degraded": [finding.part for finding in findings if finding.state != "good"],
        }

    def metrics(self) -> bytes:
        return self._server_metrics.text()

    def file(self, name: str, person: str) -> tuple[str, bytes] | None:
        item = self._artifacts.get(name, person)
        content = item.content if item else None
        return (item.mime, content) if item and content is not None else None

    async def look(self, path: str, person: str) -> Mapping[str, Any] | None:
        await self._ready.wait()
        return await self._choices.look(path, person)

    async def workspace_file(self, conversation: str, path: str, person: str) -> BinaryIO | None:
        await self._ready.wait()
        try:
            about = await self._conversations.find(conversation, person)
            here = await self._conversations.enter(about)
        except (NoSuchConversation, StoreError):
            return None
        return await here.download(path)

    # --- building ---

    def _look_at_code(self) -> Part:
        shops = [here.code_runner for here in self._conversations.open.values()]
        trouble = next((shop.trouble for shop in shops if shop.trouble), "")
        return Part(trouble, sum(shop.restarts for shop in shops))

    @property
    def _findings(self) -> list[Finding]:
        found = (
            self._speech_parts.findings | self._builder.findings | self._server_metrics.troubles()
        )
        return [found[part] for part in PARTS if part in found]

    def _place(self, device: str) -> Place:
        """Where a device is, as whoever paired it said; its name may have a number behind it."""
        named = {one.name: one for one in self._devices.all}
        known = named.get(device) or named.get(device.rstrip("0123456789").rstrip())
        return Place(known.name, known.person) if known else Place()

    async def _open_log(self) -> EventLog:
        event_log = await EventLog.open(self._home.state / "events.sqlite")
        self._stack.push_async_callback(event_log.close)
        try:
            await event_log.forget_access()
        except StoreError as problem:
            log.warning("old records of devices could not be forgotten: %s", problem)
        self._access_recorder.keep_in(event_log.append)
        self._stack.push_async_callback(self._access_recorder.close)
        return event_log


def _limits(settings: Settings) -> Limits:
    gateway = settings.gateway
    return Limits(
        connections=gateway.connections,
        sessions=2 * gateway.connections,
        device_connections=gateway.device_connections,
        strangers=gateway.strangers,
        requests_a_minute=gateway.requests_a_minute,
        sound_pace=gateway.sound_pace,
        sound_burst_s=gateway.sound_burst_s,
        messages_a_second=gateway.messages_a_second,
        send_s=gateway.send_s,
        vanished_s=gateway.vanished_s,
        outgoing_bytes=gateway.waiting_mb * 2**20,
        handshake_s=gateway.handshake_s,
        resume_s=gateway.resume_s,
    )
