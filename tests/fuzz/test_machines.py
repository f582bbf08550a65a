"""Sessions, questions for a yes, and lines that break, in any order: what they promise holds."""

import asyncio
import tempfile
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sayso.protocol import messages as m
from sayso.protocol.errors import ProtocolError
from sayso.protocol.frames import PictureFrame
from sayso.protocol.version import SPOKEN
from sayso.server.agent.events import ApprovalDone, ApprovalRequest
from sayso.server.agent.permissions.approvals import (
    ApprovalDecision,
    Approvals,
    Decision,
    Proposal,
)
from sayso.server.agent.record.journal import Journal
from sayso.server.gateway.host import Outlet
from sayso.server.gateway.limits import Limits
from sayso.server.gateway.socket.session import Session
from sayso.server.gateway.socket.sessions import Sessions
from sayso.server.store.event_log import EventLog
from sayso.server.trust.principal import Principal
from sayso.server.turn.events import Event, Joined
from tests.fuzz.resuming import MISSED, Ends
from tests.virtual_time import VirtualTimeLoop

Result = TypeVar("Result")
WHICH = st.integers(0, 5)
EXPIRES_S = 60.0
KEPT_S = 30.0


class Timed(RuleBasedStateMachine):
    """Has a loop of its own, whose clock jumps."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualTimeLoop(limit_s=1e9)

    def do(self, work: Coroutine[None, None, Result]) -> Result:
        return self.loop.run_until_complete(work)

    @rule(seconds=st.sampled_from((0.1, 10.0, 40.0)))
    def time_passes(self, seconds: float) -> None:
        self.do(asyncio.sleep(seconds))

    def teardown(self) -> None:
        self.loop.close()


# ── Lines that break ─────────────────────────────────────────────────────────────────────────────


class AnyLine(RuleBasedStateMachine):
    """All that is told and said arrives once, in order, whenever the line breaks."""

    def __init__(self) -> None:
        super().__init__()
        self.ends = Ends()
        self.loop = VirtualTimeLoop()

    @rule(
        what=st.sampled_from(("ask", "send_down", "read_down", "send_up", "read_up", "settle")),
        times=st.integers(1, 8),
    )
    def something_moves(self, what: str, times: int) -> None:
        async def move() -> None:
            for _ in range(times):
                getattr(self.ends, what)()

        self.loop.run_until_complete(move())

    @rule(joined=st.booleans(), length=st.integers(0, 20))
    def somebody_speaks(self, joined: bool, length: int) -> None:
        self.ends.tell(joined=joined)
        self.ends.speak(length)

    @rule(on_the_way=st.integers(0, 3), missed=st.sampled_from(MISSED))
    def the_line_breaks(self, on_the_way: int, missed: int) -> None:
        self.ends.cut(on_the_way)
        for _ in range(missed):
            self.ends.tell(joined=False)
        self.ends.come_back()

    def teardown(self) -> None:
        async def settle() -> None:
            self.ends.settle()

        self.loop.run_until_complete(settle())
        self.loop.close()
        assert self.ends.got == self.ends.told
        assert self.ends.carried_out == self.ends.asked
        heard = [bytes(self.ends.heard[one + 1]) for one in range(len(self.ends.sounds))]
        assert heard == self.ends.sounds


# ── Questions ────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Question:
    """One that was asked, and what should become of it."""

    request: Proposal
    asked: ApprovalRequest
    ruling: "asyncio.Task[ApprovalDecision]"
    until: float
    decision: str = "expired"
    by: str = ""


class AnyAnswer(Timed):
    """A question is settled once, by the right nonce, in time; a yes covers what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        log = self.do(EventLog.open(Path(folder) / "log.db"))
        self.stack.push_async_callback(log.close)
        self.desk = Approvals(self.do(Journal.open(log, "c")), EXPIRES_S)
        self.questions: list[Question] = []

    @rule(tap=st.booleans())
    def code_wants_to_run(self, tap: bool) -> None:
        self.do(self._ask(tap))

    async def _ask(self, tap: bool) -> None:
        code = f"print({len(self.questions)})"
        request = Proposal(f"run{len(self.questions)}", "python", code, "/w", (), tap=tap)
        told: asyncio.Future[ApprovalRequest] = self.loop.create_future()

        async def tell(event: ApprovalRequest | ApprovalDone) -> None:
            if isinstance(event, ApprovalRequest):
                told.set_result(event)

        ruling = asyncio.create_task(self.desk.ask(request, tell))
        asked = await told
        self.questions.append(Question(request, asked, ruling, self.loop.time() + EXPIRES_S))

    @precondition(lambda self: self.questions)
    @rule(
        which=WHICH,
        nonce=st.sampled_from(("its own", "another's", "none")),
        decision=st.sampled_from(("yes", "no", "edit")),
        code=st.sampled_from((None, "print('mine')")),
        by_word=st.booleans(),
    )
    def somebody_answers(
        self, which: int, nonce: str, decision: Decision, code: str | None, by_word: bool
    ) -> None:
        question = self.questions[which % len(self.questions)]
        other = self.questions[(which + 1) % len(self.questions)]
        shown = {"its own": question.asked.nonce, "another's": other.asked.nonce}.get(nonce, "")
        is_open = question.decision == "expired" and self.loop.time() < question.until
        counts = (
            is_open
            and shown == question.asked.nonce
            and not (decision == "edit" and code is None)
            and not (decision == "yes" and by_word and question.request.tap)
        )
        by, name = f"device {which}", question.asked.id
        assert counts == self.desk.answer(name, shown, decision, code, by, by_word=by_word)
        if counts:
            question.decision, question.by = decision, by
        self.do(asyncio.sleep(0.01))

    @invariant()
    def what_was_ruled_is_what_was_decided(self) -> None:
        for question in self.questions:
            if not question.ruling.done():
                continue
            ruling = question.ruling.result()
            assert (ruling.decision, ruling.by) == (question.decision, question.by)
            assert ruling.covers(question.request) == (question.decision == "yes")
            for other in self.questions:
                assert other is question or not ruling.covers(other.request)

    def teardown(self) -> None:
        self.do(asyncio.sleep(EXPIRES_S + 1))
        assert all(question.ruling.done() for question in self.questions)
        self.what_was_ruled_is_what_was_decided()

        async def leave() -> None:
            assert self.desk.open == []
            await self.stack.aclose()

        self.do(leave())
        super().teardown()


