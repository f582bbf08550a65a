"""When the model writes badly, never ends, or fails: mended, asked about, or told plainly."""

import asyncio
import json
from typing import Literal

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeStart, WorkDone, WorkFailed
from sayso.server.agent.limits import REPLY_CHARS, RequestLimits
from sayso.server.store.records import RunReported
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, fails, runs, says

# Models that cannot write a call.


@pytest.mark.parametrize(
    "call",
    [
        {"name": "python", "arguments": "print(6 * 7)"},
        {"name": "python", "arguments": '{"code": "print(6 * 7)"}'},
        {"name": "functions.execute", "arguments": '{"language": "py", "code": "print(6 * 7)"}'},
        {"name": "execute", "arguments": '{"language": "python", "code": "print(6 * 7)'},
        {"name": "execute", "arguments": "{'language': 'python', 'code': 'print(6 * 7)'}"},
        {"name": "execute", "arguments": '{"language": "python", "code": "x = 6\nprint(x * 7)"}'},
    ],
)
async def test_a_call_that_is_badly_written_is_understood(
    rig: AgentRig, call: dict[str, str]
) -> None:
    agent = await rig.agent(Reply(calls=[call], split=3), says("42."), mode="workspace")
    assert await rig.ask(agent, "go") == "42."
    assert rig.output == "42\n"
    assert rig.sent()[1]["tool_calls"][0]["function"]["name"] == "execute"


async def test_a_call_that_cannot_be_understood_is_explained_to_the_model(rig: AgentRig) -> None:
    agent = await rig.agent(
        Reply(calls=[{"name": "get_weather", "arguments": '{"city": "Rome"}'}]), says("Sorry.")
    )
    assert await rig.ask(agent, "weather?") == "Sorry."
    _, call, answer = rig.sent()
    assert "There is no tool of that name" in answer["content"]
    shown = call["tool_calls"][0]["function"]
    assert shown["name"] == "execute"
    wrong = {"tool": "get_weather", "unreadable": '{"city": "Rome"}'}
    assert json.loads(shown["arguments"]) == wrong
    assert rig.told(ApprovalRequest) == []


@pytest.mark.parametrize("arguments", ["", "{}", '{"language": "python", "code": ""}'])
async def test_a_call_without_code_is_shown_as_it_was(rig: AgentRig, arguments: str) -> None:
    agent = await rig.agent(
        Reply(calls=[{"name": "execute", "arguments": arguments}]), says("Sorry.")
    )
    assert await rig.ask(agent, "go") == "Sorry."
    _, call, answer = rig.sent()
    assert "could not be read" in answer["content"]
    shown = json.loads(call["tool_calls"][0]["function"]["arguments"])
    assert shown == {"unreadable": arguments}


@pytest.mark.parametrize("name", ["python", "functions.execute", "run_code"])
async def test_a_tool_that_there_is_not_is_read_as_what_was_meant_and_that_is_said(
    rig: AgentRig, name: str
) -> None:
    arguments = '{"language": "python", "code": "print(6 * 7)"}'
    agent = await rig.agent(
        Reply(calls=[{"name": name, "arguments": arguments}]), says("42."), mode="workspace"
    )
    await rig.ask(agent, "go")
    assert rig.output == "42\n"
    told = rig.sent()[-1]["content"]
    assert told.startswith("[There is no tool of the name that you called.")
    assert "42" in told


