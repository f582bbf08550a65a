"""Tools as functions inside code: `sayso.NAME(…)`."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from sayso.server.agent.calls.tool_function import CALLS_MOST, fitted
from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeOut
from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.agent.prompt.profiles import Way, profile
from sayso.server.agent.record.conversation_settings import ConversationSettings
from sayso.server.agent.tools.function import Function, as_tools
from sayso.server.agent.tools.tool import Arguments, ArgumentsError, Tool, ToolContext
from sayso.server.policy.judge import Judgement, Policy
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.decisions import ToolIntended, ToolReported
from tests.agent.conftest import AgentRig, Answer
from tests.scripted_model import runs, says

ALLOWED = Policy(["allow language lamp\nmatches: lamp\nspares: bash"])


IN_CODE: tuple[Way, ...] = ("code",)


def lamp(room: str, percent: int = 100) -> dict[str, object]:
    """Switch a lamp."""
    if room == "cellar":
        raise ValueError("there is no lamp")
    return {"room": room, "percent": percent}


def printed(rig: AgentRig) -> str:
    return "".join(e.output.text for e in rig.told(CodeOut) if e.output.kind == "stdout")


async def by_code(
    rig: AgentRig,
    code: str,
    answer: Answer | Callable[[ApprovalRequest], tuple[Answer, str | None]] = "yes",
    *,
    tools: Sequence[Tool | Callable[..., Any]] = (lamp,),
    language: str = "python",
    policy: Policy | None = None,
    mode: Mode = "workspace",
) -> list[ApprovalRequest]:
    """Let code run that calls tools; return what was asked."""
    replies = runs(code, language=language), says("Done.")
    agent = await rig.agent(
        *replies,
        mode=mode,
        tools=as_tools(tools),
        policy=policy,
    )
    await rig.ask(agent, "go", answer)
    return rig.told(ApprovalRequest)


async def test_a_tool_is_called_asked_about_and_returns_its_value(rig: AgentRig) -> None:
    code = "print(sayso.lamp('hall', percent=50)['percent'] + 1)"
    (asked,) = await by_code(rig, code)
    assert printed(rig) == "51\n", rig.told(CodeEnd)
    assert (asked.language, json.loads(asked.code)) == ("lamp", {"percent": 50, "room": "hall"})
    assert asked.tap
    assert any(words.startswith("definition ") for words in asked.may_touch)
    (intended,) = await rig.records(ToolIntended)
    (reported,) = await rig.records(ToolReported)
    assert (intended.tool, intended.arguments) == ("lamp", asked.code)
    assert (reported.call, reported.status) == (intended.call, "ok")
    assert intended.call.startswith(intended.run)


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("bash", "sayso lamp --room hall --percent 50"),
        ("bash", "sayso lamp hall 50"),
        pytest.param(
            "javascript",
            "console.log(JSON.stringify(sayso.lamp({ room: 'hall', percent: 50 })))",
            marks=pytest.mark.needs("node", "nodejs"),
        ),
    ],
)
async def test_other_languages_call_it_too(rig: AgentRig, language: str, code: str) -> None:
    (asked,) = await by_code(rig, code, language=language)
    assert json.loads(asked.code) == {"percent": 50, "room": "hall"}
    assert json.loads(printed(rig)) == {"percent": 50, "room": "hall"}


async def test_each_call_asks_for_itself_and_a_no_is_an_exception(rig: AgentRig) -> None:
    answers: Iterator[Answer] = iter(["yes", "no", "silence"])
    rig.approvals._expires_s = 0.3
    code = """
for room in ('hall', 'attic', 'bath'):
    try:
        print(sayso.lamp(room)['room'])
    except sayso.Refused as refusal:
        print(refusal)
"""
    asked = await by_code(rig, code, lambda _: (next(answers), None))
    assert [json.loads(each.code)["room"] for each in asked] == ["hall", "attic", "bath"]
    assert printed(rig).splitlines() == [
        "hall", "The person said no.", "The person did not answer in time, which is a no.",
    ]  # fmt: skip
    assert len(await rig.records(ToolIntended)) == 1


async def test_a_tool_that_becomes_another_one_while_it_is_asked_about_is_asked_about_again(
    rig: AgentRig,
) -> None:
    tool = Function(lamp)

    def yes_and_change(asked: ApprovalRequest) -> tuple[Answer, str | None]:
        tool.use = "Sell a lamp."
        return "yes", None

    first, second = await by_code(rig, "print(sayso.lamp('hall'))", yes_and_change, tools=(tool,))
    assert first.code == second.code
    assert first.may_touch != second.may_touch
    assert len(await rig.records(ToolIntended)) == 1


async def test_one_run_calls_tools_so_often_and_no_more(rig: AgentRig) -> None:
    code = f"""
for number in range({CALLS_MOST} + 1):
    try:
        sayso.output('unknown')
    except sayso.Refused as refusal:
        if 'at most' in str(refusal):
            print(number, refusal)
