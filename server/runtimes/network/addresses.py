"""Decides to which addresses confined code may connect: public ones, which the server looks up.

A name is looked up once, what comes of it is checked, and the connection goes to a checked address:
a name that answers differently the second time (DNS rebinding) is never asked a second time. Public
means both: no number that is set aside for something else, and nothing that this machine reaches
without a router (routes.py).
"""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, Protocol

from sayso.server.runtimes.network.routes import KernelRoutes, Routes

LOOKUP_S = 10.0
"""How long a name may take to be looked up: resolvers give up by then."""

_TRANSLATED: Final = IPv6Network("64:ff9b::/96")
"""NAT64: an IPv4 address in its last four bytes, which is where the packets end up."""

_EVERYWHERE: Final = IPv6Network("2000::/3")
"""What is given out of IPv6; the rest is for links, sites, groups and translators."""

_SET_ASIDE: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    map(
        ip_network,
        (
            "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
            "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24",
            "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15",
            "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
            "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
        ),
    )
)  # fmt: skip
"""From IANA's registries of special addresses: private, shared by a provider's customers (and
Tailscale's), links, tests, examples, relays and tunnels (Teredo, 6to4), groups, reserved. At the
end of IPv4's, the address at which each machine of Azure finds its own host."""


class Unreachable(Exception):
    """There is no way there; the message is one sentence without a full stop."""


class Whereabouts(Protocol):
    """Looks hosts up. The real one finds public addresses; a test may say otherwise."""

    async def find(self, host: str, port: int) -> Sequence[str]:
        """Return addresses that may be connected to. Raises Unreachable."""
        ...

    def is_outside(self, address: str) -> bool:
        """Whether this address, which `find` returned, may be connected to now."""
        ...


class PublicAddresses:
    """Asks the system's resolver, and keeps what is public and not near."""

    def __init__(self, routes: Routes | None = None) -> None:
        self._routes = routes or KernelRoutes()

    async def find(self, host: str, port: int) -> Sequence[str]:
        if f".{host}".rstrip(".").lower().endswith(".localhost"):
            raise Unreachable(f"{host} is this machine, which is never reached")
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOKUP_S):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError):
            raise Unreachable(f"{host} is not known") from None
        addresses = dict.fromkeys(str(where[0]) for *_, where in found)
        if not addresses:
            raise Unreachable(f"{host} is not known")
        if not all(self.is_outside(address) for address in addresses):
            raise Unreachable(f"{host} is in a private network, which is never reached")
        return tuple(addresses)

    def is_outside(self, address: str) -> bool:
        """Whether it is public and leads away from this machine and its neighbours, now."""
        if not is_public(address):
            return False
        there = ip_address(address)
        ends = {there, _translated(there)}
        try:
            return "near" not in {self._routes.way_to(str(each)) for each in ends}
        except OSError:
            return False  # where it leads cannot be told


def is_public(text: str) -> bool:
    """Whether an address is one of the public network's, and no other in disguise."""
    try:
        address = _translated(ip_address(text))
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and (address.scope_id or address not in _EVERYWHERE):
        return False
    return address.is_global and not any(address in each for each in _SET_ASIDE)


def _translated(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The address that packets are really sent to, where one is embedded in another."""
    if isinstance(address, IPv6Address) and address in _TRANSLATED:
        return IPv4Address(address.packed[-4:])
    return address
