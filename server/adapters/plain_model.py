"""The seam to the language model without a conversation, for what programs ask on the side."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Protocol


class PlainModelError(Exception):
    """It could not answer. The text is one sentence for the person."""


class PlainModel(Protocol):
    """The language model: it runs nothing and remembers nothing."""

    def plain_reply(
        self, messages: Sequence[Mapping[str, str]]
    ) -> AsyncIterator[str | tuple[int, int]]:
        """What it says; at its end the tokens that it read and wrote. Raises PlainModelError."""
        ...
