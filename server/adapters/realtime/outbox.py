"""Sends a Realtime client its events in order, and keeps what can be asked for again."""

import asyncio
import json
import secrets
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from websockets.asyncio.server import ServerConnection

WAITING: Final = 4_000
"""Events that a client has not read yet: minutes of speech. One that reads no more is let go."""
SEND_S: Final = 20.0
"""Seconds for which a client may take nothing."""
ITEMS_KEPT: Final = 1_000
"""Of what clients said."""

Fields = dict[str, Any]


class RealtimeOutbox:
    """Of one client. `run` is a task, until cancelled."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self._waiting: deque[tuple[str, Callable[[], None] | None]] = deque()
        self._news = asyncio.Event()
        self.items: dict[str, Fields] = {}
        """What clients said, by id."""

    def emit(self, event: Fields, sent: Callable[[], None] | None = None) -> None:
        """Send this next, as it stands now; `sent` is called then."""
        if len(self._waiting) >= WAITING:
            self._socket.transport.abort()
            return
        self._waiting.append((json.dumps(event | {"event_id": new_id("event")}), sent))
        self._news.set()

    def emit_all(self, events: Iterable[Fields]) -> None:
        """Send these, each as it stands when it is made."""
        for event in events:
            self.emit(event)

    def complain(self, sentence: str, kind: str = "server_error", event_id: str = "") -> None:
        """Send an error."""
        error = {"type": kind, "code": None, "message": sentence, "param": None}
        self.emit({"type": "error", "error": error | {"event_id": event_id or None}})

    def add_item(self, item: Fields) -> None:
        """Something that a client said is a part of the conversation."""
        before = next(reversed(self.items), None)
        self.items[item["id"]] = item
        while len(self.items) > ITEMS_KEPT:
            del self.items[next(iter(self.items))]
        for kind in ("conversation.item.added", "conversation.item.done"):
            self.emit({"type": kind, "previous_item_id": before, "item": item})

    async def run(self) -> None:
        """Send what comes."""
        while True:
            while self._waiting:
                text, sent = self._waiting.popleft()
                try:
                    async with asyncio.timeout(SEND_S):
                        await self._socket.send(text)
                except TimeoutError:
                    self._socket.transport.abort()
                    return
                if sent:
                    sent()
            self._news.clear()
            await self._news.wait()


def new_id(kind: str) -> str:
    """An id that begins with these letters."""
    return f"{kind}_{secrets.token_hex(10)}"
