"""Redraws the moving lines at the bottom of the terminal, under a scrollback that stays as it is.

Everything is redrawn in one write: what was there is erased, what is to stay is printed, and the
moving lines follow. So nothing flickers, and nothing of them is left in the scrollback.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from sayso.client.terminal.screen.pictures import Drawing

Stays = RenderableType | Drawing
"""What scrolls up, and stays as it is."""
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know them show nothing in between; others ignore them."""
_ERASE_BELOW = "\x1b[J"


@dataclass(frozen=True, slots=True)
class Picture:
    """The moving part as it should look."""

    lines: Sequence[Text]
    """None longer than the terminal is wide."""
    row: int
    """Where the cursor stands."""
    column: int


class LiveArea:
    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=False)
        self._widths: list[int] = []
        """How wide the drawn lines are."""
        self._row = 0
        self._drawn: tuple[list[str], int, int] | None = None

    @property
    def width(self) -> int:
        return self._console.width

    @property
    def height(self) -> int:
        return self._console.height

    def draw(self, above: Sequence[Stays], picture: Picture) -> None:
        """Prints what is to stay, and shows the moving part under it."""
        lines = [self._rendered(line) for line in picture.lines]
        if not above and self._drawn == (lines, picture.row, picture.column):
            return
        printed = "".join(self._printed(thing) for thing in above)
        up = len(lines) - 1 - picture.row
        self._write(
            _BEGIN
            + self._erased()
            + printed
            + "\n".join(lines)
            + (f"\x1b[{up}A" if up else "")
            + "\r"
            + (f"\x1b[{picture.column}C" if picture.column else "")
            + _END
        )
        self._widths = [cell_len(line.plain) for line in picture.lines]
        self._row = picture.row
        self._drawn = (lines, picture.row, picture.column)

    def clear(self, above: Sequence[Stays] = ()) -> None:
        """Takes the moving part away."""
        self._write(self._erased() + "".join(self._printed(thing) for thing in above))
        self._widths, self._row, self._drawn = [], 0, None

    def wipe(self) -> None:
        """Empties the visible screen."""
        self._write("\x1b[H\x1b[2J")
        self.forget()

    def forget(self) -> None:
        """Somebody else has written to the terminal: begin below that."""
        self._widths, self._row, self._drawn = [], 0, None

    def _erased(self) -> str:
        """Moves to the first line of what was drawn and erases it all."""
        # A terminal that has become narrower has broken the longer lines.
        width = max(1, self.width)
        rows = sum(max(1, -(-wide // width)) for wide in self._widths[: self._row])
        return "\r" + (f"\x1b[{rows}A" if rows else "") + _ERASE_BELOW

    def _printed(self, thing: Stays) -> str:
        if isinstance(thing, Drawing):
            return thing.text
        with self._console.capture() as captured:
            self._console.print(thing)
        return captured.get()

    def _rendered(self, line: Text) -> str:
        with self._console.capture() as captured:
            self._console.print(line, end="", no_wrap=True, overflow="crop", crop=True)
        return captured.get()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
