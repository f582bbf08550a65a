"""One turn, from asking to silence, without a person at the keys: for files, pipes, benchmarks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from sayso.client.errors import ClientError, LinkError, TimeUp, TurnFailed
from sayso.client.link import LinkChange, LinkState
from sayso.client.seen import AudioDone, Screen, Seen
from sayso.client.session import Session
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import (
    ApprovalRequest,
    Approve,
    Error,
    ReplyDelta,
    SttFinal,
    TurnState,
)

PATIENCE_SECONDS = 3.0
"""How long the server may be away: a restart takes about so long, and a script should not hang."""

LINGER_SECONDS = 0.05
"""What belongs to a turn may come just after its end: how long it took."""

Decide = Callable[[ApprovalRequest], Awaitable[Approve]]


class TurnWatch:
    """Knows when the turn that was asked for is over. A screen that passes everything on."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._asked = False
        self._began = False
        self._idle = True
        self._trouble: ClientError | None = None
        self._up = False
        self.last_reason = "The server does not answer."
        self.changed = asyncio.Event()
        self.approvals: asyncio.Queue[ApprovalRequest] = asyncio.Queue()

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        if isinstance(seen, LinkChange):
            self._line(seen)
        elif isinstance(seen, Envelope):
            self._message(seen)
        elif not isinstance(seen, AudioDone):
            return
        self.changed.set()

    def asked(self) -> None:
        """All that the person had to say has been said."""
        self._asked = True
        self.changed.set()

    @property
    def up(self) -> bool:
        return self._up

    @property
    def over(self) -> bool:
        """The server is done with the turn; some of the answer may still be playing."""
        return self._asked and self._began and self._idle

    @property
    def trouble(self) -> ClientError | None:
        """What went wrong, once nothing more can be expected."""
        if isinstance(self._trouble, TurnFailed) and not self._idle:
            return None
        return self._trouble

    def _line(self, change: LinkChange) -> None:
        self._up = change.state is LinkState.UP
        self.last_reason = change.reason or self.last_reason
        if change.state is LinkState.REFUSED:
            self._trouble = LinkError(change.reason)
        elif change.lost:
            self._trouble = LinkError("The server started anew and lost the question; ask again.")

    def _message(self, envelope: Envelope) -> None:
        match envelope.message:
            case TurnState(ears=ears, work=work, mouth=mouth):
                self._idle = (ears, work, mouth) == ("idle", "idle", "silent")
                self._began = self._began or not self._idle
            case SttFinal() | ReplyDelta():
                self._began = True
            case ApprovalRequest() as request:
                self.approvals.put_nowait(request)
            case Error(message=message):
                self._trouble = self._trouble or TurnFailed(message)
            case _:
                pass


async def run_once(
    session: Session,
    watch: TurnWatch,
    ask: Callable[[], Awaitable[None]],
    decide: Decide,
    timeout: float,
) -> None:
    """Asks, waits until the turn is over and the answer has been played, and leaves.

    Raises a `ClientError` if it ended otherwise than with an answer.
    """
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(session.run())
        deciding = tasks.create_task(_decide(session, watch, decide))
        trouble: ClientError | None = None
        try:
            async with asyncio.timeout(timeout):
                trouble = await _turn(session, watch, ask)
                await asyncio.sleep(LINGER_SECONDS)
        except TimeoutError:
            trouble = TimeUp(f"The turn was not over after {timeout:g} seconds.")
        deciding.cancel()
        await session.leave()
        await running
    if trouble is not None:
        raise trouble


async def _turn(
    session: Session, watch: TurnWatch, ask: Callable[[], Awaitable[None]]
) -> ClientError | None:
    reason = await _connected(watch)
    if reason is not None:
        return reason
    await ask()
    watch.asked()
    while watch.trouble is None and not (watch.over and session.silent):
        watch.changed.clear()
        if watch.up:
            await watch.changed.wait()
        elif reason := await _connected(watch):
            return reason
    return watch.trouble


async def _connected(watch: TurnWatch) -> ClientError | None:
    """Waits for the line, but not for ever."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not watch.up and watch.trouble is None:
                watch.changed.clear()
                await watch.changed.wait()
    except TimeoutError:
        return LinkError(watch.last_reason)
    return watch.trouble


async def _decide(session: Session, watch: TurnWatch, decide: Decide) -> None:
    while True:
        session.send(await decide(await watch.approvals.get()))


def always(decision: Literal["yes", "no"]) -> Decide:
    """Answers every request alike."""

    async def decide(request: ApprovalRequest) -> Approve:
        return Approve(request.id, request.nonce, decision)

    return decide
