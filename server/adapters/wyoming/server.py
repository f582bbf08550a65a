"""Listens for Home Assistant. The protocol has neither encryption nor keys, so it matters where.

It is announced on the network where other machines may connect, so that Home Assistant finds it.
"""

import asyncio
import logging
from contextlib import suppress
from importlib.metadata import version
from typing import Final

from sayso.server.adapters.plain_listeners import PlainListener
from sayso.server.adapters.turn_client import Host
from sayso.server.adapters.wyoming.connection import WyomingConnection
from sayso.server.adapters.wyoming.events import LINE_BYTES, BadEventError
from sayso.server.adapters.wyoming.satellites import Satellites
from sayso.server.gateway.lan.mdns import Announcer
from sayso.server.gateway.plain_port import CannotListenError
from sayso.server.speech.speech import Speech
from sayso.server.trust.certificates import own_names

log = logging.getLogger(__name__)

SERVICE: Final = "_wyoming._tcp.local."
CONNECTIONS: Final = 32
"""At once: a satellite in each room, and three requests of each."""
LOOK_EVERY_S: Final = 3_600.0
"""Between two looks at this machine's addresses."""


class WyomingServer:
    """One port, for one or several Home Assistants."""

    def __init__(self, host: Host, speech: Speech, where: PlainListener) -> None:
        self._speech = speech
        self._where = where
        self._satellites = Satellites(host)
        self._here: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._announcing: asyncio.Task[None] | None = None

    async def open(self, *, announce: bool) -> None:
        """Begin to listen. Raises CannotListenError."""
        host, port = self._where.host, self._where.port
        try:
            self._server = await asyncio.start_server(self._came, host, port, limit=LINE_BYTES)
        except OSError as error:
            raise CannotListenError(
                f"adapters.wyoming: port {port} on {host} can't be opened "
                f"({error.strerror or error}). Choose another one."
            ) from error
        if announce and not self._where.is_near:
            self._announcing = asyncio.create_task(_announce(Announcer(host, port, SERVICE), host))

    async def close(self) -> None:
        """Let everybody go."""
        if self._server:
            self._server.close()
        tasks = [*self._here, *([self._announcing] if self._announcing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server:
            await self._server.wait_closed()

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        peer = writer.get_extra_info("peername")
        if task is None or not peer or not self._where.lets_in(str(peer[0])):
            log.warning("a machine that adapters.peers does not name was turned away from Wyoming")
            writer.transport.abort()
            return
        if len(self._here) >= CONNECTIONS:
            writer.transport.abort()
            return
        self._here.add(task)
        parts = (reader, writer, self._speech, self._satellites, version("sayso"))
        try:
            await WyomingConnection(*parts).talk()
        except* (BadEventError, ConnectionError, TimeoutError) as ended:
            log.info("a Wyoming client was let go: %s", ended.exceptions[0])
        except* Exception:
            # The root of the task: one client's request must not end the others'.
            log.exception("a request by Wyoming broke")
        finally:
            self._here.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _announce(announcer: Announcer, host: str) -> None:
    """Tell where it is, as long as it is."""
    try:
        while True:
            await announcer.tell(await asyncio.to_thread(own_names, (host,)))
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        await announcer.close()
