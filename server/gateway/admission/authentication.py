"""Authenticates a token, and delays the answers to wrong ones."""

import asyncio
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from websockets.datastructures import Headers

from sayso.server.gateway.admission.unauthenticated import Line, address_of
from sayso.server.store.access import AccessRecord, AccessRefused
from sayso.server.trust.devices import Devices
from sayso.server.trust.guess_delay import GuessDelay
from sayso.server.trust.principal import THIS_MACHINE, Principal

NOT_OUR_NAME: Final = "This server answers only to its own names; `listen.names` adds others."
NOT_OUR_PAGE: Final = "This server talks only to its own page."
REASONS: Final = {NOT_OUR_NAME: "wrong_host", NOT_OUR_PAGE: "wrong_origin"}
"""How these are called in the records."""


@dataclass(frozen=True, slots=True)
class ListenerKind:
    """A way in."""

    scheme: str
    """`http` on this machine; `https` everywhere else."""
    names: frozenset[str]
    """Names with port under which it may be addressed, in small letters."""
    authority: bytes = b""
    """The certificate (DER) by which devices know the server; empty where there is no TLS."""
    proxied: frozenset[str] = frozenset()
    """Names of a proxy before it, which has TLS and a certificate of its own."""

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may call it. Browsers leave out the port that goes without saying."""
        return self.names | self.proxied | {_unported(name) for name in self.proxied}

    @property
    def origins(self) -> frozenset[str]:
        """Where its own pages come from."""
        own = {f"{self.scheme}://{name}" for name in self.names}
        before = {f"https://{name}" for name in self.proxied}
        return frozenset(own | before | {f"https://{_unported(name)}" for name in self.proxied})

    def refusal(self, headers: Headers) -> str | None:
        """Why a request is not answered: it was made by a foreign page, or led here by its name."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return NOT_OUR_NAME
        if any(origin.lower() not in self.origins for origin in origins):
            return NOT_OUR_PAGE
        return None

    def is_near(self, headers: Headers | None) -> bool:
        """Whether a request comes from this machine. What a proxy hands on comes from anywhere."""
        name = headers.get("Host", "").lower() if headers else ""
        return self.scheme == "http" and (name in self.names or _is_loopback(name))


class Authentication:
    """One for all entrances, so that a guesser gains nothing by trying another."""

    def __init__(
        self,
        machine_token: str,
        devices: Devices | None = None,
        note: Callable[[AccessRecord], None] = lambda _: None,
    ) -> None:
        """`note` writes down who was refused."""
        self._note = note
        self._machine_token = machine_token.encode()
        self._devices = devices
        self._patience = GuessDelay()
        self._fetching: WeakKeyDictionary[Line, str] = WeakKeyDictionary()
        """What plain requests are being answered, and to which device."""

    def who(self, token: str | None, *, near: bool) -> Principal | None:
        """Whose token this is. The machine's own is worth something on this machine alone."""
        if not token:
            return None
        shown = token.encode("utf-8", "surrogatepass")
        if near and hmac.compare_digest(shown, self._machine_token):
            return THIS_MACHINE
        return self._devices.with_token(token) if self._devices else None

    def who_asks(self, headers: Headers, entrance: ListenerKind) -> Principal | None:
        """Whose token a request carries."""
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        near = entrance.is_near(headers)
        return self.who(token.strip(), near=near) if scheme.lower() == "bearer" else None

    def still_knows(self, who: Principal) -> bool:
        """Whether a client was not revoked meanwhile."""
        return who is THIS_MACHINE or bool(self._devices and self._devices.still(who))

    def answers(self, socket: Line, who: Principal) -> None:
        """A plain request is answered, however long that takes."""
        self._fetching[socket] = who.device

    def turn_out(self, device: str) -> None:
        """What this device is just fetching ends here."""
        for socket, whose in list(self._fetching.items()):
            if whose == device:
                socket.transport.abort()

    def refused(self, socket: Line, reason: str) -> None:
        """A client is refused; to be recorded, with nothing that it sent."""
        self._note(AccessRefused(reason, address_of(socket)))

    async def keep_waiting(self, socket: Line) -> None:
        """A wrong token or code was shown: the answer takes longer each time."""
        await asyncio.sleep(self._patience.failed(address_of(socket), _now()))

    def recognised(self, socket: Line) -> None:
        """Somebody who belongs here."""
        self._patience.succeeded(address_of(socket))


def _is_loopback(name: str) -> bool:
    return name.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]")


def _unported(name: str) -> str:
    return name.removesuffix(":443")


def _now() -> float:
    return asyncio.get_running_loop().time()
