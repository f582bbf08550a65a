"""Lines from standard input without a thread, so that Ctrl-C never waits for an Enter."""

import asyncio
import os
from collections.abc import AsyncGenerator

MOST_LINE_BYTES = 32_768
"""Longer than anybody types or pastes as a question, and half of what one message may have."""
_READ_BYTES = 4096


async def lines(descriptor: int = 0) -> AsyncGenerator[str, None]:
    """Gives each line without its end; ends where the input ends."""
    waiting = b""
    while chunk := await _chunk(descriptor):
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole:
            yield _text(line)
        if len(waiting) > MOST_LINE_BYTES:
            yield _text(waiting[:MOST_LINE_BYTES])
            waiting = b""
    if waiting:
        yield _text(waiting)


async def _chunk(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    try:
        loop.add_reader(descriptor, _wake, readable)
    except PermissionError:
        # A plain file is always ready, and cannot be waited for.
        return os.read(descriptor, _READ_BYTES)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _READ_BYTES)


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
