"""Answers a question about code that waits for a yes, or that runs; it goes on waiting, or running.

The model is told the conversation as it stands, and the question after it. What it wants run is not
run; its words are the answer.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from sayso.server.agent.llm.model import ChatMessage, ChatModel, ModelError
from sayso.server.agent.parsing.reply_parser import ReplyParser
from sayso.server.agent.prompt.messages import Prompt
from sayso.server.agent.prompt.redacted_messages import Outgoing
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.spending import CostEstimate
from sayso.server.agent.stream_closing import closing
from sayso.server.store.steering import Explained

LONGEST_S: Final = 30.0
"""A person who is to decide waits no longer for an answer; the question itself expires, too."""
LONGEST_CHARS: Final = 1_200
"""A minute of speech: what is longer explains nothing to somebody who listens."""
NO_ANSWER: Final = "I can't say more about it than what is shown."


class Explanation:
    """Of one question."""

    def __init__(
        self,
        model: ChatModel,
        journal: Journal,
        prompt: Prompt,
        outgoing: Outgoing,
        guess: CostEstimate,
    ) -> None:
        self._model = model
        self._journal = journal
        self._prompt = prompt
        self._outgoing = outgoing
        self._guess = guess

    async def answer(self, question: str, by: str) -> str:
        """The model's words, or one sentence that says why there are none. Raises StoreError."""
        clock = asyncio.get_running_loop().time
        began, text = clock(), ""
        history = self._journal.history
        said = [text for exchange in history.exchanges for text in exchange.said]
        written = self._prompt.ask_about(history, question)
        messages = await self._outgoing.without_secrets(written, [*said, question])
        listener = ReplyParser(self._prompt.toolbox, "nothing runs")
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LONGEST_S):
                    text = await self._listen(messages, listener)
        except ModelError as problem:
            text = str(problem)
        text = text or NO_ANSWER
        told_in, told_out, usd = self._used(messages, listener)
        seconds = round(clock() - began, 3)
        model = self._model.name
        explained = Explained(question, text, by, model, told_in, told_out, usd, seconds)
        await self._journal.note("model", explained)
        return text

    async def _listen(self, messages: Sequence[ChatMessage], listener: ReplyParser) -> str:
        text = ""
        async with closing(self._model.reply(messages, self._prompt.tools)) as deltas:
            async for delta in deltas:
                text += listener.take(delta)
                if listener.over or len(text) > LONGEST_CHARS:
                    break
        return (text + listener.finish()).strip()

    def _used(
        self, messages: Sequence[ChatMessage], listener: ReplyParser
    ) -> tuple[int, int, float | None]:
        """Tokens in and out, and dollars: as its provider says, else as far as one can tell."""
        if usage := listener.usage:
            return usage.tokens_in, usage.tokens_out, usage.usd
        sent = sum(len(str(message.get("content"))) for message in messages)
        tokens_in, tokens_out = self._guess.tokens(sent, listener.characters)
        return tokens_in, tokens_out, self._model.price(tokens_in, tokens_out)
