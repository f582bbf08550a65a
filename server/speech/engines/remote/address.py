"""Where a speech server is, and whether it may be sent anything there.

https, at home or beyond      the certificate is verified
http, at home                 every address that the name has must lie at home
http beyond home              refused: what is said would be sent in the clear
"""

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from sayso.server.home_network import is_at_home
from sayso.server.speech.errors import EngineMissing, ServerFailed

Kind = Literal["ears", "voice"]

LOOK_UP_S: Final = 4.0
"""For a name to be found; a person waits for it."""

PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Address:
    """A speech server's address, as the settings have it."""

    kind: Kind
    """Whose setting names it."""
    scheme: str
    host: str
    port: int
    path: str
    """Before the wire's own: `/v1`."""

    @classmethod
    def parse(cls, kind: Kind, text: str) -> "Address":
        """Raises EngineMissing if nothing may be sent there."""
        key = f"{kind}.api_base"
        if not text:
            raise EngineMissing(f"The engine remote needs a server; set {key} to its URL.")
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise EngineMissing(f"{key} is no URL; set it to one that ends in /v1.") from None
        if parts.scheme not in PORTS or not parts.hostname:
            raise EngineMissing(f"{key} is no URL of http or https; set it to one.")
        if parts.username is not None or parts.query or parts.fragment:
            raise EngineMissing(
                f"{key} holds more than an address; put the key into the environment and its "
                f"variable's name into {kind}.api_key_variable."
            )
        address = cls(
            kind,
            parts.scheme,
            parts.hostname,
            port or PORTS[parts.scheme],
            parts.path.rstrip("/"),
        )
        if address.leaves_home and parts.scheme == "http":
            raise EngineMissing(
                f"{address.host} lies beyond your home, and http would show everybody on the way "
                f"what is said; set {key} to an https address."
            )
        return address

    @property
    def leaves_home(self) -> bool:
        """Whether what is sent there goes further than the person's own network."""
        return not is_at_home(self.host)

    @property
    def name(self) -> str:
        """For sentences and for the HTTP header: host, and the port if it is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    async def url(self) -> str:
        """What to connect to. A name at home becomes an address that was looked up and lies there.

        Raises ServerFailed if the name is not found, or is found elsewhere.
        """
        if self.leaves_home:
            return f"{self.scheme}://{self.name}{self.path}"
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(LOOK_UP_S):
                found = await loop.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ServerFailed(
                f"No machine named {self.host} is found; check {self.kind}.api_base and the "
                "network.",
                may_pass=True,
            ) from error
        addresses = [str(sockaddr[0]) for *_, sockaddr in found]
        if not addresses or not all(is_at_home(one.partition("%")[0]) for one in addresses):
            raise ServerFailed(
                f"{self.host} is a name of your home but leads out of it, so nothing is sent "
                f"there; set {self.kind}.api_base to the machine's own address."
            )
        # IPv4 first: speech servers seldom listen on both.
        first = min(addresses, key=lambda one: ":" in one)
        host = f"[{first}]" if ":" in first else first
        return f"{self.scheme}://{host}:{self.port}{self.path}"
