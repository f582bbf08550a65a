"""Runs a scripted server on loopback in a thread of its own, with an event loop of its own."""

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable
from contextlib import suppress
from types import TracebackType
from typing import Self

START_S = 10.0
"""Longest time for the server's thread to come up or end on a busy machine."""


class ThreadedServer(ABC):
    """Listens from `with` on; what it says is a subclass's."""

    def __init__(self, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        """`port`: 0 chooses a free one."""
        self.port = port
        self.connections = 0
        """How many were made."""
        self._tls = tls
        self._asked = threading.Semaphore(0)
        self._left = threading.Semaphore(0)
        self._listening = threading.Event()
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name=type(self).__name__, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, with `/v1`."""
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}/v1"

    @abstractmethod
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(START_S) or not self._listening.is_set():
            raise RuntimeError(f"The {type(self).__name__} did not start.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None and self._over is not None:
            self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(START_S)

    def was_asked(self, timeout_s: float = START_S) -> bool:
        """Whether a request comes in, waiting for it if need be."""
        return self._asked.acquire(timeout=timeout_s)

    def was_left(self, timeout_s: float = START_S) -> bool:
        """Whether a client hangs up on an answer that is not over, waiting for it if need be."""
        return self._left.acquire(timeout=timeout_s)

    def serve_until_killed(self) -> None:
        """Run here and now, and print the address."""
        self._run(announce=True)

    def _run(self, *, announce: bool = False) -> None:
        with suppress(KeyboardInterrupt):
            asyncio.run(self._listen(announce=announce))

    async def _listen(self, *, announce: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        talks: set[asyncio.Task[None]] = set()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            talks.add(task)
            self.connections += 1
            try:
                await self.serve(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                pass
            except asyncio.CancelledError:
                writer.transport.abort()
            finally:
                talks.discard(task)
                writer.close()

        try:
            server = await asyncio.start_server(talk, "127.0.0.1", self.port, ssl=self._tls)
            self.port = server.sockets[0].getsockname()[1]
            self._listening.set()
        finally:
            self._ready.set()
        if announce:
            print(self.url, flush=True)  # noqa: T201 (some of them are programs as well)
        try:
            await self._over.wait()
        finally:
            server.close()
            for task in tuple(talks):
                task.cancel()
            await asyncio.gather(*talks, return_exceptions=True)
            # One more round of the loop, in which the transports really close.
            await asyncio.sleep(0)

    async def until_left(self, reader: asyncio.StreamReader, sending: Awaitable[None]) -> bool:
        """Send an answer, unless the client hangs up on it; whether the client is still there."""
        gone = asyncio.ensure_future(reader.read(1))
        sent = asyncio.ensure_future(sending)
        try:
            await asyncio.wait({gone, sent}, return_when=asyncio.FIRST_COMPLETED)
            if not sent.done() or sent.exception() is not None:
                self._left.release()
                return False
        finally:
            for task in (gone, sent):
                task.cancel()
            await asyncio.gather(gone, sent, return_exceptions=True)
        return not gone.done() or gone.cancelled()
