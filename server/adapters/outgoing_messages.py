"""Sends messages to a client's socket in order; a client that reads nothing is let go."""

import asyncio
from collections import deque
from typing import Final

from websockets.asyncio.server import ServerConnection

WAITING: Final = 4_000
"""Messages that a client has not read yet: minutes of speech."""
SEND_S: Final = 20.0
"""Seconds for which a client may take nothing."""


class OutgoingMessages:
    """Of one socket. `run` is a task, until cancelled."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._waiting: deque[str | bytes] = deque()
        self._news = asyncio.Event()

    def put(self, message: str | bytes) -> None:
        """Send this next."""
        if len(self._waiting) >= WAITING:
            self._socket.transport.abort()
            return
        self._waiting.append(message)
        self._news.set()

    def drop_sound(self) -> None:
        """What is binary and still waits is not sent."""
        self._waiting = deque(one for one in self._waiting if isinstance(one, str))

    async def run(self) -> None:
        """Send what comes."""
        while True:
            while self._waiting:
                try:
                    async with asyncio.timeout(SEND_S):
                        await self._socket.send(self._waiting.popleft())
                except TimeoutError:
                    self._socket.transport.abort()
                    return
            self._news.clear()
            await self._news.wait()
