"""`sayso talk --os`: asks the server to take over this screen, each time a session begins."""

from collections.abc import Callable

from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.terminal.events import Screen, Seen
from sayso.protocol.messages import Command

OS: str = "os"


class OsModeScreen:
    """A screen that passes everything on."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._send: Callable[[Command], None] | None = None

    def through(self, send: Callable[[Command], None]) -> None:
        """How the server is told; to be said before the line is up."""
        self._send = send

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        match seen:
            case LinkChange(state=LinkState.UP, session="first" | "anew") if self._send:
                self._send(Command(OS, ""))
            case _:
                pass
