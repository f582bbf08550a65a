"""The settings of `[listen]`: what each is for, its default, its unit and its reason."""

from dataclasses import dataclass

from sayso.protocol.home import (
    DEFAULT_HOST,
    DEFAULT_NETWORK_PORT,
    DEFAULT_PORT,
    DEFAULT_TRUST_PORT,
)
from sayso.server.settings.value_types import Port


@dataclass(frozen=True, slots=True)
class Listen:
    """Where the server listens."""

    host: str = DEFAULT_HOST
    """Address to listen on for programs of this machine, and only for them: what comes in there
    is not encrypted. Other devices come in by `network`."""
    port: Port = DEFAULT_PORT
    """TCP port for the voice socket and the web pages; 0 takes any free one."""
    network: str = ""
    """Address on which your other devices reach this server, over TLS and once they are paired:
    `0.0.0.0` for all networks of this machine, or one of its addresses. Empty: they can't."""
    network_port: Port = DEFAULT_NETWORK_PORT
    """TCP port for them; 0 takes any free one."""
    names: tuple[str, ...] = ()
    """Further names by which this server is called, as in a router or by Tailscale; its certificate
    names them too. With a port (`sayso.example:443`) it is the name that a proxy before it has."""
    trust_page: bool = True
    """Whether a page shows the server's authority over plain HTTP while pairing is open, so that
    browsers can trust it. It holds no secret; switch it off where another certificate is used."""
    trust_port: Port = DEFAULT_TRUST_PORT
    """TCP port for that page; 0 takes any free one."""
    announce: bool = True
    """Whether the server is told by multicast as `sayso.local` to the network on which your other
    devices reach it."""
