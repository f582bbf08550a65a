"""The scheduler shares a recogniser that takes several passes at once."""

import asyncio
from collections.abc import Callable, Coroutine

import pytest

from sayso.server.speech.errors import TooManySpeak
from sayso.server.speech.recognition.recognizer import Transcript
from sayso.server.speech.recognition.scheduler import (
    REFUSED_AFTER_S,
    TOLD_AFTER_S,
    FixedCapacity,
    Overtaken,
    PassScheduler,
    Rank,
)

pytestmark = pytest.mark.virtual_time


class Passes:
    """Passes that take a second each, and how many run."""

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.begun: list[str] = []

    def named(self, name: str) -> Callable[[], Coroutine[None, None, Transcript]]:
        async def work() -> Transcript:
            self.begun.append(name)
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await asyncio.sleep(1.0)
            finally:
                self.running -= 1
            return Transcript(name)

        return work


async def test_as_many_passes_run_as_may_and_the_most_urgent_of_the_others_come_next() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(2)), Passes()
    asks = [
        scheduler.ask(rank, passes.named(f"{rank.name} {number}"))
        for rank in (Rank.GUESS, Rank.DRAFT)
        for number in range(3)
    ]
    asks.append(scheduler.ask(Rank.GUESS, passes.named("last")))
    texts = [(await ask.result).text for ask in asks]
    assert passes.most == 2
    assert passes.begun[:4] == ["GUESS 0", "GUESS 1", "GUESS 2", "last"]
    assert texts == [f"{rank} {number}" for rank in ("GUESS", "DRAFT") for number in range(3)] + [
        "last"
    ]


async def test_a_final_takes_the_place_of_the_least_urgent_and_of_no_other() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(2)), Passes()
    draft = scheduler.ask(Rank.DRAFT, passes.named("draft"))
    guess = scheduler.ask(Rank.GUESS, passes.named("guess"))
    await asyncio.sleep(0.5)
    now = asyncio.get_running_loop().time()
    finals = [scheduler.ask(Rank.FINAL, passes.named(f"final {n}")) for n in range(2)]
    for final in finals:
        await final.result
    assert asyncio.get_running_loop().time() == now + 1.0
    for ask in (guess, draft):
        with pytest.raises(Overtaken):
            await ask.result
    assert passes.most == 2


async def test_one_that_was_given_up_makes_room_without_another_being_overtaken() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(2)), Passes()
    given_up = scheduler.ask(Rank.DRAFT, passes.named("given up"))
    draft = scheduler.ask(Rank.DRAFT, passes.named("draft"))
    await asyncio.sleep(0.5)
    scheduler.forget(given_up)
    final = scheduler.ask(Rank.FINAL, passes.named("final"))
    assert (await final.result).text == "final"
    assert (await draft.result).text == "draft"


class Growing(FixedCapacity):
    """One place, and another as soon as somebody has to wait."""

    def __init__(self) -> None:
        super().__init__(1)
        self.asked = 0

    def crowded(self) -> None:
        self.asked += 1
        self.places = 2


async def test_drafts_leave_a_place_for_a_final_where_there_are_several() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(3)), Passes()
    drafts = [scheduler.ask(Rank.DRAFT, passes.named(f"draft {number}")) for number in range(5)]
    await asyncio.sleep(0.5)
    assert passes.running == 2
    now = asyncio.get_running_loop().time()
    await scheduler.ask(Rank.FINAL, passes.named("final")).result
    assert asyncio.get_running_loop().time() == now + 1.0
    await asyncio.gather(*(draft.result for draft in drafts))


async def test_more_places_are_asked_for_when_somebody_waits_for_others_and_not_before() -> None:
    capacity, passes = Growing(), Passes()
    scheduler = PassScheduler(capacity)
    scheduler.ask(Rank.DRAFT, passes.named("draft"))
    await asyncio.sleep(0.5)
    first = scheduler.ask(Rank.FINAL, passes.named("final"))
    await asyncio.sleep(0.5)
    assert capacity.asked == 0
    second = scheduler.ask(Rank.FINAL, passes.named("another's"))
    assert capacity.asked == 1
    await asyncio.gather(first.result, second.result)


async def test_who_waits_long_for_others_is_told_and_refused_in_the_end() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(1)), Passes()
    for number in range(20):
        scheduler.ask(Rank.FINAL, passes.named(f"final {number}"))
    clock = asyncio.get_running_loop().time
    began, told = clock(), list[float]()
    late = scheduler.ask(Rank.FINAL, passes.named("late"))
    with pytest.raises(TooManySpeak, match="say it again"):
        await scheduler.result(late, lambda: told.append(clock() - began))
    assert told == [TOLD_AFTER_S]
    assert clock() - began == REFUSED_AFTER_S
    await asyncio.sleep(30.0)
    assert "late" not in passes.begun


async def test_who_waits_a_little_is_told_nothing() -> None:
    scheduler, passes = PassScheduler(FixedCapacity(1)), Passes()
    scheduler.ask(Rank.FINAL, passes.named("first"))
    second = scheduler.ask(Rank.FINAL, passes.named("second"))
    told: list[str] = []
    assert (await scheduler.result(second, lambda: told.append("busy"))).text == "second"
    assert told == []
