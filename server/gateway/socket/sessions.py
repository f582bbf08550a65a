"""All sessions of the server: those that are connected, and those that may be resumed."""

from collections.abc import Callable

from sayso.protocol import messages as m
from sayso.protocol.errors import Refused
from sayso.server.gateway.host import Conversation
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.resume import ResumeTimers, may_resume
from sayso.server.gateway.socket.session import Session, own_name
from sayso.server.trust.principal import THIS_MACHINE, Principal


class Sessions:
    """Finds, makes and ends sessions. Bounded: the one that is longest away gives way."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sessions: dict[str, Session] = {}
        self._timers = ResumeTimers(limits, self.end)

    def find(self, hello: m.Hello, who: Principal) -> Session | None:
        """The session that a client asks to take up, if it is kept and is its own."""
        session = self._sessions.get(hello.session or "")
        if session is None or not may_resume(session, hello, who):
            return None
        self._timers.stop(session)
        return session

    def make(self, hello: m.Hello, who: Principal, conversation: Conversation) -> Session:
        """Make a new session. One of the same device that is away can't be taken up any more: a
        client that asks for a new one has lost it."""
        name = own_name(hello, who)
        for session in self._all(lambda one: one.line is None):
            if (session.who.device, session.called) == (who.device, name):
                self.end(session)
        if len(self._sessions) >= self._limits.sessions:
            away = self._all(lambda one: one.line is None)
            if away:
                self.end(min(away, key=lambda one: one.away_since))
        session = Session(who, self._unique(name), hello, self._limits, conversation)
        self._sessions[session.id] = session
        return session

    def check_room(self, who: Principal) -> None:
        """Raise Refused if a paired device has enough connections. Programs of this machine are
        bounded only together with all others."""
        here = self._all(lambda one: one.line is not None and one.who.device == who.device)
        if who is not THIS_MACHINE and len(here) >= self._limits.device_connections:
            raise Refused(
                "This device is connected already, and twice is enough: leave it elsewhere first.",
                code="too_many",
                fatal=True,
            )

    def is_connected(self, device: str) -> bool:
        """Whether a paired device is here."""
        return bool(self._all(lambda one: one.line is not None and one.who.device == device))

    def turn_out(self, device: str) -> None:
        """This device does not belong here any more."""
        for session in self._all(lambda one: one.who.device == device):
            if session.line:
                turned_out = Refused("This device was turned out; pair it again to come in.")
                session.line.end(turned_out.because("revoked"))
            self.end(session)

    def cut(self, session: Session) -> None:
        """Its connection is gone. It is kept for a while if its client knows how to come back."""
        if session.id not in self._sessions:
            return
        if not session.resumes:
            self.end(session)
            return
        session.cut()
        self._timers.start(session)

    def end(self, session: Session) -> None:
        """It can't be taken up any more."""
        self._timers.stop(session)
        if self._sessions.pop(session.id, None):
            session.end()

    def end_all(self) -> None:
        """The server closes."""
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
