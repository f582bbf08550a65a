"""The display of the person at this machine, for a browser in the sandbox.

The sandbox has no way to a display of its own. A browser whose window a person shall see listens
where programs look for a display, hands that socket out before anything else runs, and what
connects to it is carried to the person's display from here. The key to that display (its cookie) is
put in on the way: the sandbox never has it.
"""

import asyncio
import contextlib
import os
import re
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOCKETS: Final = Path("/tmp/.X11-unix")  # noqa: S108 - where every display of this machine listens

NUMBER_INSIDE: Final = 7
"""Of the display, as the browser sees it."""

HAND_OUT: Final = (
    "import os, socket, sys\n"
    f"os.makedirs('{SOCKETS}', exist_ok=True)\n"
    "listening = socket.socket(socket.AF_UNIX)\n"
    f"listening.bind('{SOCKETS}/X{NUMBER_INSIDE}')\n"
    "listening.listen(16)\n"
    "channel = socket.socket(fileno=int(sys.argv[1]))\n"
    "socket.send_fds(channel, [b'x'], [listening.fileno()])\n"
    "channel.close()\n"
    "listening.close()\n"
    f"os.environ['DISPLAY'] = ':{NUMBER_INSIDE}'\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)
"""Run in the sandbox before the browser."""

HANDED_S: Final = 20.0
"""The sandbox takes a tenth of a second."""

_LOCAL: Final = re.compile(r"(?:unix)?:(\d{1,5})(?:\.\d+)?")
_COOKIE: Final = "MIT-MAGIC-COOKIE-1"
_FAMILY_LOCAL: Final = 256
_FAMILY_WILD: Final = 65_535
_KEYS_MOST_BYTES: Final = 1024**2
_SETUP_BYTES: Final = 12
_PIECE_BYTES: Final = 64 * 1024


class DisplayError(Exception):
    """There is no display for a window; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Display:
    """One on this machine."""

    socket: Path
    cookie: bytes = b""
    """What it asks for; empty where it asks for nothing, or lets this user in anyway."""


def find_display(environment: Mapping[str, str]) -> Display:
    """The display of the person who starts this. Raises DisplayError."""
    name = environment.get("DISPLAY", "")
    if not name:
        raise DisplayError(
            "There is no display here: run it in a terminal of the desktop at the server's machine."
        )
    found = _LOCAL.fullmatch(name)
    if found is None:
        raise DisplayError(
            f"{name[:60]} is a display of another machine: run it at the server's own desktop."
        )
    path = SOCKETS / f"X{found[1]}"
    if not path.is_socket():
        raise DisplayError(f"There is no display {name[:20]} on this machine.")
    keys = environment.get("XAUTHORITY") or str(Path(environment.get("HOME", "/")) / ".Xauthority")
    return Display(path, _cookie(Path(keys), found[1]))


def _cookie(file: Path, number: str) -> bytes:
    try:
        with file.open("rb") as opened:
            content = opened.read(_KEYS_MOST_BYTES)
    except OSError:
        return b""
    for family, display, name, data in _keys(content):
        mine = family in (_FAMILY_LOCAL, _FAMILY_WILD) and display in ("", number)
        if mine and name == _COOKIE:
            return data
    return b""


def _keys(content: bytes) -> Iterator[tuple[int, str, str, bytes]]:
    """What stands in an Xauthority file: each key's family, display, kind and data."""
    at = 0

    def field() -> bytes:
        nonlocal at
        (length,) = struct.unpack_from(">H", content, at)
        at += 2 + length
        return content[at - length : at]

    with contextlib.suppress(struct.error):
        while at < len(content):
            (family,) = struct.unpack_from(">H", content, at)
            at += 2
            field()  # the machine's name
            display, name, data = (field() for _ in range(3))
            yield family, display.decode(errors="replace"), name.decode(errors="replace"), data


def with_cookie(setup: bytes, cookie: bytes) -> bytes:
    """A client's first message to a display, with this cookie in place of what it brought: its
    first twelve bytes tell all that is kept."""
    order = ">" if setup[:1] == b"B" else "<"
    major, minor = struct.unpack_from(f"{order}HH", setup, 2)
    name = _COOKIE.encode() if cookie else b""
    head = struct.pack(f"{order}HHHHH", major, minor, len(name), len(cookie), 0)
    return setup[:1] + b"\0" + head + _padded(name) + _padded(cookie)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _brought(setup: bytes) -> int:
    """How many bytes of a name and a key follow these twelve."""
    name, key = struct.unpack_from(f"{'>' if setup[:1] == b'B' else '<'}HH", setup, 6)
    return int(name + -name % 4 + key + -key % 4)


class DisplayDoor:
    """Carries what a sandboxed browser says to a display, for as long as it is open."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        """`theirs` goes into the sandbox, where `HAND_OUT` uses it."""
        self._server: asyncio.Server | None = None
        self._carrying: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Wait for the socket that is handed out, and serve it. Raises DisplayError."""
        self.theirs.close()
        try:
            said, handed = await asyncio.wait_for(asyncio.to_thread(self._handed), HANDED_S * 2)
        except (OSError, TimeoutError):
            said, handed = b"", []
        self._ours.close()
        if not said or len(handed) != 1:
            for descriptor in handed:
                os.close(descriptor)
            raise DisplayError("The window could not be opened; `sayso doctor` tells why.")
        os.set_inheritable(handed[0], False)
        listening = socket.socket(fileno=handed[0])
        listening.setblocking(False)
        self._server = await asyncio.start_unix_server(self._serve, sock=listening)

    def _handed(self) -> tuple[bytes, list[int]]:
        self._ours.settimeout(HANDED_S)
        said, handed, _, _ = socket.recv_fds(self._ours, 1, 1)
        return said, list(handed)

    async def close(self) -> None:
        """Carry nothing more."""
        self._ours.close()
        self.theirs.close()
        if self._server:
            self._server.close()
        for task in self._carrying:
            task.cancel()
        await asyncio.gather(*self._carrying, return_exceptions=True)

    def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            setup = await reader.readexactly(_SETUP_BYTES)
            await reader.readexactly(_brought(setup))
            there, onward = await asyncio.open_unix_connection(str(self._display.socket))
        except (OSError, EOFError, struct.error):
            writer.close()
            return
        onward.write(with_cookie(setup, self._display.cookie))
        ways = [
            asyncio.ensure_future(each) for each in (_copy(reader, onward), _copy(there, writer))
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            onward.close()
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(_PIECE_BYTES):
            writer.write(piece)
            await writer.drain()
