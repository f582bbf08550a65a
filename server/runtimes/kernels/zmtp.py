"""The client's side of ZMTP 3.0, which kernels speak over UNIX sockets.

What is at the other end is in the hands of code. So a message is read when the one before it was
taken, none grows beyond a bound, and what is connected to is a socket that no link leads to.
"""

import asyncio
import contextlib
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

_GREETING: Final = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
"""Signature, version, mechanism; not as a server."""

_MORE, _LONG, _COMMAND = 1, 2, 4
"""Flags of a frame: others of its message follow; its length has eight bytes; it is a command."""

_SUBSCRIBE_TO_ALL: Final = b"\x01"

_FRAMES_MOST: Final = 1_024
"""Of one message. Jupyter's have seven, and one for each buffer."""

_FRAMES_AT_ONCE: Final = 256
"""What is there already is read without a pause: in a flood, nobody else would get a turn."""

_READ_BYTES: Final = 1024**2
"""What may wait to be read, before the kernel waits."""

_AGAIN_S: Final = 0.005
"""How often to try a kernel's socket that is not there yet."""

Kind = Literal["DEALER", "SUB"]


class Line:
    """The way to one of a kernel's sockets, from the moment when it is there."""

    def __init__(self, path: Path, kind: Kind, most: int) -> None:
        """`most`: bytes of a message; longer ones are passed over."""
        self._most = most
        self._messages: asyncio.Queue[list[bytes]] = asyncio.Queue(1)
        self._connected = asyncio.Event()
        self._writer: asyncio.StreamWriter | None = None
        self._reading = asyncio.create_task(self._read(path, kind))

    async def send(self, frames: Sequence[bytes]) -> None:
        """Send a message, as soon as there is somebody to send it to."""
        await self._connected.wait()
        if self._writer:
            self._writer.write(b"".join(_packed(frames)))

    async def receive(self) -> list[bytes]:
        """Wait for the next message; one that was passed over comes as an empty list. Where nothing
        comes any more, this waits for ever."""
        return await self._messages.get()

    @property
    def ended(self) -> asyncio.Future[None]:
        """Done when the kernel has hung up, or will not be heard any more."""
        return self._reading

    def close(self) -> None:
        self._reading.cancel()
        if self._writer:
            self._writer.transport.abort()

    async def _read(self, path: Path, kind: Kind) -> None:
        reader, self._writer = await _connect(path, kind)
        self._connected.set()
        with contextlib.suppress(EOFError, OSError):
            while True:
                await self._messages.put(await self._message(reader))

    async def _message(self, reader: asyncio.StreamReader) -> list[bytes]:
        """One whole message; nothing if it was passed over."""
        frames: list[bytes] = []
        room, more, seen = self._most, True, 0
        while more:
            flags, length = await _header(reader)
            seen += 1
            if not seen % _FRAMES_AT_ONCE:
                await asyncio.sleep(0)
            if flags & _COMMAND:
                await _pass_over(reader, length)
                continue
            more = bool(flags & _MORE)
            room -= length
            if room < 0 or len(frames) >= _FRAMES_MOST:
                room = -1
                frames.clear()
                await _pass_over(reader, length)
            else:
                frames.append(await reader.readexactly(length))
        return frames


async def _connect(path: Path, kind: Kind) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect, however long it takes."""
    while True:
        with contextlib.suppress(EOFError, OSError):
            with _socket_at(path) as place:
                reader, writer = await asyncio.open_unix_connection(place, limit=_READ_BYTES)
            try:
                await _shake_hands(reader, writer, kind)
            except BaseException:
                writer.transport.abort()
                raise
            return reader, writer
        await asyncio.sleep(_AGAIN_S)


@contextlib.contextmanager
def _socket_at(path: Path) -> Iterator[str]:
    """A path that stays the socket that is there now, which no link leads to. Raises OSError."""
    if sys.platform != "linux":
        yield str(path)
        return
    handle = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(handle).st_mode):
            raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK), str(path))
        yield f"/proc/self/fd/{handle}"
    finally:
        os.close(handle)


async def _shake_hands(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, kind: Kind
) -> None:
    """Raises OSError where no peer of ours is at the other end."""
    writer.write(_GREETING)
    greeting = await reader.readexactly(len(_GREETING))
    if greeting[0] != _GREETING[0] or greeting[12:32] != _GREETING[12:32]:
        raise OSError(errno.EPROTO, os.strerror(errno.EPROTO))
    about = b"".join(
        struct.pack(">B", len(name)) + name + struct.pack(">I", len(value)) + value
        for name, value in ((b"Socket-Type", kind.encode()), (b"Identity", b""))
    )
    ready = b"\x05READY" + about
    writer.write(struct.pack(">BB", _COMMAND, len(ready)) + ready)
    flags, length = await _header(reader)
    if not flags & _COMMAND:
        raise OSError(errno.EPROTO, os.strerror(errno.EPROTO))
    await _pass_over(reader, length)
    if kind == "SUB":
        writer.write(b"".join(_packed([_SUBSCRIBE_TO_ALL])))


def _packed(frames: Sequence[bytes]) -> Iterator[bytes]:
    for number, frame in enumerate(frames, 1):
        more = _MORE if number < len(frames) else 0
        yield struct.pack(">BQ", more | _LONG, len(frame))
        yield frame


async def _header(reader: asyncio.StreamReader) -> tuple[int, int]:
    """A frame's flags, and its length."""
    flags, length = await reader.readexactly(2)
    if flags & _LONG:
        rest = await reader.readexactly(7)
        length = int.from_bytes(bytes([length]) + rest, "big")
    return flags, length


async def _pass_over(reader: asyncio.StreamReader, length: int) -> None:
    while length:
        piece = await reader.read(min(length, _READ_BYTES))
        if not piece:
            raise EOFError
        length -= len(piece)
