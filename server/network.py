"""The way in for other devices: opened with a certificate that is kept current, and announced."""

import asyncio
import logging
from typing import Final

from sayso.protocol.home import Home
from sayso.server.announcing import Announcer
from sayso.server.gateway.listener import Listener
from sayso.server.settings.sections import Listen
from sayso.server.trust.certificates import (
    CertificateError,
    Identity,
    best_name,
    identity,
    own_names,
    renewed,
)

log = logging.getLogger(__name__)

LOOK_EVERY_S: Final = 3_600.0
"""Between two looks at the machine's names and addresses, and at the certificate's age: whoever
moves the machine to another network waits no longer for it to be known by its new address."""


class Network:
    """Made when the settings ask for it; `run` is a task, until cancelled."""

    def __init__(self, home: Home, listen: Listen, listener: Listener) -> None:
        self._folder = home.state / "certificates"
        self._listen = listen
        self._listener = listener
        self._identity: Identity
        self._announcer: Announcer | None = None
        self.address = ""
        """Name and port for other devices."""

    async def open(self) -> None:
        """Begin to listen. Raises CertificateError and CannotListenError."""
        names = await asyncio.to_thread(self._names)
        self._identity = await asyncio.to_thread(identity, self._folder, names)
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
                await asyncio.sleep(LOOK_EVERY_S)
                try:
                    await self.renew()
                except CertificateError as problem:
                    log.warning("%s", problem)
        finally:
            if self._announcer:
                await self._announcer.close()

    async def renew(self) -> None:
        """Look now. Raises CertificateError."""
        names = await asyncio.to_thread(self._names)
        self._identity = await asyncio.to_thread(renewed, self._identity, self._folder, names)
        self._listener.is_known_as(self._identity)

    def _names(self) -> tuple[str, ...]:
        plain = (name for name in self._listen.names if ":" not in name)
        return own_names((*plain, self._listen.network))
