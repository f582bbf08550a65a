"""Runs turns from question to end of answer without a person: for files, pipes, benchmarks."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final, Literal

from sayso.client.errors import ClientError, LinkError, TimeUp, TurnFailed
from sayso.client.session.link_events import LinkChange, LinkState
from sayso.client.session.session import Session
from sayso.client.terminal.events import AudioDone, Screen, Seen
from sayso.protocol.codec import Envelope
from sayso.protocol.messages import (
    Announce,
    ApprovalRequest,
    Approve,
    CodeEnd,
    Command,
    CommandDone,
    Conversation,
    Error,
    SttFinal,
    Text,
    TurnState,
)

AWAY_SECONDS = 3.0
"""How long nobody may answer: a restart takes about so long, and a script should not hang."""
UNREADY_SECONDS = 30.0
"""How long somebody may be there without greeting us: a first start loads models."""

ORIENTED_SECONDS = 0.5
"""How long to wait for the first `turn.state`, which comes with the welcome."""
LINGER_SECONDS = 0.05
"""What belongs to a turn may come just after its end: how long it took."""

Ask = Callable[[], Awaitable[None]]
Decide = Callable[[ApprovalRequest], Awaitable[Approve]]
ReadAnswer = Callable[[], Awaitable[str]]
"""What the person answers to a question of running code; empty where nobody is there any more."""


class TurnWatch:
    """Knows when the turn that was asked for is over. A screen that passes everything on.

    Other devices may be talking with the same server: a turn that began before we asked is theirs.
    """

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._newest = 0
        """The newest turn seen."""
        self._before: int | None = None
        """The newest turn when we began to ask."""
        self._asked = False
        self._began = False
        self._ended = False
        self._trouble: ClientError | None = None
        self._last_reason = "The server does not answer."
        self.up = False
        """The line is up."""
        self.somebody = False
        """Somebody took the last connection, though perhaps without a word."""
        self._greeted = False
        self.oriented = False
        """The server has said which turn it is."""
        self.misplaced: ClientError | None = None
        """This is not the conversation that was wanted, so nothing is asked in it."""
        self.changed = asyncio.Event()
        self.questions: asyncio.Queue[ApprovalRequest | Announce | CodeEnd] = asyncio.Queue()
        """What the person is asked, and the ends of code that may have asked."""

    def show(self, seen: Seen) -> None:
        self._screen.show(seen)
        if isinstance(seen, LinkChange):
            self._line(seen)
        elif isinstance(seen, Envelope):
            self._message(seen)
        elif not isinstance(seen, AudioDone):
            return
        self.changed.set()

    def asking(self) -> None:
        """The person begins to ask; what the server does from now on is the answer."""
        self._before = self._newest
        self._asked = self._began = self._ended = False
        self._trouble = None

    def asked(self) -> None:
        """All that the person had to say has been said."""
        self._asked = True
        self.changed.set()

    @property
    def over(self) -> bool:
        """The server is done with the turn; some of the answer may still be playing."""
        return self._asked and self._ended

    @property
    def trouble(self) -> ClientError | None:
        """What went wrong, once nothing more can be expected."""
        if isinstance(self._trouble, TurnFailed) and self._began and not self._ended:
            return None
        return self._trouble

    @property
    def away(self) -> LinkError:
        """Why the line is not up."""
        return LinkError(self._last_reason)

    def _line(self, change: LinkChange) -> None:
        self.up = change.state is LinkState.UP
        match change.state:
            case LinkState.CONNECTING:
                self._greeted = False
            case LinkState.GREETING:
                self._greeted = self.somebody = True
            case LinkState.WAITING:
                self.somebody = self._greeted
        self._last_reason = change.reason or self._last_reason
        if change.state is LinkState.REFUSED:
            self._trouble = LinkError(change.reason)
        elif change.session == "anew":
            # The new server counts turns anew.
            self._newest = 0
            self._before = None if self._before is None else 0
            if any(isinstance(message, Text) for message in change.lost):
                self._trouble = LinkError("The server began anew and lost the question: ask again.")

    def _message(self, envelope: Envelope) -> None:
        turn = envelope.turn or 0
        if isinstance(envelope.message, Error) and not self.oriented:
            self.misplaced = TurnFailed(envelope.message.message)
        self.oriented = self.oriented or isinstance(envelope.message, TurnState)
        self._newest = max(self._newest, turn)
        ours = self._before is not None and turn > self._before
        match envelope.message:
            case TurnState(ears=ears, work=work, mouth=mouth) if ours:
                idle = (ears, work, mouth) == ("idle", "idle", "silent")
                self._began = self._began or not idle
                self._ended = self._began and idle
            case Conversation():
                # Turns count anew there.
                self._newest = turn
                self._before = None if self._before is None else turn
            case SttFinal(text="") | CommandDone() if self._asked:
                # Nothing was understood, or no question was asked: no turn begins.
                self._began = self._ended = True
            case Announce(answers=True) if self._asked and not self._began:
                # Code is at work for another turn, and the words were beside it or for it.
                self._began = self._ended = True
            case ApprovalRequest() | CodeEnd() as question if ours:
                self.questions.put_nowait(question)
            case Announce(asks=True) as question if self._began:
                self.questions.put_nowait(question)
            case Error(message=message) if ours or turn == self._before:
                self._trouble = self._trouble or TurnFailed(message)
            case _:
                pass


async def run_turns(
    session: Session,
    watch: TurnWatch,
    asks: AsyncIterator[Ask],
    decide: Decide,
    timeout: float,
    read_answer: ReadAnswer | None = None,
) -> None:
    """Asks, waits until the turn is over and the answer has been played, asks again; then leaves.

    Raises a `ClientError` if a turn ends otherwise than with an answer. `timeout` is for each turn.
    Questions of running code are answered by `read_answer`; without it, nobody is there to.
    """
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(session.run())
        deciding = tasks.create_task(_decide(session, watch, decide, read_answer))
        trouble: ClientError | None = None
        async for ask in asks:
            try:
                async with asyncio.timeout(timeout):
                    trouble = await _turn(session, watch, ask)
                    await asyncio.sleep(LINGER_SECONDS)
            except TimeoutError:
                trouble = TimeUp(f"The turn was not over after {timeout:g} seconds.")
            except ClientError as error:
                trouble = error
            if trouble is not None:
                break
        deciding.cancel()
        await session.leave()
        await running
    if trouble is not None:
        raise trouble


COMMAND: Final = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
"""A command's name."""


