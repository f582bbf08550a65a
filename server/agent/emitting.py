"""Work that tells events while it is done, as an iterator that owns the work."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from sayso.server.agent.events import AgentEvent

Emit = Callable[[AgentEvent], Awaitable[None]]

EVENTS_AHEAD: Final = 64
"""Events that the work may be ahead of its listener. A listener that hangs must stop the work."""


async def emitting(work: Callable[[Emit], Awaitable[None]]) -> AsyncIterator[AgentEvent]:
    """The events of the work, as it tells them.

    The work is a task of this iterator's: cancelling the listener or leaving the iteration cancels
    it, and returns only when it has ended. What the work raises is raised here.
    """
    events: asyncio.Queue[AgentEvent | None] = asyncio.Queue(EVENTS_AHEAD)

    async def run() -> None:
        try:
            await work(events.put)
        except asyncio.CancelledError:
            raise  # nobody listens any more
        except BaseException:
            await events.put(None)
            raise
        await events.put(None)

    task = asyncio.ensure_future(run())
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.wait({task})
