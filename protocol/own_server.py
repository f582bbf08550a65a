"""Makes sure that what answers on this machine is our own user's, before it is shown the token.

The machine's token opens everything. Another user of the machine can listen at the server's port
while it does not run, and would be shown the token by whoever calls it. The kernel knows whose both
ends of such a connection are, on Linux; root, who could read the token's file, counts as ourselves.
"""

import http.client
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from sayso.protocol.errors import HomeError

Address = IPv4Address | IPv6Address

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENS: Final = "0A"
"""TCP_LISTEN, as the tables have it."""
_ROOT: Final = 0


class ForeignServerError(HomeError):
    """Another user of this machine answers in our server's place."""


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a connection, or who waits for one, as the kernel tells it."""

    here: tuple[Address, int]
    there: tuple[Address, int]
    state: str
    owner: int


class OwnServerConnection(http.client.HTTPConnection):
    """An HTTP connection to a server of our own user's, and to no other."""

    def connect(self) -> None:
        """Connect. Raises ForeignServerError, OSError."""
        super().connect()
        try:
            check(self.sock.getsockname(), self.sock.getpeername())
        except BaseException:
            self.close()
            raise


def check(ours: tuple[object, ...], theirs: tuple[object, ...]) -> None:
    """See whose the other end of a connection on this machine is, by the addresses of both ends.
    Raises ForeignServerError.

    A connection that nobody has taken yet belongs to who listens, so that is looked at, too. Where
    the kernel does not tell, nothing is known, and nothing is refused.
    """
    here, there = _place(ours), _place(theirs)
    owners = {
        end.owner
        for end in _ends()
        if (end.here, end.there) == (there, here) or _waits_for(end, there)
    }
    if owners - {os.geteuid(), _ROOT}:
        raise ForeignServerError(
            f"What answers at port {there[1]} of this machine belongs to another user, so it was"
            " shown nothing: look who it is, and start your own server at another port"
            " (`listen.port`)."
        )


def _waits_for(end: _End, there: tuple[Address, int]) -> bool:
    address, port = end.here
    if end.state != _LISTENS or port != there[1]:
        return False
    both = address.version == there[0].version or isinstance(address, IPv6Address)
    return address == there[0] or (address.is_unspecified and both)


def _place(name: tuple[object, ...]) -> tuple[Address, int]:
    host, port = str(name[0]).partition("%")[0], name[1]
    return _plain(ip_address(host)), int(str(port))


def _plain(address: Address) -> Address:
    """As it is in the older protocol, where it comes from there."""
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def _ends() -> Iterator[_End]:
    for table in _TABLES:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, here, there, state, _, _, _, owner, *_ = line.split()
            yield _End(_read(here), _read(there), state, int(owner))


def _read(written: str) -> tuple[Address, int]:
    """An address and a port in hexadecimal: words of four bytes, each as the processor has it."""
    address, _, port = written.partition(":")
    words = bytes.fromhex(address)
    raw = b"".join(
        int.from_bytes(words[at : at + 4]).to_bytes(4, sys.byteorder)
        for at in range(0, len(words), 4)
    )
    return _plain(ip_address(raw)), int(port, 16)
