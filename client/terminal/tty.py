"""The terminal: raw keys, the kitty keyboard where there is one, and all put back at the end."""

import asyncio
import fcntl
import os
import signal
import struct
import sys
import termios
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress

from sayso.client.terminal.input.keys import Input, Key, KeyReader, Reply
from sayso.client.terminal.screen import pictures

QUERY_SECONDS = 0.3
"""How long a terminal may take to say what it can; over SSH a round trip takes a few tenths."""
ESCAPE_SECONDS = 0.05
"""After so long an Escape is the key, not the beginning of a sequence."""
Mode = list[int | list[bytes | int]]
"""What termios knows about a terminal."""
MOST_KEYS = 1024
"""Keys that wait to be handled: more than a person types ahead."""
_READ_BYTES = 4096

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_ASK = "\x1b[?u\x1b[c"
"""Which kitty flags are on? And: who are you? Every terminal answers the second question, so that
its answer tells that none will come to the first."""
_KONSOLE = "KONSOLE_VERSION"
"""It shows pictures and does not tell releases."""
_WINDOW = struct.Struct("HHHH")
"""Rows, columns, and pixels of both; zero where the terminal does not tell."""
_EVENTS, _ALL_KEYS = 2, 8
_KITTY_ON = f"\x1b[>{1 | _EVENTS | _ALL_KEYS | 16}u"
"""Unambiguous keys, releases, also of keys that write, and what they write."""
_KITTY_OFF = "\x1b[<u"
_SHOW_CURSOR = "\x1b[?25h"


class Terminal:
    """Use `with terminal.raw():`; within it `keys()` gives what the person does."""

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._reader = KeyReader()
        self._keys: asyncio.Queue[Key] = asyncio.Queue(MOST_KEYS)
        self._before: Mode | None = None
        self._answered = asyncio.Event()
        self._kitty = False
        self._shows_pictures = False
        self._settling: asyncio.TimerHandle | None = None

    @property
    def tells_releases(self) -> bool:
        """A key that is let go can be noticed."""
        return self._kitty

    @contextmanager
    def raw(self) -> Iterator[None]:
        """Takes the terminal over; whatever happens, it is given back."""
        self._take()
        try:
            yield
        finally:
            self._give_back()

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Gives the terminal to another program for a while."""
        self._give_back()
        try:
            yield
        finally:
            self._take()

    async def ask_for_releases(self) -> bool:
        """Finds out whether the terminal speaks kitty's protocol, and switches it on."""
        await self._ask("")
        if self._kitty:
            self.write(_KITTY_ON)
        return self._kitty

    async def ask_for_pictures(self) -> bool:
        """Finds out whether the terminal shows pictures. To be asked after the keys: a terminal
        that knows nothing of those might write this question on the screen."""
        if not pictures.asks_for_trouble() and (self._kitty or _KONSOLE in os.environ):
            await self._ask(pictures.QUERY)
        return self._shows_pictures

    @property
    def paper(self) -> pictures.Paper:
        """How large the terminal is now."""
        size = fcntl.ioctl(self._input, termios.TIOCGWINSZ, bytes(_WINDOW.size))
        rows, columns, width, height = _WINDOW.unpack(size)
        if not (rows and columns and width and height):
            return pictures.Paper(columns, rows)
        return pictures.Paper(columns, rows, (width // columns or 1, height // rows or 1))

    async def _ask(self, question: str) -> None:
        """Every terminal answers who it is, so that this tells that no other answer will come."""
        self._answered.clear()
        self.write(question + _ASK)
        with suppress(TimeoutError):
            async with asyncio.timeout(QUERY_SECONDS):
                await self._answered.wait()

    async def keys(self) -> AsyncGenerator[Key, None]:
        while True:
            yield await self._keys.get()

    def suspend(self) -> None:
        """Ctrl-Z: stops until the shell brings us back."""
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take()

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _take(self) -> None:
        self._before = termios.tcgetattr(self._input)
        mode = termios.tcgetattr(self._input)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        # Ctrl-C stays a signal, so that it works even if we hang; Ctrl-\ and Ctrl-Z would leave the
        # terminal as it is now, so they come as keys.
        off = os.fpathconf(self._input, "PC_VDISABLE")
        mode[6][termios.VQUIT] = mode[6][termios.VSUSP] = bytes([off])
        termios.tcsetattr(self._input, termios.TCSADRAIN, mode)
        self.write(_PASTE_ON + (_KITTY_ON if self._kitty else ""))
        asyncio.get_running_loop().add_reader(self._input, self._readable)

    def _give_back(self) -> None:
        asyncio.get_running_loop().remove_reader(self._input)
        if self._before is None:
            return
        with suppress(OSError, termios.error):  # The terminal may be gone.
            self.write((_KITTY_OFF if self._kitty else "") + _PASTE_OFF + _SHOW_CURSOR)
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)
        self._before = None

    def _readable(self) -> None:
        try:
            data = os.read(self._input, _READ_BYTES)
        except OSError:
            data = b""
        if not data:
            # The terminal is gone: as if the person had left.
            asyncio.get_running_loop().remove_reader(self._input)
            self._put([Key("d", ctrl=True)])
            return
        self._put(self._reader.feed(data))
        if self._settling is not None:
            self._settling.cancel()
            self._settling = None
        if self._reader.undecided:
            loop = asyncio.get_running_loop()
            self._settling = loop.call_later(ESCAPE_SECONDS, self._settle)

    def _settle(self) -> None:
        self._put(self._reader.settle())

    def _put(self, found: list[Input]) -> None:
        for key in found:
            if isinstance(key, Reply):
                match key.about:
                    case "keyboard":
                        self._kitty = True
                    case "pictures":
                        self._shows_pictures = True
                    case "device":
                        self._answered.set()
            elif not self._keys.full():
                self._keys.put_nowait(key)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps what C libraries write to standard error off the screen: ALSA is talkative."""
    if os.environ.get("SAYSO_DEBUG"):
        yield
        return
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
