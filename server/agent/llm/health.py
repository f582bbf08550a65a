"""Wraps a language model and remembers how its last request ended, for health reports."""

from collections.abc import AsyncGenerator, Sequence

from sayso.server.agent.llm.model import (
    ChatMessage,
    ChatModel,
    Delta,
    ModelError,
    ToolDefinition,
    TooLongError,
)
from sayso.server.agent.stream_closing import closing


class MonitoredModel:
    """A ChatModel: the given one, watched.

    It hands calls on, so that one place sees how they end, whichever kind of model it is, and
    neither models nor those who ask them know of health.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.trouble = ""
        """Why it did not answer when it was asked last; empty if it did, or is asked right now."""

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def calls_tools(self) -> bool:
        return self._model.calls_tools

    @property
    def sees(self) -> bool:
        return self._model.sees

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """The model's own."""
        return self._model.price(tokens_in, tokens_out)

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncGenerator[Delta, None]:
        """Answer. Raises ModelError."""
        try:
            async with closing(self._model.reply(messages, tools)) as deltas:
                async for delta in deltas:
                    self.trouble = ""
                    yield delta
        except TooLongError:
            raise  # it is well; what it was sent was too much
        except ModelError as problem:
            self.trouble = str(problem)
            raise
