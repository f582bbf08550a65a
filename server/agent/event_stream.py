"""Runs a task and yields its events as an async iterator; leaving the iterator cancels the task."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from sayso.server.agent.events import AgentEvent

Emit = Callable[[AgentEvent], Awaitable[None]]

EVENTS_AHEAD: Final = 64
"""Events that the work may be ahead of its listener. A listener that hangs must stop the work."""


async def emitting(work: Callable[[Emit], Awaitable[None]]) -> AsyncIterator[AgentEvent]:
    """The events of the work, as it tells them. What goes on when that is over tells nobody.

    The work is a task of this iterator's: cancelling the listener or leaving the iteration cancels
    it, and returns only when it has ended. What the work raises is raised here.
    """
    events: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
    room = asyncio.Semaphore(EVENTS_AHEAD)
    over = False

    async def emit(event: AgentEvent) -> None:
        if not over:
            await room.acquire()
            events.put_nowait(event)

    async def run() -> None:
        await work(emit)

    task = asyncio.create_task(run())
    task.add_done_callback(lambda _: events.put_nowait(None))  # however it ended
    try:
        while (event := await events.get()) is not None:
            room.release()
            yield event
        await task
    finally:
        task.cancel()
        await asyncio.wait({task})
        over = True
        for _ in range(EVENTS_AHEAD):  # more than there can be that wait to tell something
            room.release()