"""
    await by_code(rig, code)
    refused = f"{CALLS_MOST} One run may call tools {CALLS_MOST} times at most.\n"
    assert printed(rig) == refused, rig.told(CodeEnd)


async def test_what_the_person_changes_is_what_is_called(rig: AgentRig) -> None:
    def change(_: ApprovalRequest) -> tuple[Answer, str]:
        return "edit", '{"room": "attic"}'

    await by_code(rig, "print(sayso.lamp('hall')['room'])", change)
    assert printed(rig) == "attic\n"


async def test_a_rule_lets_it_pass_until_strangers_words_were_read(rig: AgentRig) -> None:
    code = "print(sayso.lamp('hall')['room'], sayso.lamp('attic')['room'])"
    asked = await by_code(rig, code, policy=ALLOWED)
    assert printed(rig) == "hall attic\n"
    # What the first call returned may be a stranger's words, so the second asks.
    assert [json.loads(each.code)["room"] for each in asked] == ["attic"]


async def test_what_was_read_through_it_is_known_after_a_restart(rig: AgentRig) -> None:
    await by_code(rig, "sayso.lamp('hall')")
    events = await rig.log.conversation(rig.journal.conversation)
    assert "the tool lamp" in ConversationSettings.of(each.record for each in events).heard


async def test_a_rule_and_the_tool_itself_may_deny(rig: AgentRig) -> None:
    class Never(Function):
        def judge(self, arguments: Arguments) -> Judgement:
            return Judgement("deny", reason="Not at night.")

    code = "try:\n    sayso.lamp('hall')\nexcept sayso.Refused as refusal:\n    print(refusal)"
    assert not await by_code(rig, code, tools=[Never(lamp)])
    assert printed(rig) == "Not at night.\n"


async def test_wrong_arguments_and_failures_are_sentences_that_code_can_handle(
    rig: AgentRig,
) -> None:
    code = """
for call in (lambda: sayso.lamp(), lambda: sayso.lamp('a', 1, 2), lambda: sayso.lamp('a', room='b'),
             lambda: sayso.lamp(room=1), lambda: sayso.lamp('a', percent='much'),
             lambda: sayso.lamp('a', colour=1), lambda: sayso.lamp('cellar')):
    try:
        print(call())
    except sayso.Refused as refusal:
        print(refusal)
"""
    asked = await by_code(rig, code)
    assert len(asked) == 1, asked
    *wrong, failed = printed(rig).splitlines()
    assert len(wrong) == 6
    assert failed == "ValueError: there is no lamp"


async def test_it_is_called_from_code_only_where_author_and_profile_say_so(rig: AgentRig) -> None:
    code = (
        "try:\n    sayso.lamp('hall')\nexcept sayso.NotThereError as problem:\n    print(problem)"
    )
    await by_code(rig, code, tools=[Function(lamp, ways=("call", "fence"))])
    assert printed(rig).startswith("There is no such function")
    assert "sayso.lamp" not in str(rig.model.requests[0].messages[0])

    rig.model.requests.clear()
    small = profile("local-small")
    agent = await rig.agent(
        runs(code), says("Done."), mode="workspace", tools=as_tools([lamp]), manner=small
    )
    await rig.ask(agent, "go")
    assert "code" not in small.ways
    assert printed(rig).startswith("There is no such function")

    rig.model.requests.clear()
    await by_code(rig, "sayso.lamp('hall')", tools=[Function(lamp, ways=IN_CODE)])
    first = rig.model.requests[0]
    assert "lamp(room: string, percent?: integer): Switch a lamp." in str(first.messages[0])
    assert "lamp" not in str(first.body.get("tools"))


async def test_the_question_about_code_says_what_it_calls(rig: AgentRig) -> None:
    first, second = await by_code(rig, "sayso.lamp('hall')", mode="ask")
    assert "call the tool lamp, which asks you at each call" in first.may_touch
    assert second.language == "lamp"


async def test_an_earlier_output_is_read_under_the_runs_own_yes(rig: AgentRig) -> None:
    agent = await rig.agent(runs("print('first')"), says("Done."), mode="ask")
    await rig.ask(agent, "go")
    earlier = rig.told(CodeEnd)[0].id
    rig.model.add(runs(f"print(sayso.output({earlier!r}, 0, 100))"), says("Done."))
    await rig.ask(agent, "and again")
    assert len(rig.told(ApprovalRequest)) == 1
    assert (
        "read what this conversation holds, with output" in rig.told(ApprovalRequest)[0].may_touch
    )
    assert "first" in printed(rig)

    hidden = f"sayso.call('out' + 'put', **{{'*': [{earlier!r}, 0, 100]}})"
    rig.model.add(runs(f"print({hidden})"), says("Done."))
    await rig.ask(agent, "and once more")
    assert [each.language for each in rig.told(ApprovalRequest)] == ["python", "output"]


async def test_stop_ends_a_tool_that_code_waits_for(rig: AgentRig) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    class Slow(Tool):
        name = "slow"
        use = "Waits."
        schema = {"type": "object", "properties": {}}  # noqa: RUF012

        async def run(
            self, arguments: Arguments, context: ToolContext
        ) -> AsyncIterator[Output | Ending]:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()
            yield Ending("ok", 0.0)

    agent = await rig.agent(
        runs("sayso.slow()"), says("Done."), tools=[Slow()],
        permissions=Permissions(
            Policy(["allow language slow\nmatches: slow\nspares: bash"]), "workspace"
        ),
    )  # fmt: skip

    async def listen() -> None:
        async with aclosing(agent.work("go")) as events:
            async for _ in events:
                pass

    listening = asyncio.create_task(listen())
    await asyncio.wait_for(begun.wait(), 30)
    listening.cancel()
    await asyncio.wait_for(ended.wait(), 5)
    await asyncio.wait([listening], timeout=10)
    (reported,) = await rig.records(ToolReported)
    assert reported.status == "interrupted"


def test_what_came_in_order_or_as_text_fits_the_schema() -> None:
    tool = Function(lamp)
    assert fitted({"*": ["hall", "50"]}, tool) == {"room": "hall", "percent": 50}
    assert fitted({"room": "12"}, tool) == {"room": "12"}
    for wrong in ({"*": "hall"}, {"*": [1, 2, 3]}, {}, {"room": "a", "*": ["b"]}):
        with pytest.raises(ArgumentsError):
            fitted(wrong, tool)
