"""The channel over which the code in one interpreter calls functions of the server.

One socket pair an interpreter. The interpreter inherits its end, and keeps it from what the code
starts. It is always read, so that nobody waits for ever; but calls are taken only while an approved
run of that interpreter lasts, and each is that run's. What code sends is worth no more than the
function allows: everything is decided on this side.
"""

import asyncio
import contextlib
import logging
import secrets
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from sayso.server.runtimes.calls.frames import (
    ANSWER_MOST_BYTES,
    MARKER_BYTES,
    CallFrame,
    CallFrameError,
    CallReader,
    answer,
    value_answer,
)
from sayso.server.runtimes.calls.function import CallRefusedError
from sayso.server.runtimes.calls.registry import CallableFunctions

log = logging.getLogger(__name__)

AT_ONCE: Final = 8
"""Calls of one run at once. Each may hold a frame of each way in memory."""

CALLS_MOST: Final = 20_000
"""Calls of one run: a loop over a large table; more is a loop that never ends."""

SENT_MOST_BYTES: Final = 64 * 1024**2
"""What one run may send. Reading a mebibyte of JSON takes the server 10 ms."""

_READ_BYTES: Final = 64 * 1024

_UNREAD_MOST: Final = 64
"""Answers that wait for code to read them, before its calls wait."""

_UNREAD_MOST_BYTES: Final = ANSWER_MOST_BYTES
"""The same of their length; with one more, which waits to be sent."""

_OVER: Final = "The run that this call came from is over."
_NOTHING: Final = "No function of Sayso can be called here."
_TOO_MANY: Final = f"More than {AT_ONCE} calls at once; call fewer at a time."
_HUNG_UP: Final = "The interpreter has hung up."
_BROKE: Final = "Something went wrong inside Sayso in this call."


Shown = Callable[[int], Awaitable[None]]


class CallChannel:
    """The server's end of one interpreter's channel."""

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.setblocking(False)
        self._run: _RunCalls | None = None
        self._outgoing: deque[bytes] = deque()
        self._sent = asyncio.Event()
        """Something was taken out of what waits to be sent."""
        self._wake = asyncio.Event()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._write())]

    @property
    def inherited(self) -> int:
        """The descriptor for the interpreter, under its own number."""
        return self._theirs.fileno()

    def passed_on(self) -> None:
        """The interpreter has its end, or was not started."""
        self._theirs.close()

    def open(self, functions: CallableFunctions, run: str, shown: Shown) -> None:
        """A run begins that may call these; `run` is how it is known to the interpreter. `shown`
        returns when what was printed before a mark is shown, or has been waited for long enough."""
        self.shut(_OVER)
        self._drop_unsent()
        marker = secrets.token_bytes(MARKER_BYTES)
        self._run = _RunCalls(self, functions, marker, shown)
        self.send(answer(0, "o", marker + run.encode()))

    def shut(self, why: str = _OVER) -> None:
        """Answer no call any more, and cancel those that wait; `why` is a sentence for the code."""
        if self._run:
            self._run.shut(why)

    async def over(self) -> None:
        """The run has ended. Returns when nothing is done for it any more."""
        run, self._run = self._run, None
        if run:
            run.shut(_OVER)
            await run.ended()

    async def close(self) -> None:
        """Hang up."""
        await self.over()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ours.close()
        self._theirs.close()

    def send(self, frame: bytes) -> None:
        """Let the code have a frame."""
        self._outgoing.append(frame)
        self._wake.set()

    async def room(self) -> None:
        """Return when code has read most of what it was sent."""
        while len(self._outgoing) >= _UNREAD_MOST or (
            sum(map(len, self._outgoing)) > _UNREAD_MOST_BYTES
        ):
            self._sent.clear()
            await self._sent.wait()

    def _drop_unsent(self) -> None:
        """Forget answers to an earlier run; one that was begun must be sent to its end."""
        while len(self._outgoing) > 1:
            self._outgoing.pop()
        self._sent.set()

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(self._ours, _READ_BYTES):
                if self._run:
                    await self._run.take(data)
                # What is there already is read without a pause: in a flood, nobody else would get
                # a turn.
                await asyncio.sleep(0)
        self.shut(_HUNG_UP)

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while True:
                while self._outgoing:
                    await loop.sock_sendall(self._ours, self._outgoing[0])
                    self._outgoing.popleft()
                    self._sent.set()
                self._wake.clear()
                await self._wake.wait()


class _RunCalls:
    """The calls of one run."""

    def __init__(
        self, channel: CallChannel, offered: CallableFunctions, marker: bytes, shown: Shown
    ) -> None:
        self._channel = channel
        self._shown = shown
        self._offered = offered
        self._reader = CallReader(marker)
        self._calls: set[asyncio.Task[None]] = set()
        self._shut = False
        self._count = 0
        self._bytes = 0

    async def take(self, data: bytes) -> None:
        """Begin the calls in what the code sent. Once it is shut, what follows is not even read."""
        if not self._shut:
            await self._read(data)

    async def _read(self, data: bytes) -> None:
        self._bytes += len(data)
        try:
            for frame in self._reader.feed(data):
                self._count += 1
                self._bound()
                self._begin(frame)
                await self._channel.room()
                if self._shut:
                    return
            self._bound()
        except CallFrameError as error:
            log.warning("code sent what is no call: %s", error)
            self.shut(f"Calls are closed until the next run, because of what was sent: {error}.")

    def shut(self, why: str) -> None:
        """Answer no call any more, and cancel those that wait."""
        if self._shut:
            return
        self._shut = True
        for call in self._calls:
            call.cancel()
        self._channel.send(answer(0, "x", why.encode()))

    async def ended(self) -> None:
        """Return when nothing is done for them any more."""
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _bound(self) -> None:
        if self._count > CALLS_MOST:
            raise CallFrameError(f"more than {CALLS_MOST} calls")
        if self._bytes > SENT_MOST_BYTES:
            raise CallFrameError(f"more than {SENT_MOST_BYTES} bytes")

    def _begin(self, frame: CallFrame) -> None:
        if len(self._calls) >= AT_ONCE:
            self._channel.send(answer(frame.id, "r", _TOO_MANY.encode()))
            return
        call = asyncio.create_task(self._answer(frame))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _answer(self, frame: CallFrame) -> None:
        said = await self._called(frame)
        await self._channel.room()
        if not self._shut:
            self._channel.send(said)

    async def _called(self, frame: CallFrame) -> bytes:
        function = self._offered.functions.get(frame.name)
        if function is None:
            known = ", ".join(sorted(self._offered.functions))
            why = f"There is no such function; there are: {known}." if known else _NOTHING
            return answer(frame.id, "n", why.encode())
        try:
            if frame.after > 0:
                await self._shown(frame.after)
            value = await function.call(frame.arguments, self._offered.run)
            return value_answer(frame.id, value)
        except CallRefusedError as refusal:
            return answer(frame.id, "r", str(refusal).encode(errors="replace"))
        except Exception:
            # The root of the task: a function that breaks must not leave the code waiting.
            log.exception("a call of %s failed", function.name)
            return answer(frame.id, "r", _BROKE.encode())
