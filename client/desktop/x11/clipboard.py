"""The clipboard of an X11 screen: reads it, and owns it for as long as nobody else wants it."""

import os
import select
import threading
import time
from contextlib import suppress
from typing import Any, Final

from sayso.client.desktop.errors import Refused
from sayso.client.desktop.x11.connection import Connection

MOST_CHARS: Final = 20_000
ANSWER_S: Final = 1.0
"""For the program that has it; it takes milliseconds."""
_TEXTS: Final = ("UTF8_STRING", "text/plain;charset=utf-8", "STRING", "TEXT")


class Clipboard:
    """Text alone; pictures and files in it are not read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._text = ""
        self._wanted = threading.Event()
        self._owned = threading.Event()
        self._poke, self._poked = -1, -1

    def read(self) -> str:
        """What is in it. Raises Refused where no program answers."""
        from Xlib import X

        connection = Connection(self._name)
        try:
            window = connection.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
            if not connection.display.get_selection_owner(connection.atom("CLIPBOARD")):
                return ""
            into = connection.atom("SAYSO_CLIPBOARD")
            window.convert_selection(
                connection.atom("CLIPBOARD"), connection.atom("UTF8_STRING"), into, X.CurrentTime
            )
            connection.display.flush()
            if not _told(connection):
                raise Refused("The program that owns the clipboard gives no text.")
            found = window.get_full_property(into, 0, MOST_CHARS)
            if found is None or found.format != 8:  # noqa: PLR2004 - bits
                raise Refused("What is in the clipboard is too long, or no text.")
            value = found.value
            raw = value if isinstance(value, bytes) else str(value).encode()
            return raw.decode("utf-8", "replace")[:MOST_CHARS]
        finally:
            connection.close()

    def write(self, text: str) -> None:
        """Own it with this text. Raises Refused where that fails."""
        self._text = text
        self._owned.clear()
        if self._poke < 0:
            self._poked, self._poke = os.pipe()
            threading.Thread(target=self._serve, name="sayso-clipboard", daemon=True).start()
        os.write(self._poke, b"!")
        if not self._owned.wait(ANSWER_S):
            raise Refused("The clipboard could not be had.")

    def _serve(self) -> None:
        from Xlib import X

        with suppress(Exception):  # the screen is gone, and so is the process in a moment
            connection = Connection(self._name)
            display = connection.display
            window = connection.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
            clipboard = connection.atom("CLIPBOARD")
            while True:
                if not display.pending_events():
                    ready, _, _ = select.select([display.fileno(), self._poked], [], [])
                    if self._poked in ready:
                        os.read(self._poked, 64)
                        window.set_selection_owner(clipboard, X.CurrentTime)
                        display.sync()
                        owner = display.get_selection_owner(clipboard)
                        if not isinstance(owner, int) and owner.id == window.id:
                            self._owned.set()
                    if display.fileno() not in ready:
                        continue
                event = display.next_event()
                if event.type == X.SelectionRequest:
                    self._answer(connection, event)

    def _answer(self, connection: Connection, asked: Any) -> None:  # noqa: ANN401 - no types
        from Xlib import X
        from Xlib.protocol import event

        into = asked.property or asked.target
        texts = [connection.atom(name) for name in _TEXTS]
        if asked.target == connection.atom("TARGETS"):
            kinds = [connection.atom("TARGETS"), *texts]
            asked.requestor.change_property(into, connection.atom("ATOM"), 32, kinds)
        elif asked.target in texts:
            asked.requestor.change_property(into, asked.target, 8, self._text.encode())
        else:
            into = X.NONE
        told = event.SelectionNotify(
            time=asked.time,
            requestor=asked.requestor,
            selection=asked.selection,
            target=asked.target,
            property=into,
        )
        asked.requestor.send_event(told)
        connection.display.flush()


def _told(connection: Connection) -> bool:
    """Whether the owner has put the text where we asked for it."""
    from Xlib import X

    deadline = time.monotonic() + ANSWER_S
    display = connection.display
    while time.monotonic() < deadline:
        if not display.pending_events():
            select.select([display.fileno()], [], [], max(0.0, deadline - time.monotonic()))
        for _ in range(display.pending_events()):
            event = display.next_event()
            if event.type == X.SelectionNotify:
                return bool(event.property)
    return False
