"""When a lost connection's session may be resumed, and how long it waits for that."""

import asyncio
from collections.abc import Callable

from sayso.protocol import messages as m
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.session import Session
from sayso.server.trust.principal import Principal

UNCONFIRMED_S = 30.0
"""For a client that said nothing at all after its welcome, most likely because that was lost. One
that had it asks whether we are there after five seconds, and calls again within fifteen."""


def may_resume(session: Session, hello: m.Hello, who: Principal) -> bool:
    """Whether a client that greets like this may take up this session: it is its own device's."""
    return session.who.device == who.device and "resume" in hello.features


class ResumeTimers:
    """One for each session whose client is away."""

    def __init__(self, limits: Limits, expire: Callable[[Session], None]) -> None:
        """`expire` ends a session whose client did not come back in time."""
        self._limits = limits
        self._expire = expire
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start(self, session: Session) -> None:
        """Its connection is gone: its client may resume it from now on."""
        patience = self._limits.resume_s
        if not session.is_confirmed:
            patience = min(patience, UNCONFIRMED_S)
        loop = asyncio.get_running_loop()
        self._timers[session.id] = loop.call_later(patience, self._expire, session)

    def stop(self, session: Session) -> None:
        """It was resumed, or is over."""
        if timer := self._timers.pop(session.id, None):
            timer.cancel()
