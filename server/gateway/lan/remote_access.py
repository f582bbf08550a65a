"""Opens the TLS port for other devices, keeps its certificate current, and announces it."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from sayso.protocol.home import Home
from sayso.server.gateway.lan.mdns import Announcer
from sayso.server.gateway.listener import Listener
from sayso.server.settings.defaults import Listen
from sayso.server.trust.certificates import (
    CLOCKS_DIFFER,
    CertificateError,
    Identity,
    best_name,
    identity,
    own_names,
    renewed,
)

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 3_600.0
"""Between two looks at the machine's names and addresses, and at the certificate's age. Moved to
another network, the machine is known by its new address no later than this."""

LOOK_AT_CLOCK_S: Final = 30.0
"""Between two looks at whether the clock was set: a certificate that was made by a wrong one lets
no device in, and a machine without a battery for its clock begins with a wrong one."""


class RemoteAccess:
    """Made when the settings ask for it; `run` is a task, until cancelled."""

    def __init__(
        self,
        home: Home,
        listen: Listen,
        listener: Listener,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = home.state / "certificates"
        self._listen = listen
        self._listener = listener
        self._clock = clock
        self._led = 0.0
        """How the clock was when the certificate was last looked at."""
        self._identity: Identity
        self._announcer: Announcer | None = None
        self.address = ""
        """Name and port for other devices."""

    async def open(self) -> None:
        """Begin to listen. Raises CertificateError and CannotListenError."""
        self._led = self._lead()
        names = await asyncio.to_thread(self._names)
        self._identity = await asyncio.to_thread(identity, self._folder, names, self._now)
        listen = self._listen
        port = await self._listener.open_network(
            listen.network,
            listen.network_port,
            self._identity,
            trust_port=listen.trust_port if listen.trust_page else None,
        )
        self._announcer = Announcer(listen.network, port) if listen.announce else None
        self.address = f"{best_name(self._identity.names, listen.network)}:{port}"

    async def run(self) -> None:
        """Tell who is here, and keep what is shown of the machine current."""
        try:
            while True:
                if self._announcer:
                    await self._announcer.tell(self._identity.names)
                await self._rest()
                try:
                    await self.renew()
                except CertificateError as problem:
                    log.warning("%s", problem)
        finally:
            if self._announcer:
                await self._announcer.close()

    async def renew(self) -> None:
        """Look now. Raises CertificateError."""
        self._led = self._lead()
        names = await asyncio.to_thread(self._names)
        self._identity = await asyncio.to_thread(
            renewed, self._identity, self._folder, names, self._now
        )
        self._listener.is_known_as(self._identity)

    async def _rest(self) -> None:
        """Until the next look, which comes sooner if the clock is set by more than devices bear."""
        looked = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(LOOK_AT_CLOCK_S)
            set_by = abs(self._lead() - self._led)
            since = asyncio.get_running_loop().time() - looked
            if since >= LOOK_EVERY_S or set_by > CLOCKS_DIFFER.total_seconds():
                return

    def _lead(self) -> float:
        """How far the clock is ahead of the time that nobody sets."""
        return self._clock() - asyncio.get_running_loop().time()

    @property
    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock(), UTC)

    def _names(self) -> tuple[str, ...]:
        plain = (name for name in self._listen.names if ":" not in name)
        return own_names((*plain, self._listen.network))
