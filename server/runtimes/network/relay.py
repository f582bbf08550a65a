"""Carries bytes between two connections, as long as somebody lets them pass."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Final, Protocol

IDLE_S: Final = 120.0
"""With no byte in either direction: a slow answer takes a minute, a forgotten tunnel for ever."""
LOOK_S: Final = 0.5
"""How often a connection on which nothing moves is judged; what moves is judged as it does."""
PIECE_BYTES: Final = 64 * 1024


class CutError(Exception):
    """Nothing passes on this connection any more; the message is a clause that says why."""

    def __init__(self, why: str, last_words: bytes = b"") -> None:
        """`last_words`: what the code is told in the connection's own language."""
        super().__init__(why)
        self.last_words = last_words


class Judge(Protocol):
    """Lets pieces pass, or raises CutError."""

    def look(self) -> None:
        """Nothing moved for a while; the connection may still be there."""
        ...

    def send(self, piece: bytes) -> AsyncGenerator[bytes]:
        """Yield what of a piece from the code, and of those before it, may go on."""
        ...

    def receive(self, piece: bytes) -> AsyncGenerator[bytes]:
        """The same of a piece for the code."""
        ...


class Carrier:
    """Carries both ways between the code's connection and one to a server."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._clock = asyncio.get_running_loop().time
        self._moved = self._clock()

    async def carry(
        self,
        ours: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        theirs: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Return when both have ended, when nothing moves, or when the judge cuts it; raises
        CutError then, and both are gone."""
        ways = {
            asyncio.create_task(self._one_way(ours[0], theirs[1], self._judge.send)),
            asyncio.create_task(self._one_way(theirs[0], ours[1], self._judge.receive)),
        }
        try:
            while ways and (left := self._moved + IDLE_S - self._clock()) > 0:
                wait = min(left, LOOK_S)
                ended, ways = await asyncio.wait(
                    ways, timeout=wait, return_when=asyncio.FIRST_COMPLETED
                )
                for way in ended:
                    way.result()
                self._judge.look()
                if theirs[0].at_eof():
                    return  # the server has said all; what code still sends nobody reads
        except CutError:
            theirs[1].transport.abort()
            raise
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _one_way(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        judge: Callable[[bytes], AsyncGenerator[bytes]],
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(PIECE_BYTES):
                self._moved = self._clock()
                async with aclosing(judge(piece)) as parts:
                    async for part in parts:
                        self._moved = self._clock()  # a person may have been asked meanwhile
                        sink.write(part)
                        await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()
