"""From a request to an answer: what is said, run, given back and remembered."""

import asyncio
from contextlib import aclosing
from typing import Literal

import pytest

from sayso.server.agent.events import (
    AgentEvent,
    ApprovalDone,
    ApprovalRequest,
    CodeEnd,
    CodeOut,
    CodeStart,
    ReplyDelta,
    WorkDone,
)
from sayso.server.agent.limits import RequestLimits
from sayso.server.store.records import Answered, Interrupted, RunIntended, RunReported
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says

BOTH = pytest.mark.parametrize("calls_tools", ["yes", "no"])


@BOTH
async def test_code_is_asked_about_run_and_its_output_answered(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        runs("print(6 * 7)", "Let me see.\n"), says("It is ", "42."), calls_tools=calls_tools
    )
    said = await rig.ask(agent, "what is six times seven")
    assert said == "Let me see.\n\n\nIt is 42."
    assert rig.output == "42\n"
    kinds = [type(event) for event in rig.events]
    assert kinds == [
        ReplyDelta,
        ApprovalRequest,
        ApprovalDone,
        CodeStart,
        CodeOut,
        CodeEnd,
        ReplyDelta,
        ReplyDelta,
        WorkDone,
    ]
    assert rig.told(CodeStart)[0].code == "print(6 * 7)"
    assert "42" in rig.sent()[-1]["content"]


async def test_words_are_said_as_they_come_not_at_the_end(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=["It ", "is ", "42."], between_s=0.05))
    clock = asyncio.get_running_loop().time
    async with aclosing(agent.work("?")) as events:
        times = [clock() async for event in events if isinstance(event, ReplyDelta)]
    assert len(times) == 3
    assert times[2] - times[0] > 0.08


@BOTH
async def test_variables_last_and_the_model_sees_the_whole_conversation(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        runs("number = 6"), says("Noted."), runs("print(number * 7)"), says("42."),
        calls_tools=calls_tools,
    )  # fmt: skip
    await rig.ask(agent, "remember six")
    assert await rig.ask(agent, "times seven?") == "42."
    assert rig.output == "42\n"
    roles = [message["role"] for message in rig.sent()]
    result = "tool" if calls_tools == "yes" else "user"
    assert roles == ["user", "assistant", result, "assistant", "user", "assistant", result]


