"""A connection to an X server, and what is asked over it all the time. Of one thread."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from sayso.client.desktop.errors import DesktopError

_LONGEST_PROPERTY: Final = 65_536
"""In units of four bytes; nobody reads a longer title."""


class Connection:
    """To one screen."""

    def __init__(self, name: str = "") -> None:
        """Raises DesktopError where no screen answers."""
        from Xlib import error
        from Xlib.display import Display

        self._errors = error
        try:
            self.display: Any = Display(name or None)
        except (error.DisplayError, OSError) as problem:
            raise DesktopError(
                f"No X display answers ({problem}): start this in a terminal on the desktop."
            ) from problem
        self.display.set_error_handler(lambda *_: None)  # a window that is gone is no news
        self.root: Any = self.display.screen().root
        self._atoms: dict[str, int] = {}

    @property
    def gone(self) -> tuple[type[Exception], ...]:
        """What is raised for a window that is there no more."""
        return (self._errors.XError,)

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = int(self.display.get_atom(name))
        return self._atoms[name]

    def window(self, number: int) -> Any:  # noqa: ANN401 - python-xlib has no types
        return self.display.create_resource_object("window", number)

    def numbers(self, window: Any, name: str) -> list[int]:  # noqa: ANN401 - as above
        """A property that is a list of numbers; empty where there is none."""
        with suppress(*self.gone):
            found = window.get_full_property(self.atom(name), 0, _LONGEST_PROPERTY)
            if found is not None and found.format in (16, 32):
                return [int(each) for each in found.value]
        return []

    def text(self, window: Any, name: str) -> str:  # noqa: ANN401 - as above
        """A property that is a text; empty where there is none."""
        with suppress(*self.gone):
            found = window.get_full_property(self.atom(name), 0, _LONGEST_PROPERTY)
            if found is not None and found.format == 8:  # noqa: PLR2004 - bits
                value = found.value
                raw = value if isinstance(value, bytes) else str(value).encode()
                return raw.decode("utf-8", "replace")
        return ""

    def tell(self, window: Any, name: str, *data: int) -> None:  # noqa: ANN401 - as above
        """Send the window manager a message about a window."""
        from Xlib import X
        from Xlib.protocol import event

        five = (*data, 0, 0, 0, 0, 0)[:5]
        message = event.ClientMessage(
            window=window, client_type=self.atom(name), data=(32, list(five))
        )
        mask = X.SubstructureRedirectMask | X.SubstructureNotifyMask
        self.root.send_event(message, event_mask=mask)
        self.display.flush()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let the server do nothing for anybody else meanwhile: what is looked at here is still so
        when what follows from it is done."""
        self.display.grab_server()
        try:
            yield
        finally:
            self.display.ungrab_server()
            self.display.sync()

    def close(self) -> None:
        with suppress(Exception):
            self.display.close()