# ── Sessions ─────────────────────────────────────────────────────────────────────────────────────


class Line:
    """A connection, which may be ended from within."""

    ended_by: ProtocolError | None = None

    def end(self, error: ProtocolError) -> None:
        self.ended_by = error


class Room:
    """A conversation that knows who is in it."""

    id = "main"

    def __init__(self) -> None:
        self.present: dict[str, Outlet] = {}
        self.gone: set[str] = set()

    def join(self, device: Joined, outlet: Outlet) -> None:
        assert device.device not in self.present, "two are called alike"
        self.present[device.device] = outlet

    def away(self, device: str) -> None:
        assert device in self.present
        self.gone.add(device)

    def back(self, device: Joined) -> None:
        assert device.device in self.gone
        self.gone.remove(device.device)

    def leave(self, device: str) -> None:
        del self.present[device]
        self.gone.discard(device)

    def snapshot(self) -> m.Snapshot:
        return m.Snapshot()

    def happened(self, event: Event) -> None: ...

    def put(self, device: str, piece: m.FilePut) -> None: ...

    def acted(self, device: str, result: m.ActResult) -> None: ...

    def pictured(self, device: str, piece: PictureFrame) -> None: ...

    def cancel_job(self, device: str, job: str) -> None: ...

    def command(self, device: str, name: str, text: str) -> None: ...


class AnySession(Timed):
    """A session is its own device's, is there once, and leaves the conversation when it is over."""

    LIMITS = Limits(sessions=4, resume_s=KEPT_S)
    DEVICES = tuple(Principal(name, "", frozenset(("talk",)), name) for name in ("a", "b"))

    def __init__(self) -> None:
        super().__init__()
        self.sessions = Sessions(self.LIMITS)
        self.room = Room()
        self.known: list[Session] = []
        """Every one that there ever was."""

    def is_there(self, session: Session) -> bool:
        return self.room.present.get(session.device) is session

    def hello(self, session: str | None = None) -> m.Hello:
        return m.Hello(SPOKEN, "test", features=("resume",), session=session, last_seq=0)

    @rule(who=st.sampled_from(DEVICES))
    def somebody_comes(self, who: Principal) -> None:
        async def come() -> None:
            session = self.sessions.make(self.hello(), who, self.room)
            session.begin(Line(), self.hello())
            self.known.append(session)

        self.do(come())
        assert self.is_there(self.known[-1])

    @precondition(lambda self: self.known)
    @rule(which=WHICH, who=st.sampled_from(DEVICES))
    def somebody_comes_back(self, which: int, who: Principal) -> None:
        session = self.known[-1 - which % len(self.known)]
        may = self.is_there(session) and who == session.who
        before = session.line

        async def come_back() -> None:
            found = self.sessions.find(self.hello(session.id), who)
            assert (found is session) == may
            if found:
                found.take_up(Line(), self.hello(session.id))

        self.do(come_back())
        if may and isinstance(before, Line):
            assert before.ended_by is not None

    @precondition(lambda self: self.known)
    @rule(which=WHICH, says_goodbye=st.booleans())
    def somebody_goes(self, which: int, says_goodbye: bool) -> None:
        session = self.known[-1 - which % len(self.known)]

        async def go() -> None:
            if says_goodbye:
                self.sessions.end(session)
            elif session.line:
                self.sessions.cut(session)

        self.do(go())
        assert not (says_goodbye and self.is_there(session))

    @rule(who=st.sampled_from(DEVICES))
    def a_device_is_turned_out(self, who: Principal) -> None:
        lines = [one.line for one in self.known if self.is_there(one) and one.who == who]

        async def turn_out() -> None:
            self.sessions.turn_out(who.device)

        self.do(turn_out())
        assert not any(one.who == who and self.is_there(one) for one in self.known)
        assert all(line.ended_by for line in lines if isinstance(line, Line))

    @invariant()
    def who_is_away_is_kept_for_a_while_and_up_to_a_bound(self) -> None:
        away = [one for one in self.known if self.is_there(one) and one.line is None]
        assert len(away) <= self.LIMITS.sessions
        assert all(one.away_since > self.loop.time() - KEPT_S - 1 for one in away)

    def teardown(self) -> None:
        async def end() -> None:
            self.sessions.end_all()

        self.do(end())
        assert not self.room.present
        super().teardown()


@pytest.mark.parametrize("machine", [AnyLine, AnyAnswer, AnySession])
def test_whatever_happens_in_whatever_order_a_little(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=3, deadline=None))


@pytest.mark.thorough
@pytest.mark.parametrize("machine", [AnyLine, AnyAnswer, AnySession])
def test_whatever_happens_in_whatever_order(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(machine, settings=settings(max_examples=25, deadline=None))
