"""Announces the server on the local network: `sayso.local`, and a service that apps can find."""

import logging
import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, ip_address
from typing import Final

from zeroconf import Error as ZeroconfError
from zeroconf import InterfaceChoice, IPVersion, ServiceInfo
from zeroconf.asyncio import AsyncZeroconf

log = logging.getLogger(__name__)

SERVICE: Final = "_sayso._tcp.local."
HOST: Final = "sayso.local."


class Announcer:
    """By multicast, on the networks that the server listens on. Where that can't be, nobody is
    told, and the server is reached by its address."""

    def __init__(self, listening: str, port: int, service: str = SERVICE) -> None:
        self._listening = listening
        self._port = port
        self._service = service
        self._zeroconf: AsyncZeroconf | None = None
        self._told: ServiceInfo | None = None

    async def tell(self, names: Iterable[str]) -> None:
        """The machine's addresses, now; those of before are forgotten."""
        info = self._info(names)
        if self._told and self._told.addresses == info.addresses:
            return
        try:
            if self._zeroconf is None:
                self._zeroconf = AsyncZeroconf(
                    interfaces=self._interfaces, ip_version=IPVersion.V4Only
                )
                await (await self._zeroconf.async_register_service(info, allow_name_change=True))
            else:
                info.name = self._told.name if self._told else info.name
                await (await self._zeroconf.async_update_service(info))
        except (OSError, ZeroconfError) as problem:
            log.warning("The server is not announced as sayso.local: %s.", problem)
        else:
            self._told = info

    async def close(self) -> None:
        """Say that it is gone."""
        zeroconf, self._zeroconf, self._told = self._zeroconf, None, None
        if zeroconf:
            await zeroconf.async_unregister_all_services()
            await zeroconf.async_close()

    @property
    def _interfaces(self) -> list[str] | InterfaceChoice:
        address = ip_address(self._listening)
        return InterfaceChoice.All if address.is_unspecified else [self._listening]

    def _info(self, names: Iterable[str]) -> ServiceInfo:
        host = socket.gethostname().partition(".")[0]
        return ServiceInfo(
            self._service,
            f"Sayso on {host}.{self._service}",
            self._port,
            server=HOST,
            parsed_addresses=sorted(filter(self._is_told, names)),
            properties={"path": "/"} if self._service == SERVICE else {},
        )

    def _is_told(self, name: str) -> bool:
        """Whether a name of the machine's is an address at which others find it."""
        try:
            address = ip_address(name)
        except ValueError:
            return False
        if name == self._listening:
            return True
        everywhere = ip_address(self._listening).is_unspecified
        return everywhere and isinstance(address, IPv4Address) and not address.is_loopback
