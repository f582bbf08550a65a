"""The health of a language model shows how its last request went."""

from collections.abc import AsyncIterator, Sequence

import pytest

from sayso.server.agent.llm.health import MonitoredModel
from sayso.server.agent.llm.model import (
    ChatMessage,
    Delta,
    ModelError,
    TextDelta,
    ToolDefinition,
    TooLongError,
)


class Moody:
    """A model that answers as it is told to."""

    name = "moody"
    calls_tools = True
    sees = False
    mood: ModelError | None = None

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        return 0.5

    async def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        yield TextDelta("Well, ")
        if self.mood:
            raise self.mood
        yield TextDelta("yes.")


async def test_trouble_is_known_until_it_answers_again() -> None:
    moody = Moody()
    model = MonitoredModel(moody)
    assert (model.name, model.calls_tools, model.price(1, 1)) == ("moody", True, 0.5)
    assert [delta async for delta in model.reply([], [])] == [
        TextDelta("Well, "),
        TextDelta("yes."),
    ]
    assert model.trouble == ""

    moody.mood = ModelError("It is gone; ask again.")
    with pytest.raises(ModelError):
        [delta async for delta in model.reply([], [])]
    assert model.trouble == "It is gone; ask again."

    moody.mood = TooLongError("That was too much.")
    with pytest.raises(TooLongError):
        [delta async for delta in model.reply([], [])]
    assert model.trouble == ""
