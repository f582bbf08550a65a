"""An approval counts for exactly what was asked, once, and not for ever."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalDone, ApprovalRequest
from sayso.server.agent.permissions.approvals import ApprovalDecision, Approvals, Decision, Proposal
from sayso.server.agent.record.journal import Journal
from sayso.server.store.errors import StoreError
from sayso.server.store.event_log import EventLog
from sayso.server.store.records import ApprovalClosed, ApprovalOpened

pytestmark = pytest.mark.virtual_time

REQUEST = Proposal("run1", "python", "print(1)", "/w", ("write /w",))


class Counter:
    """A desk, and someone in front of it."""

    def __init__(self, approvals: Approvals, log: EventLog) -> None:
        self.approvals = approvals
        self.settled: list[str] = []
        self._log = log

    async def ask(
        self,
        then: Callable[[ApprovalRequest], Awaitable[None]] | None = None,
        request: Proposal = REQUEST,
    ) -> ApprovalDecision:
        async def tell(event: ApprovalRequest | ApprovalDone) -> None:
            if isinstance(event, ApprovalDone):
                self.settled.append(event.decision)
            elif then is not None:
                await then(event)

        return await self.approvals.ask(request, tell)

    async def close_log(self) -> None:
        """From now on nothing is kept."""
        await self._log.close()

    async def logged(self) -> list[object]:
        return [event.record for event in await self._log.conversation("c")]


@pytest.fixture
async def counter(tmp_path: Path) -> AsyncIterator[Counter]:
    log = await EventLog.open(tmp_path / "log.db")
    yield Counter(Approvals(await Journal.open(log, "c"), expires_s=60.0), log)
    await log.close()


async def test_yes_allows_exactly_what_was_asked(counter: Counter) -> None:
    async def yes(asked: ApprovalRequest) -> None:
        assert counter.approvals.answer(asked.id, asked.nonce, "yes", None, "kitchen")

    ruling = await counter.ask(yes)
    assert (ruling.decision, ruling.by, ruling.allows) == ("yes", "kitchen", True)
    assert ruling.covers(REQUEST)
    for other in (
        replace(REQUEST, code="print(2)"),
        replace(REQUEST, language="bash"),
        replace(REQUEST, where="/"),
        replace(REQUEST, may_touch=("write /w", "the network")),
    ):
        assert not ruling.covers(other)


async def test_no_allows_nothing(counter: Counter) -> None:
    async def no(asked: ApprovalRequest) -> None:
        counter.approvals.answer(asked.id, asked.nonce, "no", None, "kitchen")

    ruling = await counter.ask(no)
    assert not ruling.allows
    assert not ruling.covers(REQUEST)


async def test_edited_code_is_what_is_allowed(counter: Counter) -> None:
    async def edit(asked: ApprovalRequest) -> None:
        assert not counter.approvals.answer(asked.id, asked.nonce, "edit", None, "kitchen")
        assert counter.approvals.answer(asked.id, asked.nonce, "edit", "print(2)", "kitchen")

    ruling = await counter.ask(edit)
    assert ruling.covers(replace(REQUEST, code="print(2)"))
    assert not ruling.covers(REQUEST)


async def test_code_that_comes_with_a_yes_is_not_taken(counter: Counter) -> None:
    async def sly(asked: ApprovalRequest) -> None:
        counter.approvals.answer(asked.id, asked.nonce, "yes", "print('other')", "kitchen")

    assert (await counter.ask(sly)).covers(REQUEST)


async def test_silence_denies_after_a_while(counter: Counter) -> None:
    clock = asyncio.get_running_loop().time
    begun = clock()
    ruling = await counter.ask()
    assert clock() - begun == 60.0
    assert (ruling.decision, ruling.by, ruling.allows) == ("expired", "", False)


async def test_a_wrong_nonce_settles_nothing_and_the_right_one_counts_once(
    counter: Counter,
) -> None:
    async def guess(asked: ApprovalRequest) -> None:
        assert not counter.approvals.answer(asked.id, "", "yes", None, "x")
        assert not counter.approvals.answer(asked.id, asked.nonce + "é", "yes", None, "x")
        assert not counter.approvals.answer("other", asked.nonce, "yes", None, "x")
        assert counter.approvals.answer(asked.id, asked.nonce, "no", None, "kitchen")
        assert not counter.approvals.answer(asked.id, asked.nonce, "yes", None, "late")

    ruling = await counter.ask(guess)
    assert (ruling.decision, ruling.by) == ("no", "kitchen")


async def test_of_answers_that_come_at_once_the_first_alone_settles_it(counter: Counter) -> None:
    async def both(asked: ApprovalRequest) -> None:
        answers: list[tuple[Decision, str | None]] = [
            ("no", None),
            ("yes", None),
            ("edit", "print(2)"),
            ("yes", None),
        ]
        taken = [
            counter.approvals.answer(asked.id, asked.nonce, decision, code, f"device {number}")
            for number, (decision, code) in enumerate(answers)
        ]
        assert taken == [True, False, False, False]

    ruling = await counter.ask(both)
    assert (ruling.decision, ruling.by) == ("no", "device 0")
    assert counter.settled == ["no"]


async def test_an_answer_that_comes_too_late_does_not_count(counter: Counter) -> None:
    kept: list[ApprovalRequest] = []

    async def keep(asked: ApprovalRequest) -> None:
        kept.append(asked)

    await counter.ask(keep)
    assert not counter.approvals.answer(kept[0].id, kept[0].nonce, "yes", None, "kitchen")


async def test_open_questions_are_listed_with_the_time_that_they_have_left(
    counter: Counter,
) -> None:
    asking = asyncio.ensure_future(counter.ask())
    await asyncio.sleep(20)
    (asked,) = counter.approvals.open
    assert (asked.code, asked.expires_s) == ("print(1)", 40.0)
    assert counter.approvals.answer(asked.id, asked.nonce, "yes", None, "phone")
    assert (await asking).by == "phone"
    assert counter.approvals.open == []


async def test_who_is_cancelled_withdraws_the_question(counter: Counter) -> None:
    asking = asyncio.ensure_future(counter.ask())
    await asyncio.sleep(1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert counter.approvals.open == []
    _opened, closed = await counter.logged()
    assert isinstance(closed, ApprovalClosed)
    assert closed.decision == "cancelled"


async def test_who_approved_what_is_in_the_log(counter: Counter) -> None:
    async def edit(asked: ApprovalRequest) -> None:
        counter.approvals.answer(asked.id, asked.nonce, "edit", "print(2)", "kitchen")

    ruling = await counter.ask(edit)
    opened, closed = await counter.logged()
    assert opened == ApprovalOpened(
        ruling.id, "run1", "python", "print(1)", "/w", ("write /w",), REQUEST.binding, 60.0
    )
    assert closed == ApprovalClosed(ruling.id, "run1", "edit", "kitchen", ruling.request.binding)
    assert REQUEST.binding != ruling.request.binding


async def test_an_answer_that_could_not_be_kept_counts_for_nothing_and_is_taken_down(
    counter: Counter,
) -> None:
    async def yes_to_a_closed_log(asked: ApprovalRequest) -> None:
        assert counter.approvals.answer(asked.id, asked.nonce, "yes", None, "kitchen")
        await counter.close_log()

    with pytest.raises(StoreError):
        await counter.ask(yes_to_a_closed_log)
    assert counter.settled == ["cancelled"]
    assert counter.approvals.open == []


async def test_nobody_is_asked_what_no_screen_can_show_whole(counter: Counter) -> None:
    async def never(asked: ApprovalRequest) -> None:
        raise AssertionError(asked)

    ruling = await counter.ask(never, replace(REQUEST, code="汉" * 24_000))
    assert (ruling.decision, ruling.allows) == ("too_long", False)
    assert not ruling.covers(ruling.request)
    assert await counter.logged() == []
