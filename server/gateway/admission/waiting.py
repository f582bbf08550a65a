"""Queues connections beyond their address's limit: a few, for a short time, without reading them.

A browser opens several at once, and clients behind one address count together, so a client that can
wait is not refused at once. Connections that have sent something come first, so that silent ones
hold up nobody; where too many wait, a silent one is closed.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Self

from sayso.server.gateway.admission.unauthenticated import (
    Peer,
    UnauthenticatedClients,
    address,
)
from sayso.server.gateway.limits import Limits

LOOK_EVERY_S = 0.1
"""How often is looked whether a place's owner had its time: ten times within it."""


class Caller(socket.socket):
    """A connection from the moment the system hands it over."""

    strangers: UnauthenticatedClients
    peer: Peer = None
    came_at = 0.0
    waits_since = 0.0
    gives_way = True
    is_idle = False

    @classmethod
    def on(cls, line: socket.socket, peer: Peer, strangers: UnauthenticatedClients) -> Self:
        """Takes the line over."""
        caller = cls(fileno=line.detach())
        caller.setblocking(False)
        caller.peer, caller.strangers = peer, strangers
        caller.came_at = caller.waits_since = asyncio.get_running_loop().time()
        return caller

    def state(self) -> Literal["silent", "speaks", "gone"]:
        """Whether something was sent, without reading it."""
        try:
            return "speaks" if self.recv(1, socket.MSG_PEEK) else "gone"
        except BlockingIOError:
            return "silent"
        except OSError:
            return "gone"

    def turn_away(self) -> None:
        with suppress(OSError):  # it is gone already
            self.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        self.strangers.leave(self)


class WaitingClients:
    """Who waits for a place, by address, first come first."""

    def __init__(
        self,
        strangers: UnauthenticatedClients,
        limits: Limits,
        let_in: Callable[[Caller], None],
    ) -> None:
        self._strangers = strangers
        self._most = limits.waiting
        self._longest_s = limits.waiting_s
        self._let_in = let_in
        self._waiting: dict[str, list[Caller]] = {}
        self._next_look: asyncio.Handle | None = None
        self._is_due = False
        strangers.on_change(self._look_soon)

    def has(self, peer: Peer) -> bool:
        """Whether somebody of this address waits."""
        return address(peer) in self._waiting

    def wait(self, caller: Caller) -> None:
        """It is admitted or closed later; or closed at once, where too many wait."""
        line = self._waiting.setdefault(address(caller.peer), [])
        line.append(caller)
        if len(line) > self._most:
            first = next((one for one in line if one.state() != "speaks"), caller)
            line.remove(first)
            self._strangers.refuse(first)
            first.close()
        if self._next_look is None:
            self._look_later()

    def close(self) -> None:
        """Nobody waits any more."""
        if self._next_look:
            self._next_look.cancel()
            self._next_look = None
        waiting, self._waiting = self._waiting, {}
        for line in waiting.values():
            for caller in line:
                caller.close()

    def _look_soon(self) -> None:
        if self._waiting and not self._is_due:
            self._is_due = True
            if self._next_look:
                self._next_look.cancel()
            self._next_look = asyncio.get_running_loop().call_soon(self._look)

    def _look_later(self) -> None:
        self._next_look = asyncio.get_running_loop().call_later(LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        self._next_look, self._is_due = None, False
        now = asyncio.get_running_loop().time()
        for whose, line in list(self._waiting.items()):
            self._let_in_from(line, now)
            if not line:
                self._waiting.pop(whose, None)
        if self._waiting and self._next_look is None:
            self._look_later()

    def _let_in_from(self, line: list[Caller], now: float) -> None:
        states = {caller: caller.state() for caller in line}
        for caller in list(line):
            waited = now - caller.waits_since > self._longest_s
            if waited and states[caller] != "gone":
                self._strangers.refuse(caller)
            if waited or states[caller] == "gone":
                line.remove(caller)
                caller.close()
        for caller in sorted(line, key=lambda one: states[one] != "speaks"):
            if not self._strangers.enter(caller):
                return
            caller.came_at = now
            line.remove(caller)
            self._let_in(caller)


class CountingSocket(socket.socket):
    """Listens where TLS is spoken, and hands over those that have a place."""

    strangers: UnauthenticatedClients
    waiting: WaitingClients

    @classmethod
    def at(cls, where: str, port: int, strangers: UnauthenticatedClients) -> Self:
        """Raises OSError."""
        family = socket.AF_INET6 if ":" in where else socket.AF_INET
        listening = cls(fileno=socket.create_server((where, port), family=family).detach())
        listening.strangers = strangers
        return listening

    def accept(self) -> tuple[Caller, Any]:
        """Raises BlockingIOError for one that has to wait."""
        line, peer = super().accept()
        caller = Caller.on(line, peer, self.strangers)
        if not self.waiting.has(peer) and self.strangers.enter(caller):
            return caller, peer
        self.waiting.wait(caller)
        raise BlockingIOError
