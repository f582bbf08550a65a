"""Leaving a stream in order: what stands behind it is stopped before work goes on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")


@asynccontextmanager
async def closing(stream: AsyncIterator[Item]) -> AsyncIterator[AsyncIterator[Item]]:
    """Use a stream, and close it on the way out, however that is."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
