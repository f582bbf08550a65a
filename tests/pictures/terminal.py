"""A program in a terminal that nobody sees: types into it, and draws what it shows as SVG."""

import io
import re
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.machine import needed

PATIENCE_S = 60.0
"""For what a busy machine does: start a kernel, transcribe, answer."""

_COLOURS = TerminalTheme(
    (30, 33, 39),
    (214, 219, 227),
    [
        (76, 82, 94),
        (232, 106, 115),
        (146, 199, 120),
        (229, 192, 111),
        (104, 172, 240),
        (203, 130, 224),
        (84, 190, 202),
        (214, 219, 227),
    ],
)

_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
text {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; }}
{styles}
</style>
<defs><clipPath id="terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#terminal)">
{backgrounds}
{matrix}
</g>
</svg>
"""


class Terminal:
    """A terminal with a program in it."""

    def __init__(self, socket: Path, width: int, height: int) -> None:
        self._tmux = [needed("tmux"), "-S", str(socket), "-f", "/dev/null"]
        self._size = (width, height)

    @classmethod
    @contextmanager
    def running(
        cls,
        command: Sequence[str],
        variables: Mapping[str, str],
        socket: Path,
        width: int = 92,
        height: int = 44,
    ) -> Iterator[Self]:
        """Until the block ends."""
        terminal = cls(socket, width, height)
        size = ("-x", str(width), "-y", str(height))
        terminal._do("new-session", "-d", *size, shlex.join(command), variables=variables)
        try:
            yield terminal
        finally:
            terminal._do("kill-server")

    def types(self, text: str) -> None:
        self._do("send-keys", "-l", text)

    def presses(self, key: str) -> None:
        """A key by tmux's name for it."""
        self._do("send-keys", key)

    def shows(self, text: str) -> None:
        """Wait until it does."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in (seen := self._seen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"The terminal does not show {text!r}:\n{seen}")
            time.sleep(0.1)

    def types_until_gone(self, key: str, text: str) -> None:
        """Type the same until this is shown no more: an answer that comes too soon is not taken."""
        deadline = time.monotonic() + PATIENCE_S
        while text in (seen := self._seen()):
            if time.monotonic() > deadline:
                raise AssertionError(f"The terminal shows {text!r} on and on:\n{seen}")
            self.types(key)
            time.sleep(1.0)

    def drawing(self, title: str, begins: str) -> str:
        """What it shows now, as SVG, from the first line that begins so."""
        width, _ = self._size
        console = Console(
            record=True,
            width=width,
            file=io.StringIO(),
            color_system="standard",
            force_terminal=True,
        )
        plain = self._seen().splitlines()
        first = next(number for number, line in enumerate(plain) if line.startswith(begins))
        coloured = self._do("capture-pane", "-p", "-e").rstrip().splitlines()
        seen = "\n".join(coloured[first:])
        console.print("", Text.from_ansi(seen), "", sep="\n", soft_wrap=True)
        svg = console.export_svg(
            title=title, theme=_COLOURS, code_format=_FRAME, unique_id="t", font_aspect_ratio=0.602
        )
        return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)

    def _seen(self) -> str:
        return self._do("capture-pane", "-p")

    def _do(self, *words: str, variables: Mapping[str, str] | None = None) -> str:
        done = subprocess.run(
            [*self._tmux, *words], env=variables, capture_output=True, text=True, check=True
        )
        return done.stdout
