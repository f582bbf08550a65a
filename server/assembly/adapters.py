"""Builds the adapters that the settings name, and what they need of the server."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from sayso.server.adapters.plain_model import PlainModelError
from sayso.server.adapters.turn_client import Past
from sayso.server.agent.llm.backend import Backends
from sayso.server.agent.llm.model import ModelError, TextDelta, Usage
from sayso.server.agent.spending import DailySpending
from sayso.server.conversations.command_context import Commands
from sayso.server.conversations.participant import Participant
from sayso.server.conversations.registry import ConversationRegistry, NoSuchConversation
from sayso.server.gateway.http.adapter_routes import Routes
from sayso.server.settings import Settings
from sayso.server.speech.speech import Speech
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import Answered, Event
from sayso.server.trust.principal import Principal


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
    settings: Settings, host: AdapterHost, routes: Routes, stack: AsyncExitStack
) -> None:
    """Answer what the settings name; the stack closes it."""
    if settings.adapters.mcp:
        from sayso.server.adapters.mcp_server.adapter import McpAdapter

        McpAdapter(host).add_to(routes)
    if settings.adapters.openai:
        from sayso.server.adapters.openai.adapter import OpenAIAdapter

        adapter = OpenAIAdapter(host, host, host.speech)
        adapter.add_to(routes)
        stack.push_async_callback(adapter.close)
