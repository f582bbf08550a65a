"""A client that sends the bytes that a test wants sent, and reads answers one by one."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tests.gateway.running_gateway import WAIT_S, NetworkGateway, RunningGateway


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, read to its end."""

    status: int
    headers: dict[str, str]
    """Names in small letters."""
    body: bytes


@dataclass(slots=True)
class RawClient:
    """A connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    host: str

    async def send(self, data: bytes | str) -> None:
        self.writer.write(data.encode() if isinstance(data, str) else data)
        await self.writer.drain()

    async def ask(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        *,
        method: str = "GET",
        body: bytes = b"",
    ) -> None:
        """Send a request, and read nothing."""
        lines = {"Host": self.host} | dict(headers or {})
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        await self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    async def answer(self) -> Answer:
        """The next one."""
        async with asyncio.timeout(WAIT_S):
            status, *lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().splitlines()
            pairs = (line.partition(": ") for line in lines if line)
            headers = {name.lower(): value for name, _, value in pairs}
            if headers.get("transfer-encoding") == "chunked":
                body = b"".join([chunk async for chunk in self.chunks()])
            else:
                body = await self.reader.readexactly(int(headers.get("content-length", "0")))
            return Answer(int(status.split()[1]), headers, body)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The pieces of a body, as they come."""
        while size := int(await self.reader.readline(), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)

    async def get(self, path: str, **headers: str) -> Answer:
        await self.ask(path, headers)
        return await self.answer()

    async def rest(self) -> bytes:
        """All that comes until the server ends the connection."""
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionError):
                return await self.reader.read()
        return b""


@asynccontextmanager
async def raw_client(gateway: RunningGateway, *, tls: bool = False) -> AsyncIterator[RawClient]:
    """Connected; over TLS where the gateway has a network."""
    context, port = None, gateway.port
    if tls and isinstance(gateway, NetworkGateway):
        context, port = ssl.create_default_context(cadata=gateway.pem), gateway.network_port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        yield RawClient(reader, writer, f"127.0.0.1:{port}")
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()
