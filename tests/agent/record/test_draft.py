"""The server ends in the middle of an answer: what was said is kept, and the talk goes on there."""

import asyncio
import time
from contextlib import aclosing

import pytest

from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.loop import Agent
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_history import History
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.draft import EVERY_S, Draft
from sayso.server.agent.record.journal import HalfSaid, Journal
from sayso.server.store.records import (
    Answered,
    Asked,
    Call,
    CutOff,
    Event,
    Failed,
    Interrupted,
    Record,
    RunReported,
    SpeechBegan,
    SpokenOut,
    Uttered,
    Withdrawn,
)
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, says

CALL = Call("a", "python", "1")


@pytest.mark.parametrize(
    ("records", "unfinished"),
    [
        ([], False),
        ([Asked("go")], True),
        ([Asked("go"), Answered("Done.")], False),
        ([Asked("go"), Answered("Wait.", (CALL,))], True),
        ([Asked("go"), Answered("Wait.", (CALL,)), RunReported("a", "ok"), Answered("So.")], False),
        ([Asked("go"), Answered("Do", whole="cut")], True),
        ([Asked("go"), Answered("Do", whole="cut"), Failed("Gone.")], False),
        ([Asked("go"), Interrupted()], False),
        ([Asked("go"), CutOff()], False),
    ],
)
def test_the_log_tells_whether_a_request_is_still_worked_on(
    records: list[Record], unfinished: bool
) -> None:
    assert History(records).unfinished == unfinished


def test_what_was_said_of_it_is_kept_once_and_the_whole_takes_its_place() -> None:
    begun: list[Record] = [Asked("tell"), Uttered("Once upon "), Uttered("a time ")]
    (exchange,) = History([*begun, CutOff()]).exchanges
    assert exchange.cut_off
    assert [step.text for step in exchange.steps] == ["Once upon a time "]
    (exchange,) = History([*begun, Answered("Once upon a time there was.")]).exchanges
    assert [step.text for step in exchange.steps] == ["Once upon a time there was."]


@pytest.mark.virtual_time
async def test_a_growing_reply_is_kept_each_second_and_a_short_one_not_at_all(
    rig: AgentRig,
) -> None:
    draft = Draft(rig.journal)
    await draft.grew("Short.")
    draft.ended()
    for _ in range(6):
        await draft.grew("word ")
        await asyncio.sleep(EVERY_S / 2)
    kept = [record.text for record in await rig.records(Uttered)]
    assert kept == ["word word word ", "word word "]


async def test_after_the_end_the_model_is_told_how_far_it_came_and_goes_on(rig: AgentRig) -> None:
    for record in (Asked("tell me of Tom"), Uttered("Tom is a ")):
        await rig.journal.note("model", record)
    journal = await Journal.open(rig.log, rig.journal.conversation)
    assert journal.cut_off == "tell me of Tom"
    again = await Journal.open(rig.log, rig.journal.conversation)
    assert again.cut_off == "tell me of Tom"  # until the person comes back to it
    rig.model.add(says("cat."))
    agent = Agent(
        Backend(rig.litellm("no"), profile("default")),
        await rig.code_runner(),
        rig.approvals,
        ConversationRecord(again),
    )
    async with aclosing(agent.work("go on")) as events:
        async for _ in events:
            pass
    asked, told, last = rig.sent()
    assert (asked["content"], told["content"]) == ("tell me of Tom", "Tom is a ")
    assert last["content"].startswith("(Your program ended in the middle of that")
    assert again.cut_off == ""
    assert len(await rig.records(CutOff)) == 1


async def test_an_open_question_is_put_again_and_not_called_cut_off(rig: AgentRig) -> None:
    agent = await rig.agent(Reply("I do it.\n```python\nprint(1)\n```\n"), calls_tools="no")
    async with aclosing(agent.work("go")) as events:
        async for _ in events:
            if rig.approvals.open:
                break
        again = await Journal.open(rig.log, rig.journal.conversation)
    assert (again.waits, again.cut_off) == (True, "")


@pytest.mark.parametrize(
    ("ago_s", "characters", "again"),
    [(10.0, 20, True), (600.0, 20, False), (300.0, 4_000, True)],
    ids=["just now", "long ago", "a long answer"],
)
async def test_what_was_being_said_is_said_again_if_it_was_of_late(
    rig: AgentRig, ago_s: float, characters: int, again: bool
) -> None:
    began, answer = time.time() - ago_s, "a" * characters
    for record in (Asked("tell"), Answered(answer), SpeechBegan("shelf")):
        await rig.log.append(Event("other", "server", record, None, began))
    journal = await Journal.open(rig.log, "other")
    assert journal.half_said == (HalfSaid("shelf", answer) if again else None)
    assert (await Journal.open(rig.log, "other")).half_said is None


@pytest.mark.parametrize(
    "then",
    [[Uttered("Once upon "), CutOff()], [Answered("Once upon a time."), Withdrawn("tell")]],
    ids=["told of as cut off", "taken back by who spoke on"],
)
async def test_what_began_to_be_said_and_came_to_nothing_is_not_said_again(
    rig: AgentRig, then: list[Record]
) -> None:
    for record in (
        Asked("hello"),
        Answered("Hello."),
        SpokenOut(),
        Asked("tell"),
        SpeechBegan("shelf"),
        *then,
    ):
        await rig.journal.note("server", record)
    journal = await Journal.open(rig.log, rig.journal.conversation)
    assert journal.half_said is None


async def test_a_failure_that_was_being_said_is_no_answer_to_say_again(rig: AgentRig) -> None:
    for record in (Asked("tell"), Failed("The model is away."), SpeechBegan("shelf")):
        await rig.journal.note("server", record)
    journal = await Journal.open(rig.log, rig.journal.conversation)
    assert journal.half_said is None
