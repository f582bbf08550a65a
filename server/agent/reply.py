"""One reply of the model, from the prompt to what is kept of it, however it ends."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from sayso.server.agent.limits import RequestUsage
from sayso.server.agent.llm.model import ChatMessage, ChatModel, ModelError, TooLongError
from sayso.server.agent.parsing.reply_parser import ReplyParser
from sayso.server.agent.prompt.messages import Prompt
from sayso.server.agent.prompt.redacted_messages import Outgoing
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.spending import CostEstimate
from sayso.server.agent.stream_closing import closing
from sayso.server.store.records import Answered

SILENCE = "The language model said nothing; ask again, or choose another model."


class Replier:
    """Asks one model within one request."""

    def __init__(
        self,
        model: ChatModel,
        record: ConversationRecord,
        prompt: Prompt,
        outgoing: Outgoing,
        reckoning: RequestUsage,
        guess: CostEstimate,
    ) -> None:
        self._model = model
        self._journal = record.journal
        self._prompt = prompt
        self._outputs = record.outputs
        self._outgoing = outgoing
        self._reckoning = reckoning
        self._guess = guess

    async def take(self, say: Callable[[str], Awaitable[None]]) -> Answered:
        """Take in one reply, and give its words to `say` as they come.

        A model that is told too much is told less. Raises ModelError, StoreError and LimitReached;
        what was said until then is noted.
        """
        while True:
            try:
                return await self._take(say)
            except TooLongError:
                if not self._prompt.shrink(self._journal.history):
                    raise

    async def _take(self, say: Callable[[str], Awaitable[None]]) -> Answered:
        history, clock = self._journal.history, asyncio.get_running_loop().time
        names = self._prompt.pictures(history) if self._model.sees else ()
        pictures = await self._outputs.pictures(names)
        told = len(history.exchanges[-1].steers)
        sending = self._prompt.write(history, pictures)
        said = [text for exchange in history.exchanges for text in exchange.said]
        messages = await self._outgoing.without_secrets(sending.messages, said)
        fences = self._prompt.fences(self._reckoning.runs)
        listener = ReplyParser(self._prompt.toolbox, fences, sending.begun)
        sent, began = self._length(messages), clock()
        self._reckoning.before_reply(self._model.price(*self._guess.next_tokens(sent)))

        def kept(answer: Answered) -> Answered:
            answer = self._reckoned(answer, listener, sent, clock() - began)
            return replace(answer, steers=told)

        try:
            async with closing(self._model.reply(messages, self._prompt.tools)) as deltas:
                async for delta in deltas:
                    await say(listener.take(delta))
                    self._reckoning.during_reply(listener.characters)
                    if listener.over or listener.in_circles:
                        break
            await say(listener.finish())
        except BaseException:
            if listener.characters:
                await self._journal.note("model", kept(listener.cut()))
            raise
        answer = kept(listener.answer(history.knows_call))
        if not answer.text.strip() and not answer.calls:
            raise ModelError(SILENCE)
        return answer

    def _reckoned(
        self, answer: Answered, listener: ReplyParser, sent: int, seconds: float
    ) -> Answered:
        """With what it took: as its provider says, else as far as one can tell."""
        usage, said = listener.usage, listener.characters
        if usage is not None:
            tokens_in, tokens_out, usd = usage.tokens_in, usage.tokens_out, usage.usd
            self._guess.learn(sent, said, tokens_in, tokens_out)
        else:
            tokens_in, tokens_out = self._guess.tokens(sent, said)
            usd = self._model.price(tokens_in, tokens_out)
        return replace(
            answer,
            model=self._model.name,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            usd=usd,
            seconds=round(seconds, 3),
        )

    def _length(self, messages: Sequence[ChatMessage]) -> int:
        tools = len(json.dumps(self._prompt.tools)) if self._prompt.tools else 0
        return tools + sum(_characters(message) for message in messages)


def _characters(message: Mapping[str, object]) -> int:
    content, calls = message.get("content"), message.get("tool_calls")
    length = len(content) if isinstance(content, str) else 0
    if isinstance(content, list):
        length = sum(len(part.get("text", "")) for part in content)
    return length + (len(json.dumps(calls)) if calls else 0)
