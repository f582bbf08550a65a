"""The sign on the screen while Sayso acts there: a strip at its top, which clicks pass through."""

from typing import Any, Final

from sayso.client.desktop.x11.connection import Connection

HEIGHT: Final = 24
_WORDS: Final = "Sayso is at work here. Any key or the mouse stops it."
_COLOUR: Final = "#b00020"
_LETTER: Final = 6
"""Pixels of the width of a letter, about; every X server has this font."""


class Sign:
    """Of one screen."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._window: Any = None
        self.shown = False

    @property
    def number(self) -> int:
        """Its window; 0 before it was shown."""
        return int(self._window.id) if self._window else 0

    def show(self) -> None:
        """Be seen, above all else."""
        from Xlib import X

        if self._window is None:
            self._window = self._made()
        self._window.configure(stack_mode=X.Above)
        self._window.map()
        self._connection.display.sync()
        self.shown = True

    def hide(self) -> None:
        """Be seen no more."""
        if self.shown and self._window:
            self._window.unmap()
            self._connection.display.sync()
        self.shown = False

    def _made(self) -> Any:  # noqa: ANN401 - python-xlib has no types
        from Xlib import X
        from Xlib.ext import shape

        display, root = self._connection.display, self._connection.root
        screen = display.screen()
        width = len(_WORDS) * _LETTER + 40
        colours = screen.default_colormap
        red = colours.alloc_named_color(_COLOUR) or colours.alloc_named_color("red")
        ground = root.create_pixmap(width, HEIGHT, screen.root_depth)
        pen = ground.create_gc(foreground=red.pixel, background=red.pixel)
        ground.fill_rectangle(pen, 0, 0, width, HEIGHT)
        pen.change(foreground=screen.white_pixel)
        pen.change(font=display.open_font("fixed"))
        ground.draw_text(pen, 20, HEIGHT - 8, _WORDS.encode())
        window = root.create_window(
            max(0, (screen.width_in_pixels - width) // 2),
            0,
            width,
            HEIGHT,
            0,
            screen.root_depth,
            X.InputOutput,
            X.CopyFromParent,
            background_pixmap=ground,  # the server paints it, however busy we are
            override_redirect=True,
        )
        window.set_wm_name("Sayso is at work")
        window.shape_rectangles(shape.SO.Set, shape.SK.Input, 0, 0, 0, [])
        return window
