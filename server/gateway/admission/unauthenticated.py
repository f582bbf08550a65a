"""Limits unauthenticated connections: each is counted from the moment it connects.

Over TLS that is before anything is read from it, so there it is counted when it is accepted, and no
client escapes the limit by sending nothing.
"""

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from websockets.asyncio.server import ServerConnection

from sayso.server.gateway.admission.tcp_liveness import tend
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.bounded_connection import BoundedConnection

Peer = tuple[Any, ...] | None
"""Address and port of the other end, as the system names them; none if it is gone already."""


class UnauthenticatedClient(Protocol):
    """One connection."""

    came_at: float
    peer: Peer
    gives_way: bool
    """Whether it has yet to show whose it is."""
    is_idle: bool
    """Whether it was answered and asks nothing: it can be ended, and nobody loses anything."""

    def turn_away(self) -> None: ...


class Line(Protocol):
    """A connection that can be written to."""

    @property
    def transport(self) -> asyncio.Transport: ...


class UnauthenticatedClients:
    """The connections of each address that have not proved who they are."""

    def __init__(
        self, most: int, settled_s: float, refused: Callable[[str], None] = lambda _: None
    ) -> None:
        """`refused` is told the address of each that was sent away for want of a place."""
        self._refused = refused
        self._most = most
        self._settled_s = settled_s
        self._here: dict[str, list[UnauthenticatedClient]] = {}
        self._changed: list[Callable[[], None]] = []

    def on_change(self, look: Callable[[], None]) -> None:
        """`look` is called whenever a place may be free."""
        self._changed.append(look)

    def changed(self) -> None:
        """A connection left, or has become idle."""
        for look in self._changed:
            look()

    def enter(self, one: UnauthenticatedClient) -> bool:
        """One more. Where there are enough, it takes the place of one that is idle or had its time,
        or has none.

        So nobody keeps an address's places by guessing, or by saying nothing. Returns whether it
        may stay.
        """
        here = self._here.setdefault(address(one.peer), [])
        if len(here) >= self._most:
            first = self._to_end_first(here)
            if first is None:
                return False
            here.remove(first)
            if not first.is_idle:
                self.refuse(first)
            first.turn_away()
        here.append(one)
        return True

    def refuse(self, one: UnauthenticatedClient) -> None:
        """There is no place for it."""
        self._refused(address(one.peer))

    def _to_end_first(self, here: list[UnauthenticatedClient]) -> UnauthenticatedClient | None:
        if idle := [one for one in here if one.is_idle]:
            return idle[0]
        others = (one for one in here if one.gives_way)
        first = min(others, key=lambda one: one.came_at, default=None)
        return first if first and _now() - first.came_at >= self._settled_s else None

    def go_on_as(self, one: UnauthenticatedClient) -> bool:
        """The same connection under another form, no younger than it was: what TLS took is taken of
        its time. False if it is not among them."""
        here = self._here.get(address(one.peer), [])
        for place, before in enumerate(here):
            if before.peer == one.peer:
                one.came_at = before.came_at
                here[place] = one
                return True
        return False

    def enter_again(self, one: UnauthenticatedClient) -> bool:
        """Counts a connection, which may have been counted elsewhere, as unauthenticated again."""
        return one in self._here.get(address(one.peer), []) or self.enter(one)

    def leave(self, one: UnauthenticatedClient) -> None:
        """It is gone, or known."""
        here = self._here.get(address(one.peer), [])
        if one not in here:
            return
        here.remove(one)
        if not here:
            self._here.pop(address(one.peer), None)
        self.changed()


class Guest(BoundedConnection):
    """A connection that can be read; unauthenticated until its client is known or gone."""

    strangers: ClassVar[UnauthenticatedClients]
    peer: Peer = None
    came_at = 0.0
    gives_way = True
    is_idle = False
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        tend(transport, self.limits)
        self.peer = transport.get_extra_info("peername")
        self.came_at = _now()
        if not self.strangers.go_on_as(self) and not self.strangers.enter(self):
            self.strangers.refuse(self)
            self.turn_away()
        self._deadline = self.loop.call_at(self.came_at + self.limits.handshake_s, self._too_late)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.left()

    def left(self) -> None:
        """Counts it no longer, and lets go of the deadline for its request, which holds memory."""
        self.strangers.leave(self)
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

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


def known(one: ServerConnection) -> None:
    """The client has authenticated: it no longer counts as unauthenticated, and the headers of its
    request, with the token that it showed, are not kept as long as it is connected."""
    if isinstance(one, Guest):
        one.left()
    for message in (one.request, one.response):
        if message:
            message.headers.clear()


def recognised(one: UnauthenticatedClient) -> None:
    """The request showed a token that is valid: it counts still, since its answer may be large and
    take long, and is not turned away for another's sake."""
    one.gives_way = False


def age_of(one: ServerConnection) -> float:
    """Seconds since it connected."""
    return _now() - one.came_at if isinstance(one, Guest) else 0.0


def address_of(one: Line) -> str:
    """Where the client is, for counting; empty if that is not known any more."""
    return address(one.transport.get_extra_info("peername"))


def address(peer: Peer) -> str:
    """What connections are counted by."""
    return str(peer[0]) if peer else ""


def _now() -> float:
    return asyncio.get_running_loop().time()
