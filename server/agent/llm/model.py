"""The seam to a language model: messages in, a stream of deltas out."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

ChatMessage = Mapping[str, Any]
"""One message in the OpenAI shape: role, content, and tool calls where there are any."""

ToolDefinition = Mapping[str, Any]
"""One tool in the OpenAI shape."""


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of what the model says."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next piece of a tool call. Pieces with one index belong together."""

    index: int
    id: str | None
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """What the reply cost; comes last, if at all."""

    tokens_in: int
    tokens_out: int
    usd: float | None


Delta = TextDelta | ToolCallDelta | Usage


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model answers; empty is what its provider's library knows by itself."""

    api_base: str = ""
    """URL up to and including `/v1`."""
    api_key: str = field(default="", repr=False)


class ModelError(Exception):
    """The model could not answer. The text is one sentence for the person, and says what to do."""


class TooLongError(ModelError):
    """It was sent more than it can take; nothing was answered."""


class ChatModel(Protocol):
    """A language model. Leaving the iteration ends the request."""

    @property
    def name(self) -> str:
        """For screens: which model this is and where it runs."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether it takes tools; otherwise it is asked to write fenced code."""
        ...

    @property
    def sees(self) -> bool:
        """Whether it can look at pictures."""
        ...

    def price(self, tokens_in: int, tokens_out: int) -> float | None:
        """US dollars for so many tokens, as far as that is known."""
        ...

    def reply(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]
    ) -> AsyncIterator[Delta]:
        """Answer. Raises ModelError, before the first delta or in mid-stream."""
        ...
