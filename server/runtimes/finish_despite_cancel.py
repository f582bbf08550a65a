"""Finishes work that must not stay half done when the task that waits for it is cancelled."""

import asyncio
from typing import TypeVar

_Result = TypeVar("_Result")


async def to_the_end(work: asyncio.Task[_Result]) -> _Result:
    """Wait for a task that is bounded in time; if cancelled meanwhile, first for its end."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        raise cancelled
    return work.result()
