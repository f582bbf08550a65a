"""Builds the adapters that the settings name, and what they need of the server; and tells `sayso
doctor` which there are."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final

from sayso.protocol.health import Finding
from sayso.protocol.home import Home
from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.adapters.plain_model import PlainModelError
from sayso.server.adapters.turn_client import Past
from sayso.server.agent.llm.backend import Backends
from sayso.server.agent.llm.model import ModelError, TextDelta, Usage
from sayso.server.agent.spending import DailySpending
from sayso.server.conversations.command_context import Commands
from sayso.server.conversations.participant import Participant
from sayso.server.conversations.registry import ConversationRegistry, NoSuchConversation
from sayso.server.gateway.http.adapter_routes import Routes
from sayso.server.gateway.plain_port import CannotListenError
from sayso.server.settings import Settings, SettingsError
from sayso.server.speech.speech import Speech
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Answered, Event
from sayso.server.trust.devices import Devices
from sayso.server.trust.principal import Principal

PLAIN: Final = {
    "wyoming": "Home Assistant",
    "xiaozhi": "xiaozhi boards",
    "lmc": "01's light client",
}
"""Adapters without encryption, by their setting, and whom they answer."""


@dataclass(frozen=True, slots=True)
class AdapterHost:
    """The server, as adapters see it."""

    conversations: ConversationRegistry
    commands: Commands
    backends: Backends
    day: DailySpending
    log: EventLog
    speech: Speech
    look: Callable[[str, str], Awaitable[Mapping[str, Any] | None]]
    """What a person may see at a path of theirs."""

    async def conversation(self, wanted: str, who: Principal) -> Participant:
        """A place in a conversation. Raises StoreError."""
        return await Participant.take(self.conversations, self.commands, wanted, who)

    async def begin_conversation(self, person: str, instructions: str, past: Sequence[Past]) -> str:
        """The id of a new conversation, told its past. Raises StoreError."""
        about = await self.conversations.begin("", person, instructions=instructions)
        told = [(said.asked, said.answered) for said in past]
        await self.conversations.tell_past(about, told)
        return about.id

    async def has_conversation(self, wanted: str, person: str) -> bool:
        """Whether this person has one of this name or id. Raises StoreError."""
        try:
            await self.conversations.find(wanted, person)
        except NoSuchConversation:
            return False
        return True

    async def plain_reply(
        self, messages: Sequence[Mapping[str, str]]
    ) -> AsyncIterator[str | tuple[int, int]]:
        """What the language model says without a conversation, within the day's limits; at its end
        the tokens that it read and wrote. Raises PlainModelError."""
        if self.day.question:
            raise PlainModelError("Today's limit is reached; the person may go on by talking.")
        model, began = self.backends.usual.model, time.monotonic()
        used = Usage(0, 0, None)
        try:
            async for delta in model.reply(messages, ()):
                if isinstance(delta, TextDelta):
                    yield delta.text
                elif isinstance(delta, Usage):
                    used = delta
        except ModelError as error:
            raise PlainModelError(str(error)) from error
        finally:
            seconds = time.monotonic() - began
            await self._count(used, model.name, seconds)
        yield used.tokens_in, used.tokens_out

    async def _count(self, used: Usage, model: str, seconds: float) -> None:
        spent = Answered(
            "",
            model=model,
            tokens_in=used.tokens_in,
            tokens_out=used.tokens_out,
            usd=used.usd,
            seconds=seconds,
        )
        self.day.saw(spent)
        await self.log.append(Event("", "model", spent))


async def open_adapters(
    settings: Settings, host: AdapterHost, routes: Routes, devices: Devices, stack: AsyncExitStack
) -> None:
    """Answer what the settings name; the stack closes it. Raises CannotListenError."""
    wanted = settings.adapters
    if wanted.mcp:
        from sayso.server.adapters.mcp_server.adapter import McpAdapter

        McpAdapter(host).add_to(routes)
    if wanted.openai:
        from sayso.server.adapters.openai.adapter import OpenAIAdapter
        from sayso.server.adapters.realtime.adapter import RealtimeAdapter

        adapter = OpenAIAdapter(host, host, host.speech)
        adapter.add_to(routes)
        RealtimeAdapter(host, host.speech).add_to(routes)
        stack.push_async_callback(adapter.close)
    if wanted.wyoming:
        from sayso.server.adapters.wyoming.server import WyomingServer

        where = PlainListener.read("adapters.wyoming", wanted.wyoming, wanted.peers)
        wyoming = WyomingServer(host, host.speech, where)
        await wyoming.open(announce=settings.listen.announce)
        stack.push_async_callback(wyoming.close)
    if wanted.xiaozhi:
        from sayso.server.adapters.xiaozhi.adapter import XiaozhiAdapter

        where = PlainListener.read("adapters.xiaozhi", wanted.xiaozhi, wanted.peers)
        xiaozhi = XiaozhiAdapter(host, devices, where)
        await xiaozhi.open()
        stack.push_async_callback(xiaozhi.close)
    if wanted.lmc:
        from sayso.server.adapters.lmc.adapter import LmcAdapter

        lmc = LmcAdapter(host, PlainListener.read("adapters.lmc", wanted.lmc, None))
        await lmc.open()
        stack.push_async_callback(lmc.close)


def examine() -> Iterator[Finding]:
    """Looks which clients of other protocols are answered, and who can reach what is not
    encrypted."""
    try:
        wanted = Settings.load(Home.find()).adapters
    except SettingsError:
        return  # that is told already
    keyed = [name for name, on in (("OpenAI", wanted.openai), ("MCP", wanted.mcp)) if on]
    if keyed:
        detail = f"Programs that speak {' or '.join(keyed)} are answered, each by its key."
        yield Finding("programs", "good", detail)
    for setting, whom in PLAIN.items():
        if value := getattr(wanted, setting):
            peers = None if setting == "lmc" else wanted.peers
            yield _reachable(f"adapters.{setting}", whom, value, peers)


def _reachable(setting: str, whom: str, value: str, peers: tuple[str, ...] | None) -> Finding:
    try:
        where = PlainListener.read(setting, value, peers)
    except CannotListenError as error:
        return Finding(setting, "bad", str(error), f"sayso settings unset {setting}")
    if where.is_near:
        return Finding(setting, "good", f"{whom}: on {value}, from this machine alone.")
    named = ", ".join(sorted(where.peers))
    detail = f"{whom}: on {value}, from {named}, without encryption; nothing is approved there."
    near = f"sayso settings set {setting} 127.0.0.1:{where.port}"
    return Finding(setting, "poor", detail, f"If it runs on this machine: {near}")
