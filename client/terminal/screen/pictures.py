"""Shows pictures in the terminal by kitty's graphics protocol. Pure: bytes in, a sequence out.

https://sw.kovidgoyal.net/kitty/graphics-protocol/ is spoken by kitty, Ghostty, WezTerm and Konsole.
The picture's data travel in the sequence, so that it works over SSH too. tmux and screen swallow
such sequences; there, and in every other terminal, the path of the file is shown.
"""

import base64
import os
import struct
from dataclasses import dataclass

QUERY = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\"
"""Could you show a pixel? A terminal that does not know the protocol says nothing."""
LARGEST_BYTES = 4 * 1024 * 1024
"""A larger picture takes seconds to pass through a terminal; its path is enough."""
MOST_ROWS = 24
"""A plot is read at this height, and the question above it stays on the screen."""
CELL = (10, 20)
"""Pixels of a cell, where the terminal does not tell."""
_PNG = b"\x89PNG\r\n\x1a\n"
_SIZE = struct.Struct(">II")
_SIZE_AT = 16
"""In a PNG's first part, which is always the same kind."""
_PIECE = 4096
"""Characters of one sequence, as the protocol has it."""


@dataclass(frozen=True, slots=True)
class Paper:
    """What a picture is drawn on."""

    columns: int
    rows: int
    cell: tuple[int, int] = CELL
    """Width and height of a cell in pixels."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is written to the terminal, as it is."""

    text: str


def asks_for_trouble() -> bool:
    """There is a program between us and the terminal that would not pass pictures on."""
    name = os.environ.get("TERM", "")
    return "TMUX" in os.environ or "STY" in os.environ or name.startswith(("screen", "tmux"))


def drawing(content: bytes, paper: Paper, indent: int) -> Drawing | None:
    """A PNG, as large as it is but not larger than the paper. None: it is no PNG, or too large."""
    header = content[: _SIZE_AT + _SIZE.size]
    if not header.startswith(_PNG) or len(header) < _SIZE_AT + _SIZE.size:
        return None
    if len(content) > LARGEST_BYTES:
        return None
    width, height = _SIZE.unpack_from(header, _SIZE_AT)
    if not width or not height:
        return None
    columns, rows = _fitted(width, height, paper, indent)
    data = base64.b64encode(content).decode()
    pieces = [data[start : start + _PIECE] for start in range(0, len(data), _PIECE)]
    place = f"a=T,f=100,t=d,q=2,C=1,c={columns},r={rows},"
    shown = "".join(
        f"\x1b_G{'' if number else place}m={int(number < len(pieces) - 1)};{piece}\x1b\\"
        for number, piece in enumerate(pieces)
    )
    # Room is made first, so that the picture scrolls with what stands around it.
    room = "\n" * rows + f"\x1b[{rows}A\r\x1b[{indent}C"
    return Drawing(f"{room}{shown}\x1b[{rows}B\r")


def _fitted(width: int, height: int, paper: Paper, indent: int) -> tuple[int, int]:
    """Columns and rows, with the picture's own proportions."""
    across, down = paper.cell
    most_columns = max(1, paper.columns - indent - 1)
    most_rows = max(1, min(MOST_ROWS, paper.rows - 4))
    scale = min(1.0, most_columns * across / width, most_rows * down / height)
    return max(1, round(width * scale / across)), max(1, round(height * scale / down))