async def test_a_call_that_is_well_written_is_told_nothing_of_it(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print(6 * 7)"), says("42."), mode="workspace")
    await rig.ask(agent, "go")
    assert rig.sent()[-1]["content"].startswith("<output")


async def test_two_calls_in_one_reply_run_in_order_with_results_of_their_own(rig: AgentRig) -> None:
    calls = [
        {"name": "execute", "id": "same", "arguments": '{"language": "python", "code": "x = 1"}'},
        {
            "name": "execute",
            "id": "same",
            "arguments": '{"language": "python", "code": "print(x)"}',
        },
    ]
    agent = await rig.agent(Reply(calls=calls), says("One."), mode="workspace")
    await rig.ask(agent, "go")
    assert rig.output == "1\n"
    _, answered, first, second = rig.sent()
    ids = [call["id"] for call in answered["tool_calls"]]
    assert ids == [first["tool_call_id"], second["tool_call_id"]]
    assert len(set(ids)) == 2


async def test_a_call_that_is_made_and_printed_runs_once(rig: AgentRig) -> None:
    arguments = '{"language": "python", "code": "print(6 * 7)"}'
    agent = await rig.agent(
        Reply(says=[arguments], calls=[{"name": "execute", "arguments": arguments}]),
        says("42."),
        mode="workspace",
    )
    assert await rig.ask(agent, "go") == "42."
    assert rig.output == "42\n"


async def test_a_language_that_does_not_run_here_is_explained_to_the_model(rig: AgentRig) -> None:
    agent = await rig.agent(runs("end", language="fortran"), says("I see."))
    assert await rig.ask(agent, "list") == "I see."
    assert "fortran does not run here" in rig.sent()[-1]["content"]
    assert rig.told(ApprovalRequest) == []


async def test_a_text_model_is_told_that_a_language_at_the_end_of_its_reply_does_not_run_here(
    rig: AgentRig,
) -> None:
    reply = "I count them.\n```perl\nprint 6 * 7\n```"
    agent = await rig.agent(says(reply), says("I can't run Perl."), calls_tools="no")
    assert (await rig.ask(agent, "count")).endswith("I can't run Perl.")
    _, written, told = rig.sent()
    assert written["content"] == reply
    assert "perl does not run here; these do: " in told["content"]
    assert rig.told(ApprovalRequest) == []


@pytest.mark.parametrize(
    "reply",
    [
        "```perl\nprint 1\n```\nThat is how it looks in Perl.",
        "Settings:\n```yaml\na: 1\n```",
        "No fence at all.",
    ],
)
async def test_what_is_only_shown_asks_a_text_model_nothing(rig: AgentRig, reply: str) -> None:
    agent = await rig.agent(says(reply), calls_tools="no")
    assert await rig.ask(agent, "show me") == reply
    assert len(rig.model.requests) == 1


# Limits end in questions.


async def test_too_many_steps_end_in_a_question_and_yes_goes_on(rig: AgentRig) -> None:
    agent = await rig.agent(
        *(runs(f"print({number})") for number in range(4)), says("Done."),
        mode="workspace", bounds=RequestLimits(steps=3),
    )  # fmt: skip
    said = await rig.ask(agent, "go")
    assert said == "\n\nI have run code 3 times and am not done. Shall I go on?"
    assert rig.output == "0\n1\n2\n"
    assert isinstance(rig.events[-1], WorkDone)
    reports = [report.status for report in await rig.records(RunReported)]
    assert reports == ["ok", "ok", "ok", "refused"]
    assert await rig.ask(agent, "yes") == "Done."
    messages = rig.sent()
    assert messages[-2]["content"].endswith("Shall I go on?")
    assert sum(len(message.get("tool_calls", ())) for message in messages) == sum(
        message["role"] == "tool" for message in messages
    )


async def test_the_same_code_three_times_is_not_run_a_third_time(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print(1)"), mode="workspace")
    said = await rig.ask(agent, "go")
    assert "same code" in said
    assert said.endswith("?")
    assert rig.output == "1\n1\n"


async def test_the_same_failure_three_times_ends_in_a_question(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs("import nothing1 as n"), runs("n.x"), runs("n.x "), runs("n .x"), mode="workspace"
    )
    said = await rig.ask(agent, "go")
    assert "NameError: name 'n' is not defined" in said
    assert said.endswith("?")


async def test_a_reply_without_end_ends_in_a_question(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=" ".join(map(str, range(REPLY_CHARS // 4))), split=2_000))
    said = await rig.ask(agent, "go")
    assert said.endswith("My answer is getting very long. Shall I go on?")
    assert REPLY_CHARS < len(said) < REPLY_CHARS + 4_000


async def test_a_model_that_goes_in_circles_is_cut_short(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says="All work and no play. " * 20, split=30, ending="hang"))
    said = await rig.ask(agent, "go")
    assert said.count("play") < 8
    assert isinstance(rig.events[-1], WorkDone)
    assert await asyncio.to_thread(rig.model.was_left)


async def test_spending_has_a_limit(rig: AgentRig) -> None:
    agent = await rig.agent(
        *(runs(f"print({number})") for number in range(5)),
        mode="workspace", bounds=RequestLimits(tokens=250),
    )  # fmt: skip
    said = await rig.ask(agent, "go")
    assert "long piece of work" in said
    done = rig.told(WorkDone)[0]
    assert done.tokens_in + done.tokens_out >= 250


# Models that fail.


async def test_a_half_stream_is_said_and_leaves_a_valid_history(rig: AgentRig) -> None:
    agent = await rig.agent(Reply(says=["I thi"], ending="cut"), says("Sorry."))
    await rig.ask(agent, "go")
    (failed,) = rig.told(WorkFailed)
    assert "broke off in the middle" in failed.message
    assert await rig.ask(agent, "again") == "Sorry."
    assert [message["role"] for message in rig.sent()] == ["user", "assistant", "user"]


async def test_a_half_call_is_not_run(rig: AgentRig) -> None:
    call = {"name": "execute", "arguments": '{"language": "python", "code": "print(1)'}
    agent = await rig.agent(Reply(calls=[call], ending="cut"), says("Sorry."), mode="workspace")
    await rig.ask(agent, "go")
    assert rig.told(CodeStart) == []
    assert len(rig.told(WorkFailed)) == 1


async def test_an_empty_answer_is_said_plainly(rig: AgentRig) -> None:
    agent = await rig.agent(says(""))
    await rig.ask(agent, "go")
    (failed,) = rig.told(WorkFailed)
    assert "said nothing" in failed.message


async def test_a_request_that_failed_can_be_made_again(rig: AgentRig) -> None:
    agent = await rig.agent(fails(401), says("Yes?"))
    await rig.ask(agent, "first")
    assert isinstance(rig.events[-1], WorkFailed)
    assert await rig.ask(agent, "second") == "Yes?"
    first, answer, second = rig.sent()
    assert (first["content"], answer["role"]) == ("first", "assistant")
    assert str(second["content"]).endswith("second")


@pytest.mark.parametrize("calls_tools", ["yes", "no"])
async def test_a_request_that_failed_is_over_and_is_not_read_with_the_next(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    steps = (runs("print('step one')", "Step one. "), fails(401), says("Paris."), says("London."))
    agent = await rig.agent(*steps, calls_tools=calls_tools, mode="workspace")
    await rig.ask(agent, "Run the loop")
    assert isinstance(rig.events[-1], WorkFailed)
    assert await rig.ask(agent, "What is the capital of France?") == "Paris."
    last = rig.sent()[-1]
    assert last["role"] == "user"
    assert "Run the loop" not in str(last["content"])
    assert "that failed" in str(last["content"])
    await rig.ask(agent, "And of England?")
    assert "that failed" not in str(rig.sent()[-1]["content"])


async def test_a_model_that_is_told_too_much_is_told_less_and_remembers_it(rig: AgentRig) -> None:
    long = "x" * 4_000
    too_long = "This model's maximum context length is 4096 tokens."
    agent = await rig.agent(
        *(says(f"{n}. ") for n in range(4)),
        fails(400, too_long), fails(400, too_long), says("Fine."), says("Good."),
    )  # fmt: skip
    for number in range(4):
        await rig.ask(agent, f"{number} {long}")
    assert await rig.ask(agent, "and now") == "Fine."
    sizes = [len(str(request.messages)) for request in rig.model.requests]
    assert sizes[-1] < sizes[-2] < sizes[-3]
    assert "Earlier in this conversation" in str(rig.sent())
    await rig.ask(agent, "again")
    assert len(str(rig.model.requests[-1].messages)) < sizes[-1] + 2_000
    assert len(rig.model.requests) == 8


async def test_a_request_that_alone_is_too_long_is_said(rig: AgentRig) -> None:
    agent = await rig.agent(fails(400, "This model's maximum context length is 10 tokens."))
    await rig.ask(agent, "hello")
    (failed,) = rig.told(WorkFailed)
    assert "too long" in failed.message


async def test_a_call_that_was_written_wrong_is_shown_back_as_it_was_and_said_to_be_mended(
    rig: AgentRig,
) -> None:
    broken = {"name": "execute", "arguments": '{"language": "python", "code": "print(6 * 7)'}
    unread = {"name": "get_weather", "arguments": '{"city": "Rome"}'}
    whole = {"name": "execute", "arguments": '{"language": "python", "code": "print(1)"}'}
    agent = await rig.agent(
        Reply(calls=[broken]),
        Reply(calls=[unread]),
        Reply(calls=[whole]),
        says("Well."),
        mode="workspace",
    )
    await rig.ask(agent, "?")
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert [each.startswith("[Your call was not the JSON object") for each in told] == [
        True,
        False,
        False,
    ]
    assert "42" in told[0]
    shown = [
        json.loads(each["tool_calls"][0]["function"]["arguments"])
        for each in rig.sent()
        if each["role"] == "assistant"
    ]
    assert shown[0] == {"language": "python", "code": "print(6 * 7)"}
    assert shown[1] == {"tool": "get_weather", "unreadable": '{"city": "Rome"}'}
    assert shown[2] == {"language": "python", "code": "print(1)"}
