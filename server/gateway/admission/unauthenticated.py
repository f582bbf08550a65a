"""Who has come and has not proved who they are: counted from the moment they connect.

Over TLS that is before anything of theirs is read, so there they are counted where the system hands
them over, and nobody escapes the bound by saying nothing.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Any, ClassVar, Protocol, Self

from websockets.asyncio.server import ServerConnection

from sayso.server.gateway.admission.limits import Limits
from sayso.server.gateway.admission.tcp_liveness import tend
from sayso.server.gateway.socket.bounded_connection import BoundedConnection

Peer = tuple[Any, ...] | None
"""Address and port of the other end, as the system names them; none if it is gone already."""


class UnauthenticatedClient(Protocol):
    """One connection."""

    came_at: float
    peer: Peer
    gives_way: bool
    """Whether it has yet to show whose it is."""

    def turn_away(self) -> None: ...


class UnauthenticatedClients:
    """The connections of each address that have not proved who they are."""

    def __init__(self, most: int, settled_s: float) -> None:
        self._most = most
        self._settled_s = settled_s
        self._here: dict[str, list[UnauthenticatedClient]] = {}

    def enter(self, one: UnauthenticatedClient) -> bool:
        """One more. Where there are enough, it takes the place of one that had its time, or goes.

        So nobody keeps an address's places by guessing, or by saying nothing. Returns whether it
        may stay.
        """
        here = self._here.setdefault(_address(one.peer), [])
        if len(here) >= self._most:
            first = next((before for before in here if before.gives_way), None)
            if first is None or _now() - first.came_at < self._settled_s:
                return False
            here.remove(first)
            first.turn_away()
        here.append(one)
        return True

    def go_on_as(self, one: UnauthenticatedClient) -> bool:
        """The same connection under another form, no younger than it was: what TLS took is taken of
        its time. False if it is not among them."""
        here = self._here.get(_address(one.peer), [])
        for place, before in enumerate(here):
            if before.peer == one.peer:
                one.came_at = before.came_at
                here[place] = one
                return True
        return False

    def leave(self, one: UnauthenticatedClient) -> None:
        """It is gone, or known."""
        here = self._here.get(_address(one.peer), [])
        if one in here:
            here.remove(one)
        if not here:
            self._here.pop(_address(one.peer), None)


class Guest(BoundedConnection):
    """A connection that can be read; among the strangers until it is known or gone."""

    strangers: ClassVar[UnauthenticatedClients]
    peer: Peer = None
    came_at = 0.0
    gives_way = True
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        tend(transport, self.limits)
        self.peer = transport.get_extra_info("peername")
        self.came_at = _now()
        if not self.strangers.go_on_as(self) and not self.strangers.enter(self):
            self.turn_away()
        self._deadline = self.loop.call_at(self.came_at + self.limits.handshake_s, self._too_late)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.strangers.leave(self)
        if self._deadline:
            self._deadline.cancel()

    def turn_away(self) -> None:
        self.cut()

    def _too_late(self) -> None:
        if self.request is None:
            self.turn_away()


def guests_of(among: UnauthenticatedClients, bounds: Limits) -> type[Guest]:
    """The class of the connections of one entrance."""

    class GuestHere(Guest):
        """See above."""

        strangers = among
        limits = bounds

    return GuestHere


class CountingSocket(socket.socket):
    """Listens where TLS is spoken, and hands over those that may stay."""

    strangers: UnauthenticatedClients

    @classmethod
    def at(cls, address: str, port: int, strangers: UnauthenticatedClients) -> Self:
        """Raises OSError."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listening = cls(fileno=socket.create_server((address, port), family=family).detach())
        listening.strangers = strangers
        return listening

    def accept(self) -> tuple["Caller", Any]:
        """Raises ConnectionAbortedError for one that may not stay."""
        line, peer = super().accept()
        caller = Caller(fileno=line.detach())
        caller.come(peer, self.strangers)
        return caller, peer


class Caller(socket.socket):
    """A connection from the moment the system hands it over."""

    strangers: UnauthenticatedClients
    peer: Peer = None
    came_at = 0.0
    gives_way = True

    def come(self, peer: Peer, strangers: UnauthenticatedClients) -> None:
        """Raises ConnectionAbortedError where too many are."""
        self.peer, self.strangers, self.came_at = peer, strangers, _now()
        if not strangers.enter(self):
            self.close()
            raise ConnectionAbortedError

    def turn_away(self) -> None:
        with suppress(OSError):  # it is gone already
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        self.strangers.leave(self)


def known(one: ServerConnection) -> None:
    """The client has proved who it is, and counts as a stranger no more."""
    if isinstance(one, Guest):
        one.strangers.leave(one)


def recognised(one: ServerConnection) -> None:
    """The request showed a token that is valid: it counts still, since its answer may be large and
    take long, and is not turned away for another's sake."""
    if isinstance(one, Guest):
        one.gives_way = False


def age_of(one: ServerConnection) -> float:
    """Seconds since it connected."""
    return _now() - one.came_at if isinstance(one, Guest) else 0.0


def address_of(one: ServerConnection) -> str:
    """Where the client is, for counting; empty if that is not known any more."""
    return _address(one.transport.get_extra_info("peername"))


def _address(peer: Peer) -> str:
    return str(peer[0]) if peer else ""


def _now() -> float:
    return asyncio.get_running_loop().time()
