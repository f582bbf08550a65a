"""The windows of an X11 screen: whose they are, where they are, which has the keys."""

import time
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sayso.client.desktop.x11.connection import Connection

ACTIVATE_S: Final = 8.0
"""For a window manager to bring a window to the front: five milliseconds, but seconds for one that
is busy reading a keyboard on which text was typed."""
LATE_S: Final = 0.2
"""After which it is late."""
STEP_S: Final = 0.005
OPEN_S: Final = 15.0
"""For an application to show a window; large ones on small machines take ten."""
OPEN_STEP_S: Final = 0.1
DEEPEST: Final = 32
"""Windows inside windows."""


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle of the screen, in its pixels."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, x: int, y: int) -> bool:
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(frozen=True, slots=True)
class Window:
    """One that the window manager knows."""

    id: int
    app: str
    """What it calls itself, in small letters: mousepad."""
    program: str
    """The file that runs: what it is, whatever it calls itself."""
    pid: int
    """As the X server knows it, which no program can forge; 0 where it does not."""
    title: str
    place: Place
    active: bool
    hidden: bool


class Windows:
    """Of one screen."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> list[Window]:
        """From the lowest to the topmost."""
        connection = self._connection
        numbers = connection.numbers(connection.root, "_NET_CLIENT_LIST_STACKING")
        numbers = numbers or connection.numbers(connection.root, "_NET_CLIENT_LIST")
        active = self.focused()
        found = (self._window(number, active) for number in numbers)
        return [window for window in found if window]

    def get(self, number: int) -> Window | None:
        """One window as it is now; None if it is gone."""
        return self._window(number, self.focused())

    def _window(self, number: int, active: int) -> Window | None:
        connection = self._connection
        window = connection.window(number)
        place = self.place(window)
        if place is None:
            return None
        pid = self.pid(number)
        program = program_of(pid)
        names = [each for each in connection.text(window, "WM_CLASS").split("\0") if each]
        title = connection.text(window, "_NET_WM_NAME") or connection.text(window, "WM_NAME")
        states = connection.numbers(window, "_NET_WM_STATE")
        return Window(
            number,
            (names[-1] if names else program).lower(),
            program,
            pid,
            title,
            place,
            number == active,
            connection.atom("_NET_WM_STATE_HIDDEN") in states,
        )

    def place(self, window: Any) -> Place | None:  # noqa: ANN401 - python-xlib has no types
        """Where a window's inside is on the screen; None if it is gone."""
        with suppress(*self._connection.gone):
            size = window.get_geometry()
            at = self._connection.root.translate_coords(window, 0, 0)
            return Place(int(at.x), int(at.y), int(size.width), int(size.height))
        return None

    def pid(self, number: int) -> int:
        """Of the process that made a window. Asked anew each time: numbers are used again."""
        from Xlib.ext import res

        with suppress(AttributeError, *self._connection.gone):
            spec = {"client": number, "mask": res.LocalClientPIDMask}
            for each in self._connection.display.res_query_client_ids([spec]).ids:
                if each.value:
                    return int(each.value[0])
        return 0

    def chain(self, number: int) -> list[int]:
        """A window and those that it lies in, up to below the root."""
        chain: list[int] = []
        with suppress(*self._connection.gone):
            while number and number != self._connection.root.id and len(chain) < DEEPEST:
                chain.append(number)
                parent = self._connection.window(number).query_tree().parent
                number = int(parent.id) if parent else 0
        return chain

    def focused(self) -> int:
        """The window that gets what is typed, of those that the window manager knows; else the
        outermost that does; 0 if none does."""
        focus = self._connection.display.get_input_focus().focus
        if isinstance(focus, int):
            return 0
        connection = self._connection
        known = set(connection.numbers(connection.root, "_NET_CLIENT_LIST"))
        chain = self.chain(int(focus.id))
        return next((each for each in chain if each in known), chain[-1] if chain else 0)

    def outermost_at(self, x: int, y: int) -> int:
        """The topmost window at a place, as a child of the root; 0 if there is none."""
        child = self._connection.root.translate_coords(self._connection.root, x, y).child
        return 0 if isinstance(child, int) else int(child.id)

    def outermost(self, number: int) -> int:
        """The child of the root that a window lies in: its frame."""
        chain = self.chain(number)
        return chain[-1] if chain else 0

    def on_top(self) -> Sequence[Any]:
        """What is seen, from the lowest to the topmost: children of the root."""
        found: Sequence[Any] = self._connection.root.query_tree().children
        return found

    def activate(self, window: Window) -> bool:
        """Bring a window to the front and give it the keys; whether it has them."""
        self._connection.tell(self._connection.window(window.id), "_NET_ACTIVE_WINDOW", 2, 0, 0)
        began = time.monotonic()
        while self.focused() != window.id:
            if time.monotonic() > began + ACTIVATE_S:
                return False
            if time.monotonic() > began + LATE_S:
                self._take_at_its_word(window)
            time.sleep(STEP_S)
        return True

    def _take_at_its_word(self, window: Window) -> None:
        """Where the window manager says that a window has the keys, and the X server, for which its
        wish came too late, does not."""
        from Xlib import X

        connection = self._connection
        if connection.numbers(connection.root, "_NET_ACTIVE_WINDOW")[:1] == [window.id]:
            with suppress(*connection.gone):
                connection.window(window.id).set_input_focus(X.RevertToParent, X.CurrentTime)
                connection.display.sync()

    def appeared(self, before: Container[int]) -> Window | None:
        """A window that was not there before, once it is; None if none comes."""
        deadline = time.monotonic() + OPEN_S
        while time.monotonic() < deadline:
            for window in reversed(self.all()):
                if window.id not in before:
                    return window
            time.sleep(OPEN_STEP_S)
        return None

    def close(self, window: Window) -> None:
        """Ask a window to close, as the button at its corner does."""
        self._connection.tell(self._connection.window(window.id), "_NET_CLOSE_WINDOW", 0, 2)


def program_of(pid: int) -> str:
    """The name of the file that a process runs; empty where that can't be seen."""
    if not pid:
        return ""
    try:
        return Path(f"/proc/{pid}/exe").readlink().name.removesuffix(" (deleted)")
    except OSError:
        return ""
