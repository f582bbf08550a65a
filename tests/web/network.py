"""The network between a browser and this machine: it can be lost, and it can fall silent."""

import asyncio
import threading
from types import TracebackType
from typing import Literal, Self

PIECE = 65_536


class Network:
    """A SOCKS5 proxy on loopback, in a thread of its own, until the block ends.

    `lose` cuts every line and lets nobody through until `restore`; `silence` leaves the lines that
    there are open and lets nothing pass on them any more, as a phone's Wi-Fi does when it is left.
    """

    def __init__(self) -> None:
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network")
        self._server: asyncio.Server
        self._lines: set[_Line] = set()
        self._is_lost = False

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def flags(self) -> tuple[str, ...]:
        """What leads a browser through it, loopback included."""
        return f"--proxy-server=socks5://127.0.0.1:{self.port}", "--proxy-bypass-list=<-loopback>"

    def lose(self) -> None:
        """Nothing goes through."""
        self._is_lost = True
        self._loop.call_soon_threadsafe(self._cut)

    def restore(self) -> None:
        """Whoever calls anew gets through."""
        self._is_lost = False

    def silence(self) -> None:
        """The lines that there are carry nothing more, and nobody is told."""
        for line in tuple(self._lines):
            line.state = "silent"

    async def _open(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        self._cut()
        await asyncio.gather(*(line.over.wait() for line in tuple(self._lines)))

    def _cut(self) -> None:
        for line in tuple(self._lines):
            line.end()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_lost:
            writer.transport.abort()
            return
        try:
            port = await _asked_for(reader, writer)
            there = await asyncio.open_connection("127.0.0.1", port)
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()
            return
        writer.write(b"\5\0\0\1\0\0\0\0\0\0")
        line = _Line(writer, there[1])
        self._lines.add(line)
        try:
            await asyncio.gather(line.carry(reader, there[1]), line.carry(there[0], writer))
        finally:
            line.end()
            line.over.set()
            self._lines.discard(line)


class _Line:
    """Both directions of one connection."""

    def __init__(self, *ends: asyncio.StreamWriter) -> None:
        self.state: Literal["up", "silent"] = "up"
        self.over = asyncio.Event()
        self._ends = ends

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """From one end to the other, until one of them is gone."""
        try:
            while piece := await reader.read(PIECE):
                if self.state == "up":
                    writer.write(piece)
                    await writer.drain()
        except OSError:
            pass
        self.end()

    def end(self) -> None:
        for end in self._ends:
            end.transport.abort()


async def _asked_for(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> int:
    """The port that a browser wants, as RFC 1928 has it; the address is this machine's anyway."""
    _, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    writer.write(b"\5\0")
    _, _, _, kind = await reader.readexactly(4)
    length = (await reader.readexactly(1))[0] if kind == 3 else {1: 4, 4: 16}[kind]
    await reader.readexactly(length)
    return int.from_bytes(await reader.readexactly(2), "big")
