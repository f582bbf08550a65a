"""Reads lines from standard input without a thread, so that Ctrl-C never waits for Enter."""

import asyncio
import os
import select
import termios
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress

MOST_LINE_BYTES = 32_768
"""Longer than anybody types or pastes as a question, and half of what one message may have."""
_READ_BYTES = 4096


class Lines:
    """Reads a terminal, a pipe or a file line by line. Nothing is read before it is asked for."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._whole: deque[bytes] = deque()
        self._waiting = b""
        """The beginning of a line whose end did not come yet."""
        self._ended = False

    async def read(self) -> AsyncGenerator[str, None]:
        """Gives each line without its end; ends where the input ends."""
        while True:
            while self._whole:
                yield _text(self._whole.popleft())
            if self._ended:
                break
            await self._more()
        if self._waiting:
            yield _text(self._waiting)

    @property
    def waits(self) -> bool:
        """A whole line is here that was not given yet."""
        return bool(self._whole) or bool(select.select([self._descriptor], [], [], 0)[0])

    def drop(self) -> bool:
        """Drops what was typed so far, half a line too, here and in the terminal. False: somebody
        else has the terminal now, and what was typed there is theirs. What comes from a pipe or a
        file stays."""
        if not os.isatty(self._descriptor):
            return True
        self._whole.clear()
        self._waiting = b""
        if not _is_ours(self._descriptor):
            return False
        with suppress(termios.error):  # The terminal is gone: nothing more comes from it.
            termios.tcflush(self._descriptor, termios.TCIFLUSH)
        return True

    async def _more(self) -> None:
        """Waits for one piece of input. It is read as soon as it is there: between that moment and
        this task's turn it may be dropped, and then a read would wait for another."""
        loop = asyncio.get_running_loop()
        readable = loop.create_future()

        def take() -> None:
            loop.remove_reader(self._descriptor)
            try:
                self._take(os.read(self._descriptor, _READ_BYTES))
            except OSError as error:
                if not readable.done():
                    readable.set_exception(error)
            if not readable.done():
                readable.set_result(None)

        try:
            loop.add_reader(self._descriptor, take)
        except PermissionError:
            # A plain file is always ready, and cannot be waited for.
            self._take(os.read(self._descriptor, _READ_BYTES))
            return
        try:
            await readable
        finally:
            loop.remove_reader(self._descriptor)

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            self._ended = True
            return
        *whole, self._waiting = (self._waiting + chunk).split(b"\n")
        self._whole += whole
        if len(self._waiting) > MOST_LINE_BYTES:
            self._whole.append(self._waiting[:MOST_LINE_BYTES])
            self._waiting = b""


def _is_ours(terminal: int) -> bool:
    """Whether this program is in the terminal's foreground."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return True  # No shell shares it out among programs.


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