async def test_an_error_goes_back_and_is_mended(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print(1 / 0)"), runs("print(1 / 2)"), says("A half."))
    assert await rig.ask(agent, "divide") == "A half."
    first, second = rig.told(CodeEnd)
    assert (first.status, second.status) == ("error", "ok")
    told = rig.sent(1)[-1]["content"]
    assert "ZeroDivisionError" in told
    assert "failed" in told


async def test_a_dead_interpreter_is_told_and_survived(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs("import os; os._exit(3)"), runs("print('alive')"), says("I am back.")
    )
    assert await rig.ask(agent, "die") == "I am back."
    assert [ended.status for ended in rig.told(CodeEnd)] == ["died", "ok"]
    assert rig.output == "alive\n"


async def test_long_output_is_given_back_as_head_and_tail_with_a_note(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs("for number in range(20_000): print(number)"), says("Done."), mode="workspace"
    )
    await rig.ask(agent, "count")
    told = rig.sent()[-1]["content"]
    assert len(told) < RequestLimits().output_chars + 300
    assert ">\n0\n1\n" in told[:30]
    assert "\n19999\n</output" in told
    assert "left out here" in told


async def test_a_picture_is_shown_and_the_model_told_so(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"), says("There.")
    )
    await rig.ask(agent, "plot")
    pictures = [event.output for event in rig.told(CodeOut) if event.output.data]
    assert [picture.mime for picture in pictures] == ["image/png"]
    assert "[image/png shown to the person]" in rig.sent()[-1]["content"]


# Say-so.


async def test_no_is_a_message_to_the_model_and_nothing_runs(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print('ran')"), says("What would you like instead?"))
    said = await rig.ask(agent, "do it", "no")
    assert said == "What would you like instead?"
    assert rig.output == ""
    assert rig.told(CodeStart) == []
    assert "person said no" in rig.sent()[-1]["content"]
    assert [ended.detail for ended in rig.told(CodeEnd)] == ["It did not run."]
    assert await rig.records(RunIntended) == []


async def test_edited_code_runs_as_edited_and_the_model_is_told(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print('theirs')"), says("Done."))
    await rig.ask(agent, "do it", lambda _: ("edit", "print('mine')"))
    assert rig.output == "mine\n"
    assert rig.told(CodeStart)[0].code == "print('mine')"
    told = rig.sent()[-1]["content"]
    assert "The person changed the code" in told
    assert "print('mine')" in told
    (intended,) = await rig.records(RunIntended)
    assert isinstance(intended, RunIntended)
    assert intended.code == "print('mine')"


async def test_in_workspace_mode_nothing_is_asked(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print(1)"), says("One."), mode="workspace")
    await rig.ask(agent, "go")
    assert rig.told(ApprovalRequest) == []
    assert rig.output == "1\n"


async def test_what_is_about_to_run_is_written_down_before_it_runs(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print(1)"), says("One."))
    async with aclosing(agent.work("go")) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                assert await rig.records(RunIntended) == []
                rig.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
            if isinstance(event, CodeStart):
                assert len(await rig.records(RunIntended)) == 1
                assert await rig.records(RunReported) == []
    assert len(await rig.records(RunReported)) == 1


# Interruption.


@BOTH
async def test_cancelling_stops_the_code_and_leaves_a_valid_history(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        runs("print('begun')\nimport time\ntime.sleep(60)", "Wait."),
        runs("print('free')"),
        says("Here I am."),
        calls_tools=calls_tools,
        mode="workspace",
    )
    begun = asyncio.Event()

    async def listen() -> None:
        async for event in agent.work("sleep"):
            if isinstance(event, CodeOut):
                begun.set()

    listening = asyncio.ensure_future(listen())
    await asyncio.wait_for(begun.wait(), 20)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    (report,) = await rig.records(RunReported)
    assert isinstance(report, RunReported)
    assert (report.status, report.output) == ("interrupted", "begun\n")
    assert len(await rig.records(Interrupted)) == 1
    assert await rig.ask(agent, "are you there") == "Here I am."
    assert rig.output == "free\n"
    messages = rig.sent(1)
    assert "begun" in messages[2]["content"]
    assert "interrupted" in messages[2]["content"]
    assert "I stopped you" in messages[-1]["content"]


async def test_cancelling_stops_the_model_and_keeps_what_it_had_said(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=["Once upon ", "a time "], ending="hang"), says("Yes?"))
    heard = asyncio.Event()

    async def listen() -> None:
        async for event in agent.work("a story"):
            if isinstance(event, ReplyDelta) and "time" in event.text:
                heard.set()

    listening = asyncio.ensure_future(listen())
    await asyncio.wait_for(heard.wait(), 20)
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert await asyncio.to_thread(rig.model.was_left)
    (cut,) = await rig.records(Answered)
    assert (cut.text, cut.whole) == ("Once upon a time ", "cut")
    assert cut.tokens_in > 0  # as far as one can tell
    await rig.ask(agent, "wait")
    assert [message["role"] for message in rig.sent()] == ["user", "assistant", "user"]


async def test_leaving_the_iteration_stops_the_work_too(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=["a ", "b "], ending="hang"), says("Yes?"))
    async with aclosing(agent.work("go")) as events:
        async for _ in events:
            break
    assert await asyncio.to_thread(rig.model.was_left)
    assert await rig.ask(agent, "again") == "Yes?"


@BOTH
async def test_stopping_while_it_is_asked_withdraws_the_question(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(runs("print(1)"), says("Fine."), calls_tools=calls_tools)
    async with aclosing(agent.work("go")) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                asked = event
                break
    assert rig.approvals.open == []
    assert not rig.approvals.answer(asked.id, asked.nonce, "yes", None, "kitchen")
    await rig.ask(agent, "never mind")
    assert "did not run" in rig.sent()[2]["content"]


# What was heard.


async def test_an_answer_is_remembered_as_far_as_it_was_heard(rig: AgentRig) -> None:
    agent = await rig.agent(
        says("The first planet is Mercury. ", "The second is Venus. ", "The third is Earth."),
        says("Venus comes next."),
    )
    await rig.ask(agent, "name the planets")
    await agent.heard("The first planet is Mercury. The second")
    await rig.ask(agent, "go on")
    _asked, answered, again = rig.sent()
    assert answered["content"] == "The first planet is Mercury. The second"
    assert "did not hear your last answer to the end" in again["content"]
    assert again["content"].endswith("go on")


# Several requests.


async def test_requests_are_worked_on_one_at_a_time(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=["one"], before_s=0.2), says("two"))
    order: list[AgentEvent] = []

    async def listen(text: str) -> None:
        order.extend([event async for event in agent.work(text)])

    await asyncio.gather(listen("first"), listen("second"))
    assert [event.text for event in order if isinstance(event, ReplyDelta)] == ["one", "two"]


async def test_what_is_too_long_to_be_shown_whole_is_asked_of_nobody_and_the_model_is_told(
    rig: AgentRig,
) -> None:
    long = f"text = '{'汉' * 24_000}'\nprint(len(text))"
    agent = await rig.agent(runs(long), says("In pieces, then."), model=rig.litellm("no"))
    assert "In pieces" in await rig.ask(agent, "write a book")
    assert rig.told(ApprovalRequest) == []
    assert await rig.records(RunIntended) == []
    assert "several shorter pieces" in str(rig.sent()[-1]["content"])
