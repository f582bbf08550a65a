"""Waits until a window has read what was typed: programs answer a ping in order with the keys."""

import select
import time
from contextlib import suppress
from typing import Any, Final

from sayso.client.desktop.x11.connection import Connection
from sayso.client.desktop.x11.windows import Window

ANSWER_S: Final = 2.0
"""A program that takes longer hangs."""
WITHOUT_S: Final = 0.3
"""For programs that answer no ping: nothing tells, so they get a while."""
SILENT_S: Final = 1.0
"""For programs that say that they answer, and do not: Qt's, which are also slow to read keys."""
AFTER_S: Final = 0.02
"""Toolkits read the ping a moment before they hand on the last key."""


class Barrier:
    """Of one screen, with a connection of its own for what comes back."""

    def __init__(self, name: str) -> None:
        from Xlib import X

        self._connection = Connection(name)
        self._connection.root.change_attributes(event_mask=X.SubstructureNotifyMask)
        self._connection.display.sync()
        self._number = 0
        self._silent: set[int] = set()
        """Processes that say that they answer, and do not."""

    def wait(self, window: Window) -> None:
        """Return when a window has read all that was sent to it until now."""
        connection = self._connection
        ping = connection.atom("_NET_WM_PING")
        target = connection.window(window.id)
        if window.pid in self._silent:
            time.sleep(SILENT_S)
            return
        if ping not in connection.numbers(target, "WM_PROTOCOLS"):
            time.sleep(WITHOUT_S)
            return
        self._number += 1
        self._send(target, ping)
        deadline = time.monotonic() + ANSWER_S
        while time.monotonic() < deadline:
            for event in self._events(deadline):
                if _answers(event, ping, self._number):
                    time.sleep(AFTER_S)
                    return
        self._silent.add(window.pid)

    def _send(self, target: Any, ping: int) -> None:  # noqa: ANN401 - python-xlib has no types
        from Xlib.protocol import event

        connection = self._connection
        data = (32, [ping, self._number, int(target.id), 0, 0])
        message = event.ClientMessage(
            window=target, client_type=connection.atom("WM_PROTOCOLS"), data=data
        )
        with suppress(*connection.gone):
            target.send_event(message)
            connection.display.flush()

    def _events(self, deadline: float) -> list[Any]:
        display = self._connection.display
        if not display.pending_events():
            select.select([display.fileno()], [], [], max(0.0, deadline - time.monotonic()))
        return [display.next_event() for _ in range(display.pending_events())]


def _answers(event: Any, ping: int, number: int) -> bool:  # noqa: ANN401 - as above
    data = getattr(event, "data", None)
    if not isinstance(data, tuple) or len(data) != 2:  # noqa: PLR2004 - format and values
        return False
    values = list(data[1])
    return values[:2] == [ping, number]
