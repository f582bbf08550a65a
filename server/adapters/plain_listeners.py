"""Says where a protocol without encryption is listened to, and from which machines.

On this machine everybody may come who can reach it; beyond it, only machines that the owner named.
"""

import ipaddress
from dataclasses import dataclass
from typing import Final, Self

from sayso.server.gateway.plain_port import CannotListenError
from sayso.server.home_network import is_loopback

HIGHEST_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class PlainListener:
    """An address to listen on, and who may connect to it."""

    host: str
    port: int
    peers: frozenset[str]
    """Addresses of other machines."""

    @classmethod
    def read(cls, setting: str, value: str, peers: tuple[str, ...] | None) -> Self:
        """From the settings. `peers`: other machines that may come; None: there never are any.
        Raises CannotListenError, whose text names the setting."""
        host, _, port = value.rpartition(":")
        host = host.strip("[]")
        if not host or not port.isdecimal() or int(port) > HIGHEST_PORT:
            raise CannotListenError(
                f"{setting} is {value!r}, which is no address with a port: write it like "
                f"127.0.0.1:10300."
            )
        if peers is None and not is_loopback(host):
            raise CannotListenError(
                f"{setting} is for this machine alone, since its clients show no key: set it to "
                f"127.0.0.1:{port}."
            )
        named = frozenset(_peer(setting, one) for one in peers or ())
        if not is_loopback(host) and not named:
            raise CannotListenError(
                f"{setting} would be open to the whole network without encryption: name the "
                f"machines that may use it in adapters.peers, or let it listen on 127.0.0.1."
            )
        return cls(host, int(port), named)

    @property
    def is_near(self) -> bool:
        """Whether only this machine's programs can reach it."""
        return is_loopback(self.host)

    def lets_in(self, address: str) -> bool:
        """Whether a connection from there is taken."""
        plain = _normal(address)
        return bool(plain) and (ipaddress.ip_address(plain).is_loopback or plain in self.peers)


def _peer(setting: str, value: str) -> str:
    if plain := _normal(value):
        return plain
    raise CannotListenError(
        f"adapters.peers names {value!r}, which is no address of one machine: {setting} lets in "
        f"machines by their address, like 192.168.1.2."
    )


def _normal(address: str) -> str:
    """The address in one way of writing it; empty if it is none."""
    try:
        read = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(read, "ipv4_mapped", None)
    return str(mapped or read)
