"""Moves and presses the pointer, as the server's test extension lets programs do."""

from typing import Final

from sayso.client.desktop.x11.connection import Connection

BUTTONS: Final = {"left": 1, "middle": 2, "right": 3}
_WHEEL: Final = {"up": 4, "down": 5, "left": 6, "right": 7}


class Pointer:
    """Of one screen. Each method is one step, sent while the server does nothing for others."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._down: set[int] = set()

    def move(self, x: int, y: int) -> None:
        from Xlib import X

        self._fake(X.MotionNotify, 0, x, y)

    def press(self, button: str) -> None:
        from Xlib import X

        self._down.add(BUTTONS[button])
        self._fake(X.ButtonPress, BUTTONS[button])

    def release(self, button: str) -> None:
        from Xlib import X

        self._down.discard(BUTTONS[button])
        self._fake(X.ButtonRelease, BUTTONS[button])

    def scroll(self, way: str) -> None:
        """One step of the wheel."""
        from Xlib import X

        self._fake(X.ButtonPress, _WHEEL[way])
        self._fake(X.ButtonRelease, _WHEEL[way])

    def let_go(self) -> None:
        """No button that we pressed stays down."""
        from Xlib import X

        for button in list(self._down):
            self._fake(X.ButtonRelease, button)
        self._down.clear()
        self._connection.display.sync()

    def _fake(self, kind: int, detail: int = 0, x: int = 0, y: int = 0) -> None:
        from Xlib.ext import xtest

        xtest.fake_input(self._connection.display, kind, detail, x=x, y=y)
