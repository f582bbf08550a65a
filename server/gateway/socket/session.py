"""A client's session: its place in the conversation, which outlives its connections.

    connected ──cut──▶ away ──hello with this session──▶ connected
        │                │
       bye          resume_s passed, or the same device began anew ──▶ over

A client that the welcome may never have reached does not know its session, and is awaited only
briefly.

While the client is away the conversation goes on telling it things here. Clients that did not say
that they resume are never away: their session ends with the connection.
"""

import asyncio
import secrets
from dataclasses import replace
from typing import Protocol

from sayso.protocol import messages as m
from sayso.protocol.codec import MAX_TEXT_BYTES, Envelope
from sayso.protocol.errors import ProtocolError, Refused
from sayso.protocol.frames import AudioFrame
from sayso.server.gateway.admission.rate_limits import Rates
from sayso.server.gateway.host import Conversation
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.message_size import fitted
from sayso.server.gateway.socket.outbox import Outbox
from sayso.server.trust.principal import OWNER, THIS_MACHINE, Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import Joined, QuestionShown, Ticket

SESSION_BYTES = 16
"""Of chance in a session's name: it can't be guessed."""

OF_PAIRING = {m.NAMES[kind] for kind in (m.Devices, m.PairingOpened, m.PairingDone)}
"""Who wants nothing else manages devices, and takes no part in the conversation."""


MOST_OFFERS = 64
"""Methods that a device may offer: what a desktop can do is a third of it."""
LONGEST_OFFER = 64
"""Characters of a method's name."""

_NEEDS: dict[type[m.FromServer], str] = {m.TaskUpdate: "tasks", m.ActRequest: "desktop"}
"""Features of a client, without which it is not told these."""


class Line(Protocol):
    """The connection that a session has at the moment."""

    def end(self, error: ProtocolError) -> None:
        """Read and write nothing more, at once; then say why, and close."""
        ...


class Session:
    """One client's place in a conversation. It is the conversation's outlet to the device."""

    def __init__(
        self,
        who: Principal,
        device: str,
        hello: m.Hello,
        limits: Limits,
        conversation: Conversation,
    ) -> None:
        self.id = secrets.token_urlsafe(SESSION_BYTES)
        self.who = who
        """Who may take it up: only the one that began it."""
        self.called = own_name(hello, who)
        """How the device calls itself."""
        self.device = device
        """How the conversation calls it; no two have the same name."""
        self.conversation = conversation
        self.outbox = Outbox(limits, hello.limits.max_text_bytes)
        self.rates = Rates(limits, who)
        """They outlive connections: cutting one's own line gains nothing."""
        self.heard_seq = 0
        """The last `seq` of the client's that arrived."""
        self.is_confirmed = False
        """The client knows this session: it has said something since its welcome."""
        self.line: Line | None = None
        self.away_since = 0.0
        self.resumes = "resume" in hello.features
        self._features = frozenset(hello.features)
        self.offers = _offers(hello, who)
        """What its device can be asked to do."""
        self._client_takes = hello.limits.max_text_bytes
        self._wants = frozenset(hello.wants)
        self._frame_seq = 0
        self._takes_part = not self._wants or not self._wants <= OF_PAIRING

    # --- the client ---

    def begin(self, line: Line, hello: m.Hello) -> None:
        """The client is here for the first time."""
        self.line = line
        if self._takes_part:
            self.conversation.join(self._joined(hello), self)

    def take_up(self, line: Line, hello: m.Hello) -> list[str] | None:
        """The client is back on another connection. Returns what it missed, oldest first.

        None: too much was missed, and a snapshot stands for it.
        """
        if self.line:
            self.line.end(Refused("This session goes on in another connection.", code="replaced"))
            self.cut()
        self.line = line
        self.is_confirmed = True
        self._wants = frozenset(hello.wants)
        self._features = frozenset(hello.features)
        self.offers = _offers(hello, self.who)
        self._client_takes = hello.limits.max_text_bytes
        missed = self.outbox.back(hello.last_seq or 0)
        if self._takes_part:
            self.conversation.back(self._joined(hello, returns=True))
        return missed

    def cut(self) -> None:
        """The connection is gone."""
        self.line = None
        self.away_since = asyncio.get_running_loop().time()
        self.outbox.cut()
        if self._takes_part:
            self.conversation.away(self.device)

    def end(self) -> None:
        """Its client does not come back to it."""
        if self._takes_part:
            self.conversation.leave(self.device)

    def is_news(self, seq: int | None) -> bool:
        """Whether a message of the client's did not arrive before."""
        if seq is None:
            return True
        if seq <= self.heard_seq:
            return False
        self.heard_seq = seq
        return True

    def wait_for(self, data: str | bytes) -> float:
        """For how many seconds the next frame is not to be read. Raises Flood."""
        return self.rates.wait_for(data, pictures=bool(self.offers))

    def sent(self) -> None:
        """All that left the outbox so far is on its way."""
        for question in self.outbox.questions_that_left():
            self.conversation.happened(QuestionShown(self.device, question))

    # --- Outlet: what the conversation hands over ---

    def tell(self, message: m.FromServer, ticket: Ticket) -> None:
        self.outbox.is_now((ticket.turn, ticket.gen))
        if (needed := _NEEDS.get(type(message))) and needed not in self._features:
            return
        wanted = not self._wants or m.NAMES[type(message)] in self._wants
        if wanted or isinstance(message, (m.Error, m.OfConnection)):
            for piece in fitted(message, self._client_takes):
                self.outbox.put(Envelope(piece, turn=ticket.turn, gen=ticket.gen))

    def snapshot(self) -> m.Snapshot:
        """The conversation as it stands, as far as the client knows what it is told."""
        snapshot = self.conversation.snapshot()
        return snapshot if "tasks" in self._features else replace(snapshot, tasks=())

    def send(self, speech: Send) -> None:
        self._frame_seq = 0 if speech.first_sample == 0 else self._frame_seq + 1
        self.outbox.put_sound(
            AudioFrame(speech.stream, self._frame_seq, speech.first_sample, speech.pcm, speech.last)
        )

    def _joined(self, hello: m.Hello, *, returns: bool = False) -> Joined:
        speaks = not hello.wants or "speech.start" in hello.wants
        buffer_s, frame_bytes = hello.limits.play_buffer_ms / 1000, hello.limits.max_frame_bytes
        return Joined(
            self.device,
            speaks,
            buffer_s,
            frame_bytes,
            returns=returns,
            rates=hello.audio.down_rates,
            offers=self.offers,
            is_asked=not self._wants or m.NAMES[m.ApprovalRequest] in self._wants,
            reads_out="aloud" in hello.features,
            may_approve=self.who.may("approve"),
            may_open=self.who.may_open_by_word,
            may_admin=self.who.may("admin"),
            at_console=self.who is THIS_MACHINE,
        )


def _offers(hello: m.Hello, who: Principal) -> tuple[str, ...]:
    """What a device can be asked to do: nothing where it is a guest's, or could not be told all."""
    wanted = not hello.wants or {"act.request", "turn.state"} <= set(hello.wants)
    takes_all = hello.limits.max_text_bytes >= MAX_TEXT_BYTES
    if who.person != OWNER or "desktop" not in hello.features or not wanted or not takes_all:
        return ()
    return tuple(name for name in hello.offers[:MOST_OFFERS] if len(name) <= LONGEST_OFFER)


def own_name(hello: m.Hello, who: Principal) -> str:
    """How a device is called: as it was paired, or as it calls itself."""
    return who.name or hello.device or hello.client or "device"