def put(session: Session, line: str, files: tuple[str, ...] = ()) -> None:
    """Asks what a typed line asks: `/name …` is a command, `/etc/hosts …` begins a question."""
    name, _, rest = line.removeprefix("/").partition(" ")
    if line.startswith("/") and COMMAND.fullmatch(name):
        session.send(Command(name, rest.strip()))
    else:
        session.say(line, files)


async def once(ask: Ask) -> AsyncGenerator[Ask, None]:
    """The one thing to be asked."""
    yield ask


async def _turn(session: Session, watch: TurnWatch, ask: Ask) -> ClientError | None:
    reason = await _connected(watch)
    if reason is not None:
        return reason
    await _oriented(watch)
    if watch.misplaced is not None:
        return watch.misplaced
    watch.asking()
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
    loop = asyncio.get_running_loop()
    began = loop.time()
    while not watch.up and watch.trouble is None:
        patience = UNREADY_SECONDS if watch.somebody else AWAY_SECONDS
        watch.changed.clear()
        try:
            async with asyncio.timeout_at(began + patience):
                await watch.changed.wait()
        except TimeoutError:
            return watch.away
    return watch.trouble


async def _oriented(watch: TurnWatch) -> None:
    """Waits for the state of the conversation, which follows the welcome."""
    with suppress(TimeoutError):
        async with asyncio.timeout(ORIENTED_SECONDS):
            while not watch.oriented and watch.trouble is None:
                watch.changed.clear()
                await watch.changed.wait()


async def _decide(
    session: Session, watch: TurnWatch, decide: Decide, read_answer: ReadAnswer | None
) -> None:
    question = await watch.questions.get()
    while True:
        next_question = asyncio.create_task(watch.questions.get())
        try:
            if isinstance(question, ApprovalRequest):
                session.send(await decide(question))
            elif isinstance(question, Announce) and read_answer:
                await _answer(session, read_answer, next_question)
            question = await next_question
        finally:
            next_question.cancel()


async def _answer(
    session: Session,
    read_answer: ReadAnswer,
    over: "asyncio.Task[ApprovalRequest | Announce | CodeEnd]",
) -> None:
    """Sends what the person answers, unless the question is over before they do."""
    reading = asyncio.ensure_future(read_answer())
    try:
        await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
        if reading.done() and (line := reading.result()):
            session.say(line)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)  # it gives the terminal back


def always(decision: Literal["yes", "no"]) -> Decide:
    """Answers every request to run code alike; more reach needs a person, and is denied."""

    async def decide(request: ApprovalRequest) -> Approve:
        answer = decision if request.kind == "run" else "no"
        return Approve(request.id, request.nonce, answer)

    return decide
