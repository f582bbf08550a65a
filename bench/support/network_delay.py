"""Simulates the network between a client and a server: watches it, delays it at random, cuts it.

    async with Way(port, jitter_s=0.05) as way:
        connect(way.url)

Each direction keeps its order, as TCP does: a piece that is late holds up those behind it. When
frames of sound pass, on the event loop's clock, stands in `up` and `down`.
"""

import asyncio
import random
from collections.abc import Coroutine
from types import TracebackType
from typing import Literal, Self

PIECE = 65_536
MOST_WAITING = 4_096
"""Pieces on their way; two seconds of everything that is ever said."""

BINARY = 2
SHORT, LONGER = 126, 127
"""What stands for a length of two bytes, and of eight."""
MASKED = 0x80
MASK_BYTES = 4


class Frames:
    """Finds the frames of sound in one direction of a WebSocket."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._skip = 0
        self.greeted = False

    def count(self, data: bytes) -> int:
        """Take in what passes; returns how many frames of sound began in it."""
        self._bytes += data
        if not self.greeted:
            _, end, rest = bytes(self._bytes).partition(b"\r\n\r\n")
            if not end:
                return 0
            self.greeted, self._bytes = True, bytearray(rest)
        found = 0
        while self._bytes:
            passed = min(self._skip, len(self._bytes))
            del self._bytes[:passed]
            self._skip -= passed
            head = self._head()
            if self._skip or head is None:
                return found
            opcode, self._skip = head
            found += opcode == BINARY
        return found

    def _head(self) -> tuple[int, int] | None:
        """Kind and whole length of the frame that begins here, once they can be told."""
        if len(self._bytes) < 2:
            return None
        length, extra = self._bytes[1] & ~MASKED, 0
        if length in (SHORT, LONGER):
            extra = 2 if length == SHORT else 8
            if len(self._bytes) < 2 + extra:
                return None
            length = int.from_bytes(self._bytes[2 : 2 + extra], "big")
        mask = MASK_BYTES if self._bytes[1] & MASKED else 0
        return self._bytes[0] & 0xF, 2 + extra + mask + length


class Way:
    """Stands before a server until the block ends."""

    def __init__(self, target: int, jitter_s: float = 0.0, seed: int = 1) -> None:
        """Each piece arrives up to `jitter_s` late."""
        self._target = target
        self._jitter_s = jitter_s
        self._chance = random.Random(seed)
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0
        self.up: list[float] = []
        self.down: list[float] = []

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}/ws"

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def cut(self) -> None:
        """Nothing passes, and nobody answers, until it is mended."""
        self._server.close()
        for writer in self._ends:
            writer.transport.abort()
        self._ends.clear()

    async def mend(self) -> float:
        """Let everybody through, from now on; returns when."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return asyncio.get_running_loop().time()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._ends |= {writer, far_writer}
        self._begin(self._pass("up", reader, far_writer))
        self._begin(self._pass("down", far_reader, writer))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass(
        self,
        direction: Literal["up", "down"],
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
    ) -> None:
        now = asyncio.get_running_loop().time
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MOST_WAITING)
        self._begin(_deliver(waiting, target))
        frames, seen = Frames(), self.up if direction == "up" else self.down
        ours, theirs = (f"127.0.0.1:{port}".encode() for port in (self._port, self._target))
        try:
            while data := await source.read(PIECE):
                if ours in data and not frames.greeted:
                    data = data.replace(ours, theirs)  # A server answers to its own name alone.
                seen.extend([now()] * frames.count(data))
                await waiting.put((now() + self._chance.uniform(0, self._jitter_s), data))
        except OSError:
            pass
        await waiting.put((now(), b""))


async def _deliver(
    waiting: asyncio.Queue[tuple[float, bytes]], target: asyncio.StreamWriter
) -> None:
    """Each when it is due; an empty piece is the end."""
    now = asyncio.get_running_loop().time
    while True:
        due, data = await waiting.get()
        await asyncio.sleep(max(0.0, due - now()))
        if not data or target.transport.is_closing():
            target.transport.abort()
            return
        target.write(data)
