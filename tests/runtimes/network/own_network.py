"""A network namespace that is made for one test: `python -m tests.runtimes.network.own_network`

It has an interface with public addresses, as servers and homes with IPv6 have, and a router to the
world behind it. Prints, as JSON, where each address of the arguments is found to lead, and what the
network proxy answers to who asks for it there.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import socket
import struct
import sys
from ipaddress import ip_interface
from itertools import count

from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.network.addresses import PublicAddresses
from sayso.server.runtimes.network.http_head import HEAD_BYTES
from sayso.server.runtimes.network.proxy import Proxy
from sayso.server.runtimes.network.routes import KernelRoutes

NO_NETWORK_HERE = 77
"""The exit status where no namespace can be made."""

OWN = ("93.184.215.14/24", "2606:2800:21f:1::14/64")
ROUTERS = ("93.184.215.1", "fe80::1")

_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_NEW_LINK, _NEW_ADDRESS, _NEW_ROUTE = 16, 20, 24
_MAKE = 0x1 | 0x4 | 0x400  # request, acknowledge, create
_numbers = count(1)


def leave() -> bool:
    """Go into a network of one's own, as an ordinary user by way of a user namespace."""
    flags = _NEW_NET if os.geteuid() == 0 else _NEW_NET | _NEW_USER
    return bool(ctypes.CDLL(None, use_errno=True).unshare(flags) == 0)


def tell(kind: int, body: bytes) -> None:
    """Have the kernel change something. Raises OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as link:
        header = struct.pack("=IHHII", 16 + len(body), kind, _MAKE, next(_numbers), 0)
        link.sendto(header + body, (0, 0))
        number = -struct.unpack_from("=i", link.recv(65536), 16)[0]
    if number:
        raise OSError(number, os.strerror(number))


def attribute(kind: int, value: bytes) -> bytes:
    padding = -len(value) % 4
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(padding)


def furnish() -> None:
    """A pair of interfaces with public addresses, and a default route by way of routers."""
    tell(_NEW_LINK, struct.pack("=BxHiII", 0, 0, 1, 1, 1))  # lo, up
    kind = attribute(18, attribute(1, b"veth"))
    tell(_NEW_LINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0) + attribute(3, b"home\0") + kind)
    home = socket.if_nametoindex("home")
    for index, name in socket.if_nameindex():
        if name != "lo":
            tell(_NEW_LINK, struct.pack("=BxHiII", 0, 0, index, 1, 1))
    for own in map(ip_interface, OWN):
        family = socket.AF_INET6 if own.version == 6 else socket.AF_INET
        at_once = 0x02  # IFA_F_NODAD
        about = struct.pack("=BBBBI", family, own.network.prefixlen, at_once, 0, home)
        tell(_NEW_ADDRESS, about + attribute(2, own.ip.packed) + attribute(1, own.ip.packed))
    for router in ROUTERS:
        family = socket.AF_INET6 if ":" in router else socket.AF_INET
        about = struct.pack("=BBBBBBBBI", family, 0, 0, 0, 254, 4, 0, 1, 0)
        way = attribute(5, socket.inet_pton(family, router)) + attribute(4, struct.pack("=i", home))
        tell(_NEW_ROUTE, about + way)


async def answers(addresses: list[str]) -> dict[str, str]:
    """What the proxy says, with every public host granted, of servers at these addresses."""
    reached: list[str] = []

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(str(writer.get_extra_info("sockname")[0]))
        writer.close()

    proxy = Proxy(Grants(network=True))
    door = await asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=HEAD_BYTES)
    home = await asyncio.start_server(serve, None, 8080)
    told = {}
    async with door, home:
        for address in addresses:
            host = f"[{address}]" if ":" in address else address
            reader, writer = await asyncio.open_connection(*door.sockets[0].getsockname()[:2])
            writer.write(f"GET http://{host}:8080/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            said = (await reader.readline()).decode().strip()
            told[address] = f"reached {reached}" if reached else said
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await proxy.close()
    return told


def main(asked: list[str]) -> int:
    if not leave():
        return NO_NETWORK_HERE
    try:
        furnish()
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
        return NO_NETWORK_HERE
    routes, public = KernelRoutes(), PublicAddresses()
    ways = {address: routes.way_to(address) for address in asked}
    outside = {address: public.is_outside(address) for address in asked}
    near = [address for address in asked if ways[address] == "near"]
    told = {"ways": ways, "outside": outside, "said": asyncio.run(answers(near))}
    sys.stdout.write(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
