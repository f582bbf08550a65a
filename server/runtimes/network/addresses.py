"""Which addresses confined code may ever be led to: public ones, looked up by us and then kept to.

A name is looked up once, what comes of it is checked, and the connection goes to a checked address:
a name that answers differently the second time (DNS rebinding) is never asked a second time.
"""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Protocol

LOOKUP_S = 10.0
"""How long a name may take to be looked up: resolvers give up by then."""

_TRANSLATED = IPv6Network("64:ff9b::/96")
"""NAT64: an IPv4 address in its last four bytes, which is where the packets end up."""


class Unreachable(Exception):
    """There is no way there; the message is one sentence without a full stop."""


class Whereabouts(Protocol):
    """Where hosts are. The real one finds public addresses; a test may say otherwise."""

    async def find(self, host: str, port: int) -> Sequence[str]:
        """Return addresses that may be connected to. Raises Unreachable."""
        ...


class PublicAddresses:
    """Asks the system's resolver, and keeps what is public."""

    async def find(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOKUP_S):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError, UnicodeError):
            raise Unreachable(f"{host} is not known") from None
        addresses = dict.fromkeys(str(where[0]) for *_, where in found)
        if not all(is_public(address) for address in addresses):
            raise Unreachable(f"{host} is in a private network, which is never reached")
        return tuple(addresses)


def is_public(text: str) -> bool:
    """Whether an address is one of the public network's, and no other in disguise."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return False
    address = _undisguised(address)
    if isinstance(address, IPv6Address) and (address.sixtofour or address.teredo):
        return False  # tunnels into who knows where; nobody serves the web there
    return address.is_global and not address.is_multicast


def _undisguised(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            return address.ipv4_mapped
        if address in _TRANSLATED:
            return IPv4Address(address.packed[-4:])
    return address
