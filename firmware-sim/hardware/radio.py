"""The radio and its TLS: one WebSocket at a time, with a certificate that must be the right one."""

import asyncio
import base64
import ssl
from collections import deque
from contextlib import suppress
from typing import Protocol

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from sayso.firmware_sim.hardware.memory import JSON_BYTES

OPEN_S = 5.0
CLOSE_S = 0.5
MOST_WAITING = 256
"""Frames that wait for the socket. The chip's stack would refuse long before: the line is cut."""


class Ear(Protocol):
    """Who is told what happens on the line."""

    def line_up(self) -> None: ...

    def line_down(self, why: str = "") -> None:
        """`why`: words for a person, where there is something to do about it."""
        ...

    def received(self, data: str | bytes) -> None: ...


class Line:
    """Opens and closes as it is told; what happens is told to the ear."""

    def __init__(self, server: str, authority: str, ear: Ear) -> None:
        self._server = server
        self._authority = authority
        self._ear = ear
        self._task: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()
        """Calls that were cut and have not come to their end."""
        self._socket: ClientConnection | None = None
        self._waiting: deque[str | bytes] = deque()
        self._wake = asyncio.Event()

    def call(self) -> None:
        self.cut()
        self._waiting.clear()
        self._task = asyncio.create_task(self._keep())

    def cut(self) -> None:
        """The radio is gone: no goodbye, and nobody is told."""
        if self._socket:
            self._socket.transport.abort()
            self._socket = None
        if self._task:
            self._task.cancel()
            self._ending.add(self._task)
            self._task.add_done_callback(self._ending.discard)
            self._task = None

    async def close(self) -> None:
        task, self._task = self._task, None
        if self._socket:
            with suppress(WebSocketException, OSError, TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._socket.close()
        if task:
            task.cancel()
            self._ending.add(task)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def send(self, data: str | bytes) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self.cut()
            self._ear.line_down()
            return
        self._waiting.append(data)
        self._wake.set()

    async def _keep(self) -> None:
        why = ""
        try:
            async with connect(
                self._server,
                ssl=trust(self._authority) if self._server.startswith("wss:") else None,
                compression=None,
                proxy=None,
                max_size=JSON_BYTES,
                open_timeout=OPEN_S,
                close_timeout=CLOSE_S,
                ping_interval=None,
            ) as socket:
                self._socket = socket
                self._ear.line_up()
                await self._talk(socket)
        except (OSError, TimeoutError, EOFError, WebSocketException) as error:
            why = self._explain(error)
        self._socket = None
        self._task = None
        self._ear.line_down(why)

    def _explain(self, error: Exception) -> str:
        match error:
            case ssl.SSLError():
                return (
                    f"What answers at {self._server} is not the server that this device was set "
                    "up for: if that was set up anew, set up the device, too; hold its button from "
                    "power on for six seconds."
                )
            case InvalidHandshake() | EOFError():
                return f"What answers at {self._server} does not let this device in as it must."
            case OSError() | TimeoutError() if self._socket is None:
                return f"Nobody answers at {self._server}: is the server on?"
            case _:
                return ""

    async def _talk(self, socket: ClientConnection) -> None:
        writing = asyncio.create_task(self._write(socket))
        try:
            async for data in socket:
                self._ear.received(data)
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _write(self, socket: ClientConnection) -> None:
        while True:
            while self._waiting:
                await socket.send(self._waiting.popleft())
            self._wake.clear()
            await self._wake.wait()


def trust(authority: str) -> ssl.SSLContext:
    """The authority that was pinned at pairing, and no other; else nothing is said at all."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # this authority signs for one server alone
    context.load_verify_locations(cadata=base64.b64decode(authority))
    return context
