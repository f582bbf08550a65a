"""The server's side of the MCP worker: starts it with the first request, and notices its end."""

import asyncio
import contextlib
import itertools
import logging
import os
import socket
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from sayso.server.capabilities.mcp.wire import Message, WireError, packed, receive

log = logging.getLogger(__name__)

KEPT_COMPLAINTS: Final = 10
CLOSE_S: Final = 8.0
"""From hanging up to killing it: it ends its servers meanwhile, as their protocol has it."""

_ENVIRONMENT: Final = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ",
    "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
    "http_proxy", "https_proxy", "no_proxy", "XDG_CACHE_HOME", "VIRTUAL_ENV", "NVM_DIR",
)  # fmt: skip
"""What of the server's environment the worker gets: no key of any model is among it."""


class McpError(Exception):
    """What was asked of an MCP server was not done; the text says why, in a sentence."""


Asked = Callable[[Message], Awaitable[Message]]
"""Answers what a server asks while it works."""


class McpWorker:
    """One worker process, for all servers."""

    def __init__(
        self,
        asked: Asked,
        told: Callable[[Message], None],
        *,
        module: str = "sayso.server.capabilities.mcp.worker",
    ) -> None:
        """`told` hears what the worker tells without being asked."""
        self._asked = asked
        self._told = told
        self._module = module
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._handover: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._complaints: deque[str] = deque(maxlen=KEPT_COMPLAINTS)

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        return self._process.pid if self._process else None

    async def ask(
        self,
        op: str,
        *,
        limit: float,
        descriptor: int | None = None,
        **fields: Any,  # noqa: ANN401 - JSON
    ) -> Any:  # noqa: ANN401 - JSON
        """Ask, and wait for the answer. Cancelling gives it up in the worker too. Raises McpError.
        `descriptor`: of a socket that goes along; it is closed here."""
        try:
            await self._up()
            if descriptor is not None and self._handover:
                socket.send_fds(self._handover, [b"."], [descriptor])
        finally:
            if descriptor is not None:
                os.close(descriptor)
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(limit):
                await self._send({"id": number, "op": op, **fields})
                return await answer
        except TimeoutError:
            self._give_up(number)
            raise McpError("It did not answer in time.") from None
        except asyncio.CancelledError:
            self._give_up(number)
            raise
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End it, and with it all servers that it has started."""
        process = self._process
        if self._writer:
            self._writer.close()
        if process:
            try:
                async with asyncio.timeout(CLOSE_S):
                    await process.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _up(self) -> None:
        async with self._starting:
            if self._writer is not None:
                return
            ours, theirs = socket.socketpair()
            handing, taking = socket.socketpair()
            ours.setblocking(False)
            with theirs, taking:
                try:
                    self._process = await asyncio.create_subprocess_exec(
                        sys.executable,
                        "-P",  # what lies in the folder we were started in is not for the worker
                        "-m",
                        self._module,
                        str(theirs.fileno()),
                        str(taking.fileno()),
                        str(os.getpid()),
                        stdin=asyncio.subprocess.DEVNULL,
                        stdout=asyncio.subprocess.DEVNULL,
                        stderr=asyncio.subprocess.PIPE,
                        pass_fds=(theirs.fileno(), taking.fileno()),
                        start_new_session=True,  # Ctrl-C in the server's terminal is its alone
                        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
                    )
                except OSError as error:
                    ours.close()
                    handing.close()
                    raise McpError(f"The MCP worker cannot be started ({error}).") from error
            reader, self._writer = await asyncio.open_connection(sock=ours)
            self._handover = handing
            self._begin(self._read(reader, self._process))
            self._begin(self._listen(self._process))

    def _begin(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self, message: Message) -> None:
        writer = self._writer
        if writer is None:
            raise McpError("The MCP worker has stopped.")
        try:
            writer.write(packed(message))
            await writer.drain()
        except OSError:
            raise McpError("The MCP worker has stopped.") from None
        except ValueError:
            raise McpError("That is more than can be sent at once.") from None

    def _give_up(self, number: int) -> None:
        if self._writer and not self._writer.is_closing():
            self._writer.write(packed({"cancel": number}))

    async def _read(
        self, reader: asyncio.StreamReader, process: asyncio.subprocess.Process
    ) -> None:
        try:
            while True:
                self._take(await receive(reader))
        except WireError as problem:
            log.debug("the MCP worker: %s", problem)
        finally:
            if self._writer:
                self._writer.close()
            if self._handover:
                self._handover.close()
            self._writer = self._handover = None
            await process.wait()
            self._process = None
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(McpError("The MCP worker has stopped; try again."))
            self._told({"worker": "gone"})
            if process.returncode and self._complaints:
                log.warning("The MCP worker stopped; its last words: %s", self._complaints[-1])

    def _take(self, message: Message) -> None:
        if "question" in message:
            self._begin(self._answer(message))
        elif (waiting := self._waiting.get(message.get("id", 0))) is not None:
            if waiting.done():
                return
            if "error" in message:
                waiting.set_exception(McpError(str(message["error"])))
            else:
                waiting.set_result(message.get("value"))
        else:
            self._told(message)

    async def _answer(self, question: Message) -> None:
        value: Message = {}
        try:
            value = await self._asked(question)
        except Exception:
            # The root of the task: what was asked must not stay unanswered.
            log.exception("an MCP server's question could not be put")
        with contextlib.suppress(McpError):
            await self._send({"reply": question["question"], "value": value})

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is None:
            return
        with contextlib.suppress(ValueError):  # a line beyond asyncio's limit
            async for line in process.stderr:
                self._complaints.append(line.decode(errors="replace").rstrip())
                log.debug("the MCP worker: %s", self._complaints[-1])
