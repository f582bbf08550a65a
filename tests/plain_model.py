"""A language model in the test's own process: it costs nothing, and a subclass says its words."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence

from sayso.server.agent.llm.model import ChatMessage, Delta, TextDelta, ToolDefinition, Usage


class PlainModel(ABC):
    """A whole reply at once. The scripted model (tests/scripted_model.py) is behind a real wire."""

    name = "plain"
    calls_tools = False
    sees = False
    takes_s = 0.0
    """How long it thinks."""

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return None

    @abstractmethod
    def says(self, messages: Sequence[ChatMessage]) -> str:
        """What it answers."""

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        await asyncio.sleep(self.takes_s)
        yield TextDelta(self.says(messages))
        yield Usage(len(messages), 1, None)
