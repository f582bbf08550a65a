"""All sessions of the house: who is here, and who may come back."""

import asyncio
from collections.abc import Callable

from sayso.protocol import messages as m
from sayso.server.gateway.host import Conversation
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.session import Session, own_name


class Sessions:
    """Finds, makes and ends sessions. Bounded: the one that is longest away gives way."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sessions: dict[str, Session] = {}
        self._ending: dict[str, asyncio.TimerHandle] = {}

    def find(self, hello: m.Hello, whose: str) -> Session | None:
        """The session that a client asks to take up, if it is kept and is its own."""
        session = self._sessions.get(hello.session or "")
        if session is None or session.whose != whose or "resume" not in hello.features:
            return None
        if timer := self._ending.pop(session.id, None):
            timer.cancel()
        return session

    def make(self, hello: m.Hello, whose: str, conversation: Conversation) -> Session:
        """A new session. One of the same device that is away can't be taken up any more: whoever
        asks for a new one has lost it."""
        name = own_name(hello)
        for session in self._all(lambda one: one.line is None):
            if (session.whose, session.called) == (whose, name):
                self.end(session)
        if len(self._sessions) >= self._limits.sessions:
            away = self._all(lambda one: one.line is None)
            if away:
                self.end(min(away, key=lambda one: one.away_since))
        session = Session(whose, self._unique(name), hello, self._limits, conversation)
        self._sessions[session.id] = session
        return session

    def cut(self, session: Session) -> None:
        """Its connection is gone. It is kept for a while if its client knows how to come back."""
        if not session.resumes:
            self.end(session)
            return
        session.cut()
        loop = asyncio.get_running_loop()
        self._ending[session.id] = loop.call_later(self._limits.resume_s, self.end, session)

    def end(self, session: Session) -> None:
        """It can't be taken up any more."""
        if timer := self._ending.pop(session.id, None):
            timer.cancel()
        if self._sessions.pop(session.id, None):
            session.conversation.leave(session.device)

    def end_all(self) -> None:
        """The house closes."""
        for session in list(self._sessions.values()):
            self.end(session)

    def _all(self, fits: Callable[[Session], bool]) -> list[Session]:
        return [session for session in self._sessions.values() if fits(session)]

    def _unique(self, name: str) -> str:
        taken = {session.device for session in self._sessions.values()}
        unique, number = name, 2
        while unique in taken:
            unique = f"{name} {number}"
            number += 1
        return unique
