"""A bad network between two ends on this machine: cuts in mid-frame, delays, half-open lines.

    async with FaultProxy(faults) as proxy:
        proxy.target = port
        connect(f"ws://127.0.0.1:{proxy.port}/ws")

Each connection takes the next fault. Bytes are counted on the wire, handshake included, so a cut
falls anywhere: in a header, in a frame, between two characters of one letter.
"""

import asyncio
import random
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

PIECE = 65_536


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one connection."""

    direction: Literal["up", "down"]
    """Whose bytes are counted: the client's (up) or the server's."""
    after: int
    """Bytes that still pass."""
    ends: Literal["both", "client", "server"] = "both"
    """Who notices that the line is cut. The other one is left with a half-open socket."""
    delay_s: float = 0.0
    """Each piece arrives so much later."""


SOUND = Fault("up", 2**62)
"""No fault at all."""


def faults(seed: int, most_bytes: int = 6_000) -> Iterator[Fault]:
    """Endless faults, the same for the same seed."""
    chance = random.Random(seed)
    while True:
        yield Fault(
            chance.choice(("up", "down")),
            chance.randrange(most_bytes),
            # The server is often the last to know; a client that does not would wait long.
            chance.choice(("both", "both", "client")),
            chance.choice((0.0, 0.0, 0.0, 0.002)),
        )


class FaultProxy:
    """Stands before a server until the block ends."""

    def __init__(self, plan: Iterator[Fault]) -> None:
        self.target = 0
        """The port of the server on this machine."""
        self._plan = plan
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.cuts = 0
        """Connections that a fault has ended."""
        self._plugged = asyncio.Event()
        self._plugged.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        self.plug_in()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._ends:
            writer.transport.abort()
        await self._server.wait_closed()

    def pull_out(self) -> None:
        """Nothing passes any more, and no end is told: a network that is gone."""
        self._plugged.clear()

    def plug_in(self) -> None:
        """What waited passes, and more may come."""
        self._plugged.set()

    def cut(self) -> None:
        """All connections break now, and both ends are told."""
        for writer in list(self._ends):
            writer.transport.abort()
        self._ends.clear()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.add(writer)
        fault = next(self._plan, SOUND)
        await self._plugged.wait()
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        self._ends.add(server_writer)
        cut = asyncio.Event()
        ways = (("up", reader, server_writer), ("down", server_reader, writer))
        for direction, source, target in ways:
            budget = fault.after if direction == fault.direction else SOUND.after
            passing = _pass(source, target, budget, fault.delay_s, cut, self._plugged)
            self._begin(passing)
        self._begin(self._cut(cut, fault, writer, server_writer))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cut(
        self,
        cut: asyncio.Event,
        fault: Fault,
        client: asyncio.StreamWriter,
        server: asyncio.StreamWriter,
    ) -> None:
        await cut.wait()
        self.cuts += 1
        for end, writer in (("client", client), ("server", server)):
            if fault.ends in ("both", end):
                writer.transport.abort()
                self._ends.discard(writer)


async def _pass(
    source: asyncio.StreamReader,
    target: asyncio.StreamWriter,
    budget: int,
    delay_s: float,
    cut: asyncio.Event,
    plugged: asyncio.Event,
) -> None:
    """Hand bytes on until one end closes, or so many have passed."""
    try:
        while data := await source.read(PIECE):
            await plugged.wait()
            if cut.is_set():
                return
            if delay_s:
                await asyncio.sleep(delay_s)
            target.write(data[:budget])
            await target.drain()
            budget -= len(data)
            if budget < 0:
                break
    except OSError:
        pass
    cut.set()
