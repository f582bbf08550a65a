"""Takes part in a conversation on behalf of a client that speaks another protocol, in text.

What the conversation tells is read in order; the client is a device of its person's, with the
rights of its key and no others.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final, Protocol

from sayso.protocol.messages import (
    Announce,
    ApprovalDone,
    ApprovalRequest,
    Error,
    FromServer,
    TurnState,
)
from sayso.server.gateway.host import Conversation
from sayso.server.trust.principal import Principal
from sayso.server.turn.effects import Send
from sayso.server.turn.events import (
    ApprovalAnswered,
    Interrupted,
    Joined,
    QuestionShown,
    Ticket,
    Typed,
)

WAITING_AT_MOST: Final = 20_000
"""Messages that a client has not read yet: a long answer with all that its code put out. One that
reads no more than that is let go."""

TYPED_AFTER_S: Final = 1.5
"""A typed yes counts when the question has stood on a screen for a second. On a busy machine, what
happens waits for its turn."""


SETTLES_WITHIN_S: Final = 0.3
"""Words beside a question may withdraw it; that is told so soon after they were answered."""


class Past(Protocol):
    """What a client says was said before."""

    @property
    def asked(self) -> str: ...

    @property
    def answered(self) -> str: ...


class Host(Protocol):
    """What adapters need of the server."""

    async def conversation(self, wanted: str, who: Principal) -> Conversation:
        """A place in the conversation that is wanted. Raises StoreError."""
        ...

    async def begin_conversation(self, person: str, instructions: str, past: Sequence[Past]) -> str:
        """The id of a new conversation, told its past. Raises StoreError."""
        ...

    async def has_conversation(self, wanted: str, person: str) -> bool:
        """Whether this person has one of this name or id. Raises StoreError."""
        ...


class TurnClient:
    """A device of its person's that reads and types. It is the conversation's outlet to itself."""

    def __init__(
        self, conversation: Conversation, who: Principal, device: str, *, is_agent: bool = False
    ) -> None:
        """`is_agent`: what it types are a model's words, and not its person's."""
        self.conversation = conversation
        self._is_agent = is_agent
        self.device = device
        self.may_approve = who.may("approve")
        self.is_over = False
        """The server is done with what was asked last."""
        self._waiting: deque[FromServer] = deque()
        self._news = asyncio.Event()
        self._newest = 0
        self._before: int | None = None
        self._began = False
        self._shown_at: dict[str, float] = {}
        """When a question was shown, by its id."""
        self._has_left = False
        self.question: ApprovalRequest | None = None
        """What waits for a yes."""

    def join(self) -> None:
        """Take part from here on."""
        joined = Joined(
            self.device,
            speaks=False,
            may_approve=self.may_approve,
            may_open=False,
            may_admin=False,
            is_agent=self._is_agent,
        )
        self.conversation.join(joined, self)

    def leave(self) -> None:
        """Take part no more; it may be said twice."""
        if not self._has_left:
            self._has_left = True
            self.conversation.leave(self.device)

    # ── What the client wants ────────────────────────────────────────────────────────────────────

    def ask(self, text: str) -> None:
        """Type this; what comes from now on is the answer."""
        self._before, self._began, self.is_over = self._newest, False, False
        self.conversation.happened(Typed(self.device, text))

    async def reply(self, text: str, question: str) -> None:
        """Type this while a question stands on the client's screen."""
        self.is_over = False
        now = asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, self._shown_at.get(question, now) + TYPED_AFTER_S - now))
        self.conversation.happened(Typed(self.device, text, question=question))

    def decide(self, question: str, nonce: str, *, approved: bool) -> None:
        """Answer a question as a tap does."""
        self.is_over = False
        answer = partial(ApprovalAnswered, self.device, question, nonce, code=None)
        self.conversation.happened(answer("yes") if approved else answer("no"))

    def shown(self, question: str) -> None:
        """The client was sent all of a question."""
        self._shown_at[question] = asyncio.get_running_loop().time()
        self.conversation.happened(QuestionShown(self.device, question))

    def stop(self) -> None:
        """End what was asked."""
        self.conversation.happened(Interrupted(self.device, None, 0))

    async def next(self) -> FromServer | None:
        """What the conversation tells next about what was asked; None when that is over."""
        while not self._waiting:
            if self.is_over:
                return None
            self._news.clear()
            await self._news.wait()
        return self._waiting.popleft()

    # ── Outlet: what the conversation hands over ─────────────────────────────────────────────────

    def tell(self, message: FromServer, ticket: Ticket) -> None:
        """Keep what belongs to what was asked."""
        self._newest = max(self._newest, ticket.turn)
        if self._before is None:
            return
        ours = ticket.turn > self._before
        match message:
            case TurnState(work=work):
                self._began = self._began or (ours and work != "idle")
                if self._began and work == "idle":
                    self.question = None
                    # What it took is told with the same breath.
                    asyncio.get_running_loop().call_soon(self._end)
            case Announce(answers=True):
                self._keep(message)
                self._answered_beside()
            case Announce(priority="low") if not self._began:
                # Why what was said does not count: a yes that may not be given here.
                self._keep(message)
                self._answered_beside()
            case Error() if not ours and ticket.turn == self._before:
                self._keep(message)
                self._end()
            case ApprovalRequest() | ApprovalDone():
                self.question = message if isinstance(message, ApprovalRequest) else None
                self._keep(message)
            case _ if ours:
                self._keep(message)

    def _answered_beside(self) -> None:
        """Words beside the work begin no turn; the work may go on."""
        if self.question:
            loop = asyncio.get_running_loop()
            loop.call_later(SETTLES_WITHIN_S, self._end_if_asked, self.question)
        elif not self._began:
            self._end()

    def _end_if_asked(self, question: ApprovalRequest) -> None:
        if self.question is question:
            self._end()

    def send(self, speech: Send) -> None:
        """It has no loudspeaker."""

    def _keep(self, message: FromServer) -> None:
        if len(self._waiting) >= WAITING_AT_MOST:
            self._waiting.clear()
            self._waiting.append(Error("too_slow", "The client did not read what it was sent."))
            self._end()
            self.leave()
            return
        self._waiting.append(message)
        self._news.set()

    def _end(self) -> None:
        self.is_over = True
        self._news.set()
