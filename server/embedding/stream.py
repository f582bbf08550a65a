"""Yields the events of one request to a program, in the thread or loop that iterates over them,
while the work itself is done in another.
"""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from typing import Final

from sayso.server.agent.events import AgentEvent, ApprovalRequest, ReplyDelta, WorkFailed

Answer = bool | str
"""Of `approve`: whether the code may run; a text is code to run instead."""

Approve = Callable[[ApprovalRequest], Answer | Awaitable[Answer]]

BY: Final = "program"
"""Who asks and answers, in the log."""

CLOSE_S: Final = 20.0
"""For interpreters and the log to end; they take a second."""


class ChatFailed(Exception):
    """The request could not be answered. The text is one sentence that says what to do."""


class EventStream:
    """The events of one request. Leaving the iteration stops the work."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        begin: Callable[[], AsyncGenerator[AgentEvent, None]],
        settle: Callable[[ApprovalRequest, Answer], None],
        approve: Approve | None,
    ) -> None:
        """`begin` and `settle` work in `loop`, which another thread runs."""
        self._loop = loop
        self._begin = begin
        self._settle_there = settle
        self._approve = approve

    def answer(self) -> str:
        """What is said in all of them. Raises ChatFailed."""
        said = ""
        for event in self:
            match event:
                case ReplyDelta(text=piece):
                    said += piece
                case WorkFailed(message=message):
                    raise ChatFailed(message)
                case _:
                    pass
        return said.strip()

    def __iter__(self) -> Iterator[AgentEvent]:
        events, loop = self._begin(), self._loop
        try:
            while True:
                step = asyncio.run_coroutine_threadsafe(_next(events), loop)
                event = step.result()
                if event is None:
                    return
                if isinstance(event, ApprovalRequest):
                    self._settle(event, self._ask_here(event))
                yield event
        finally:
            asyncio.run_coroutine_threadsafe(_close(events), loop).result(CLOSE_S)

    async def __aiter__(self) -> AsyncIterator[AgentEvent]:
        events, loop = self._begin(), self._loop
        try:
            while True:
                step = asyncio.run_coroutine_threadsafe(_next(events), loop)
                event = await asyncio.wrap_future(step)
                if event is None:
                    return
                if isinstance(event, ApprovalRequest):
                    answer = self._approve(event) if self._approve else False
                    self._settle(event, await answer if inspect.isawaitable(answer) else answer)
                yield event
        finally:
            closing = asyncio.run_coroutine_threadsafe(_close(events), loop)
            await asyncio.wrap_future(closing)

    def _ask_here(self, asked: ApprovalRequest) -> Answer:
        answer = self._approve(asked) if self._approve else False
        return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer

    def _settle(self, asked: ApprovalRequest, answer: Answer) -> None:
        self._loop.call_soon_threadsafe(self._settle_there, asked, answer)


async def _next(events: AsyncIterator[AgentEvent]) -> AgentEvent | None:
    return await anext(events, None)


async def _close(events: AsyncGenerator[AgentEvent, None]) -> None:
    await events.aclose()


async def _awaited(answer: Awaitable[Answer]) -> Answer:
    return await answer
