"""Asks the kernel where packets to an address would go: out into the world, or to somewhere near.

Near is this machine itself, by any of its addresses, and whatever is reached without a router: the
devices of the networks that it is in. A home network may have public addresses (every device has
one with IPv6), so that numbers alone do not tell. Each question is one round trip of a netlink
socket (rtnetlink(7)) that takes some ten microseconds, and is asked anew each time: addresses come
and go.
"""

import errno
import socket
import struct
from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, Literal, Protocol

Way = Literal["away", "near", "none"]
"""Through a router; to this machine or a neighbour; there is no way."""

SITE_PREFIX: Final = 56
"""A house is given so large a network of IPv6 at most, as a rule, and may part it among several of
its own: guests, lamps, the workshop. So what shares these bits with an address of ours is near."""

_WIDEST_NEAR: Final = {socket.AF_INET: 8, socket.AF_INET6: 16}
"""No network of neighbours is wider. A wider route without a router is a line or a tunnel to the
whole world, as a default route over PPP or WireGuard is."""

_ANSWER_S: Final = 1.0
"""The kernel answers while it is asked; a sandbox that only pretends to be one may not."""
_ANSWER_BYTES: Final = 64 * 1024
"""More than the kernel puts into one message."""

_HEADER: Final = struct.Struct("=IHHII")
_ROUTE: Final = struct.Struct("=BBBBBBBBI")
_ADDRESS: Final = struct.Struct("=BBBBI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_NEXT_HOP: Final = struct.Struct("=HBBi")

_ERROR, _DONE = 2, 3
_NEW_ADDRESS, _GET_ADDRESS = 20, 22
_NEW_ROUTE, _GET_ROUTE = 24, 26
_REQUEST, _DUMP = 0x1, 0x300
_AS_IN_THE_TABLE: Final = 0x2000
"""RTM_F_FIB_MATCH: the answer has the route's own width, not the address's."""
_UNICAST: Final = 1
_GLOBAL: Final = 0
_DESTINATION, _GATEWAY, _HOPS, _VIA = 1, 5, 9, 18
_IFA_ADDRESS: Final = 1
_NO_WAY: Final = (errno.ENETUNREACH, errno.EHOSTUNREACH)


class Routes(Protocol):
    """Where packets would go. The real ones are the kernel's."""

    def way_to(self, address: str) -> Way:
        """Say it for now. Raises OSError where it cannot be told."""
        ...


class KernelRoutes:
    """Of the network that this process is in (Linux)."""

    def way_to(self, address: str) -> Way:
        """Say it for now. Raises OSError where it cannot be told."""
        if not hasattr(socket, "AF_NETLINK"):
            raise OSError(errno.ENOSYS, "this system's routes cannot be read")
        there = ip_address(address)
        family = socket.AF_INET6 if isinstance(there, IPv6Address) else socket.AF_INET
        if isinstance(there, IPv6Address) and any(there in site for site in _own_sites()):
            return "near"
        width = there.max_prefixlen
        request = _ROUTE.pack(family, width, 0, 0, 0, 0, 0, 0, _AS_IN_THE_TABLE)
        request += _ATTRIBUTE.pack(_ATTRIBUTE.size + width // 8, _DESTINATION) + there.packed
        try:
            for kind, body in _answers(_GET_ROUTE, _REQUEST, request):
                if kind == _NEW_ROUTE:
                    return _way(family, body)
        except OSError as problem:
            if problem.errno in _NO_WAY:
                return "none"
            raise
        raise OSError(errno.EPROTO, "the kernel did not say where this address leads")


def _way(family: int, body: bytes) -> Way:
    _, width, *_, kind, _ = _ROUTE.unpack_from(body)
    if kind != _UNICAST:
        return "near"  # this machine's own, everybody's on a link, or one that is shut off
    attributes = dict(_attributes(body[_ROUTE.size :]))
    hops = list(_hops(attributes[_HOPS])) if _HOPS in attributes else [attributes]
    routed = all(_GATEWAY in hop or _VIA in hop for hop in hops)
    return "away" if routed or width < _WIDEST_NEAR[socket.AddressFamily(family)] else "near"


def _own_sites() -> Iterator[IPv6Network]:
    """The networks around this machine's own global IPv6 addresses."""
    request = _ADDRESS.pack(socket.AF_INET6, 0, 0, 0, 0)
    for kind, body in _answers(_GET_ADDRESS, _REQUEST | _DUMP, request):
        if kind != _NEW_ADDRESS:
            continue
        scope = _ADDRESS.unpack_from(body)[3]
        own = dict(_attributes(body[_ADDRESS.size :])).get(_IFA_ADDRESS)
        if scope == _GLOBAL and own:
            yield IPv6Network((own, SITE_PREFIX), strict=False)


def _answers(kind: int, flags: int, request: bytes) -> Iterator[tuple[int, bytes]]:
    """Each message of the kernel's answer: its kind, and what is in it."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC) as link:
        link.settimeout(_ANSWER_S)
        link.sendto(_HEADER.pack(_HEADER.size + len(request), kind, flags, 1, 0) + request, (0, 0))
        while True:
            rest = link.recv(_ANSWER_BYTES)
            while len(rest) >= _HEADER.size:
                length, answered, *_ = _HEADER.unpack_from(rest)
                body, rest = rest[_HEADER.size : length], rest[_aligned(length) :]
                if answered == _ERROR:
                    number = -struct.unpack_from("=i", body)[0]
                    raise OSError(number, "the kernel does not tell of its routes")
                if answered == _DONE:
                    return
                yield answered, body
            if not flags & _DUMP:
                return


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(data)
        if length < _ATTRIBUTE.size:
            return
        yield kind, data[_ATTRIBUTE.size : length]
        data = data[_aligned(length) :]


def _hops(data: bytes) -> Iterator[dict[int, bytes]]:
    """Of a route that goes several ways at once."""
    while len(data) >= _NEXT_HOP.size:
        length = _NEXT_HOP.unpack_from(data)[0]
        if length < _NEXT_HOP.size:
            return
        yield dict(_attributes(data[_NEXT_HOP.size : length]))
        data = data[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3
