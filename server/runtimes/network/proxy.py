"""The proxy of one conversation: HTTP requests and CONNECT tunnels to what was granted.

It is there from a kernel's start, and lets nothing pass until something is granted. It never leads
to loopback, private, link-local or multicast addresses, whatever is granted. Each piece that is
carried is judged anew, so that what is taken back ends what it had opened. What passed and what was
refused is kept until somebody takes it, for the log of what code did.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Final, Literal, Protocol

from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network.addresses import PublicAddresses, Unreachable, Whereabouts
from sayso.server.runtimes.network.host_check import Destination
from sayso.server.runtimes.network.http_head import HEAD_BYTES, Asked, BadRequest, read
from sayso.server.runtimes.network.relay import PIECE_BYTES, Carrier, CutError
from sayso.server.runtimes.network.traffic_record import Passages, Transfer

CONNECTIONS: Final = 64
"""At once, for one conversation: browsers and installers open a dozen."""
HEAD_S: Final = 10.0
"""A program writes its request at once."""
CONNECT_S: Final = 10.0
"""To one address; then the next is tried."""
CLOSE_S: Final = 5.0
"""For the last bytes; who does not take them in that time does not want them."""

_FIRST_FREE_PORT: Final = 1_024
_WEB_PORTS: Final = (80, 443)
"""And those that anybody may serve on; the others are for mail, shells and shared disks."""

_REASONS: Final = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Busy"}


class Permission(Protocol):
    """What holds at this very moment: people take grants back while code runs."""

    @property
    def reach(self) -> Grants:
        """What is granted."""
        ...

    async def hindrance(self, host: str) -> str:
        """Why nothing may be sent to a host that is granted, as a clause; empty if it may be. A
        person may be asked for it."""
        ...


class Proxy:
    """Serves the connections that a sandbox hands over."""

    def __init__(self, reach: Grants, whereabouts: Whereabouts | None = None) -> None:
        self.reach = reach
        """For what the interpreters that there are were started."""
        self.permission: Permission | None = None
        """What holds besides, if somebody says so."""
        self._whereabouts = whereabouts or PublicAddresses()
        self._passages = Passages()
        self._lines: set[_Line] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def take_passages(self) -> tuple[Transfer, ...]:
        """What passed and what did not, since this was last asked; also on what is still open."""
        for line in self._lines:
            if news := line.news():
                self.note(news)
        return self._passages.take()

    def note(self, passage: Transfer) -> None:
        """This passed, or did not."""
        self._passages.note(passage)

    async def close(self) -> None:
        """Cut everything, and wait until it is gone."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take on a connection of the code's."""
        self._begin(self._serve(reader, writer))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if len(self._tasks) > CONNECTIONS:
                await _refuse(writer, 503, f"No more than {CONNECTIONS} connections at once.")
                return
            try:
                async with asyncio.timeout(HEAD_S):
                    asked = read(await reader.readuntil(b"\r\n\r\n"))
            except BadRequest as problem:
                await _refuse(writer, 400, str(problem))
            except asyncio.LimitOverrunError:
                await _refuse(writer, 400, f"A head has no more than {HEAD_BYTES} bytes.")
            else:
                await self._lead(asked, reader, writer)
        except (OSError, EOFError, TimeoutError):
            pass  # the code hung up, or said nothing: there is nobody to tell
        except asyncio.CancelledError:
            writer.transport.abort()
            raise
        finally:
            await _closed(writer)

    async def _lead(
        self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self._passages.full:
            await _refuse(writer, 503, "So many connections in one run cannot be written down.")
            return
        if why := await self.hindrance(asked.host):
            await self._turn_away(asked, "refused", writer, why)
            return
        if asked.port not in _WEB_PORTS and asked.port < _FIRST_FREE_PORT:
            why = f"port {asked.port} is not for the web"
            await self._turn_away(asked, "refused", writer, why)
            return
        try:
            addresses = await self._whereabouts.find(asked.host, asked.port)
            there = await self._connected(asked.host, addresses, asked.port)
        except Unreachable as problem:
            await self._turn_away(asked, "refused", writer, str(problem), granted=True)
            return
        if there is None:
            why = f"{asked.host} does not answer"
            await self._turn_away(asked, "failed", writer, why, granted=True)
            return
        line = _Line(self, asked)
        self._lines.add(line)
        try:
            line.look()  # it may have been taken back meanwhile
            if asked.way == "tunnel":
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            there[1].write(asked.head)
            await Carrier(line).carry((reader, writer), there)
        except CutError as cut:
            writer.write(cut.last_words)
        finally:
            self._lines.discard(line)
            if news := line.news():
                self.note(news)
            await _closed(there[1])

    def lets_pass(self, host: str) -> bool:
        """Whether it is granted, and was when the interpreters began that there are."""
        permission = self.permission
        return self.reach.lets_pass(host) and not (
            permission and not permission.reach.lets_pass(host)
        )

    async def hindrance(self, host: str) -> str:
        """Why nothing may be sent there now; empty if it may."""
        if self.lets_pass(host) and self.permission:
            why = await self.permission.hindrance(host)
            if why:
                return why
        return "" if self.lets_pass(host) else f"{host} is not granted"

    async def _connected(
        self, host: str, addresses: Sequence[str], port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """Connect to the first that answers. Raises Unreachable.

        Each address is judged before a packet goes there, and once more before a byte does: this
        machine's own addresses may have changed since.
        """
        for address in addresses:
            with contextlib.suppress(OSError, TimeoutError):
                self._judge(host, address)
                async with asyncio.timeout(CONNECT_S):
                    there = await asyncio.open_connection(address, port, limit=PIECE_BYTES)
                try:
                    self._judge(host, str(there[1].get_extra_info("peername")[0]))
                except BaseException:
                    there[1].transport.abort()
                    raise
                return there
        return None

    def _judge(self, host: str, address: str) -> None:
        if not self._whereabouts.is_outside(address):
            raise Unreachable(f"{host} is in a private network, which is never reached")

    async def _turn_away(
        self,
        asked: Asked,
        verdict: Literal["refused", "failed"],
        writer: asyncio.StreamWriter,
        why: str,
        *,
        granted: bool = False,
    ) -> None:
        self.note(Transfer(asked.host, asked.port, verdict, trouble=why if granted else ""))
        await _refuse(writer, 403 if verdict == "refused" else 502, why)


class _Line:
    """An open connection, and whether it is still allowed."""

    def __init__(self, proxy: Proxy, asked: Asked) -> None:
        self._proxy = proxy
        self._host = asked.host
        self._port = asked.port
        self._destination = Destination(asked)
        self._sent = len(asked.head)
        self._received = 0
        self._told = False

    def look(self) -> None:
        if not self._proxy.lets_pass(self._host):
            raise CutError(f"{self._host} is not granted any more")

    async def send(self, piece: bytes) -> AsyncGenerator[bytes]:
        if why := await self._proxy.hindrance(self._host):
            self._proxy.note(Transfer(self._host, self._port, "refused"))
            raise CutError(why)
        try:
            async with aclosing(self._destination.send(piece)) as parts:
                async for part in parts:
                    self._sent += len(part)
                    yield part
        except CutError:
            self._proxy.note(Transfer(self._host, self._port, "refused"))
            raise

    async def receive(self, piece: bytes) -> AsyncGenerator[bytes]:
        self.look()
        self._destination.receive(piece)
        self._received += len(piece)
        yield piece

    def news(self) -> Transfer | None:
        """What passed since this was last asked."""
        if self._told and not (self._sent or self._received):
            return None
        news = Transfer(self._host, self._port, "passed", self._sent, self._received)
        self._told, self._sent, self._received = True, 0, 0
        return news


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close, and wait until what is written is sent, if it is taken soon."""
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(CLOSE_S):
            await writer.wait_closed()
            return
    writer.transport.abort()


async def _refuse(writer: asyncio.StreamWriter, status: int, why: str) -> None:
    """Say why. It stands in the first line too, which is all that programs show of a tunnel."""
    body = f"Sayso's network proxy: {why}.\n".replace("..\n", ".\n").encode()
    first = f"HTTP/1.1 {status} {_REASONS[status]}: {why}".encode("ascii", "replace")
    headers = f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close"
    writer.write(first + b"\r\n" + headers.encode() + b"\r\n\r\n" + body)
    await writer.drain()
