"""Tools that were added to Sayso's own: what is asked about a call, and what no tool gets round."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Literal

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeStart
from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.journal import Journal
from sayso.server.agent.tools.function import Function, as_tools
from sayso.server.agent.tools.tool import Arguments, Kind, Tool, ToolContext, canonical
from sayso.server.policy.judge import Judgement, Policy
from sayso.server.runtimes.runtime import Ending, Output
from sayso.server.store.records import Answered, Asked, Call, RunIntended, RunReported
from tests.agent.conftest import AgentRig
from tests.agent.permissions.places import Described
from tests.scripted_model import Reply, runs, says

ALLOWED = "allow language lamp\nmatches: lamp\nspares: bash"
NOWHERE = Described("python")
BOTH_WAYS = pytest.mark.parametrize("calls_tools", ["yes", "no"])


class Lamp(Tool):
    """A lamp in a house, which remembers how it was switched."""

    name = "lamp"
    use = "Switch a lamp."
    verdict: Judgement = Judgement()

    def __init__(self) -> None:
        self.switched: list[Arguments] = []
        self.schema = {
            "type": "object",
            "properties": {
                "room": {"type": "string"},
                "state": {"enum": ["on", "off"]},
                "code": {"type": "string"},
            },
            "required": ["room", "state"],
            "additionalProperties": False,
        }

    def judge(self, arguments: Arguments) -> Judgement:
        return self.verdict

    async def run(
        self, arguments: Arguments, context: ToolContext
    ) -> AsyncIterator[Output | Ending]:
        self.switched.append(arguments)
        yield Output("result", f"It is {arguments['state']}.")
        yield Ending("ok", 0.0)


def switch(calls_tools: str, arguments: str) -> Reply:
    """A model that calls the lamp, in its way."""
    if calls_tools == "yes":
        return Reply(calls=[{"name": "lamp", "arguments": arguments}])
    return says(f"I do.\n```lamp\n{arguments}\n```\n")


ON = '{"state":"on","room":"hall"}'


@BOTH_WAYS
@pytest.mark.parametrize("mode", ["ask", "workspace", "read-only"])
async def test_each_call_is_asked_about_with_its_name_arguments_and_definition(
    rig: AgentRig, calls_tools: Literal["yes", "no"], mode: Mode
) -> None:
    lamp = Lamp()
    calls = [switch(calls_tools, ON), switch(calls_tools, ON), says("Lit.")]
    agent = await rig.agent(
        *calls, calls_tools=calls_tools, mode=mode, tools=[lamp], code_runner=NOWHERE
    )
    assert (await rig.ask(agent, "light")).strip().endswith("Lit.")
    asked = rig.told(ApprovalRequest)
    assert [each.language for each in asked] == ["lamp", "lamp"]
    assert {each.code for each in asked} == {'{"room": "hall", "state": "on"}'}
    for each in asked:
        assert "outside of the sandbox" in each.may_touch[0]
        assert each.may_touch[1] == "undo does not take it back"
        assert each.may_touch[2] == f"definition {lamp.definition_hash[:12]}"
    assert lamp.switched == [{"room": "hall", "state": "on"}] * 2
    assert "It is on." in str(rig.sent()[-1]["content"])
    intended = await rig.records(RunIntended)
    assert [(each.language, each.code) for each in intended] == [("lamp", asked[0].code)] * 2


async def test_a_no_is_a_no_and_words_alone_are_no_yes(rig: AgentRig) -> None:
    lamp = Lamp()
    agent = await rig.agent(
        switch("yes", ON), says("Well."), tools=[lamp], code_runner=NOWHERE, mode="workspace"
    )
    async with aclosing(agent.work("light", by="kitchen")) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                assert event.tap
                answer = rig.approvals.answer
                assert not answer(event.id, event.nonce, "yes", None, "kitchen", by_word=True)
                assert answer(event.id, event.nonce, "no", None, "kitchen")
    assert lamp.switched == []


async def test_a_tool_that_changed_while_it_was_asked_about_is_asked_about_again(
    rig: AgentRig,
) -> None:
    lamp = Lamp()

    def answer(asked: ApprovalRequest) -> tuple[Any, None]:
        lamp.use = "Switch a lamp, and open the door."
        return ("yes" if len(rig.told(ApprovalRequest)) == 1 else "no"), None

    agent = await rig.agent(switch("yes", ON), says("No."), tools=[lamp], code_runner=NOWHERE)
    await rig.ask(agent, "light", answer)
    first, second = rig.told(ApprovalRequest)
    assert first.may_touch[2] != second.may_touch[2]
    assert lamp.switched == []


def test_an_approval_is_bound_to_every_part_of_the_definition() -> None:
    hashes = set()
    for change in ({}, {"use": "Other."}, {"name": "light"}, {"schema": {"type": "object"}}):
        lamp = Lamp()
        for name, value in change.items():
            setattr(lamp, name, value)
        hashes.add(lamp.definition_hash)
    assert len(hashes) == 4


@BOTH_WAYS
async def test_wrong_arguments_are_no_question_and_the_model_is_told_what_to_change(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    lamp = Lamp()
    agent = await rig.agent(
        switch(calls_tools, '{"room": "hall", "state": "bright", "colour": "red"}'),
        says("Sorry."),
        calls_tools=calls_tools,
        tools=[lamp],
        code_runner=NOWHERE,
    )
    assert (await rig.ask(agent, "light")).strip().endswith("Sorry.")
    assert rig.told(ApprovalRequest) == rig.told(CodeStart) == lamp.switched == []
    told = str(rig.sent()[-1]["content"])
    assert 'state must be one of "on", "off", not bright.' in told
    assert "There is no colour: leave it out" in told
    assert [each.detail for each in rig.told(CodeEnd)] == [
        "It did not run: the model gave it wrong arguments."
    ]


@pytest.mark.parametrize(
    ("edited", "switched"), [('{"room": "attic", "state": "off"}', 1), ('{"room": 3}', 0), ("x", 0)]
)
async def test_what_the_person_writes_instead_is_held_against_the_schema_too(
    rig: AgentRig, edited: str, switched: int
) -> None:
    lamp = Lamp()
    agent = await rig.agent(switch("yes", ON), says("Well."), tools=[lamp], code_runner=NOWHERE)
    await rig.ask(agent, "light", lambda _: ("edit", edited))
    assert lamp.switched == [{"room": "attic", "state": "off"}] * switched


async def test_arguments_that_look_like_a_call_of_code_are_arguments(rig: AgentRig) -> None:
    lamp = Lamp()
    arguments = '{"room": "hall", "state": "on", "code": "print(1)"}'
    agent = await rig.agent(
        switch("no", arguments), says("Lit."), calls_tools="no", tools=[lamp], code_runner=NOWHERE
    )
    await rig.ask(agent, "light")
    assert [each.language for each in rig.told(ApprovalRequest)] == ["lamp"]
    assert lamp.switched[0]["code"] == "print(1)"


@pytest.mark.parametrize(("mode", "questions"), [("ask", 1), ("full", 0)])
async def test_what_a_tool_returned_may_be_a_strangers_so_no_rule_lets_the_next_call_pass(
    rig: AgentRig, mode: Mode, questions: int
) -> None:
    lamp = Lamp()
    calls = [switch("yes", ON), switch("yes", ON), says("Lit.")]
    agent = await rig.agent(
        *calls, tools=[lamp], code_runner=NOWHERE, mode=mode, policy=Policy([ALLOWED])
    )
    await rig.ask(agent, "light")
    asked = rig.told(ApprovalRequest)
    assert len(asked) == questions
    assert all("has read from the tool lamp" in each.warnings[-1] for each in asked)
    assert len(lamp.switched) == 2
    journal = await Journal.open(rig.log, rig.journal.conversation)
    after = Permissions()
    after.restore(journal.terms)
    assert "the tool lamp" in after.outside_content.sources


async def test_a_tool_can_be_stricter_than_the_rules_and_never_looser(rig: AgentRig) -> None:
    lamp = Lamp()
    agent = await rig.agent(tools=[lamp], code_runner=NOWHERE, mode="full")
    rig.model.add(switch("yes", ON), says("Lit."))
    lamp.verdict = Judgement("ask", ("It is night.",))
    await rig.ask(agent, "light")
    assert [each.warnings[-1] for each in rig.told(ApprovalRequest)] == ["It is night."]
    rig.model.add(switch("yes", ON), says("No."))
    lamp.verdict = Judgement("deny", reason="The lamp is broken.")
    await rig.ask(agent, "light")
    assert rig.told(ApprovalRequest) == []
    assert len(lamp.switched) == 1
    agent.permissions.change_mode("workspace", at_console=False)
    rig.model.add(switch("yes", ON), says("No."))
    lamp.verdict = Judgement("allow")
    await rig.ask(agent, "light", "no")
    assert len(rig.told(ApprovalRequest)) == 1
    assert len(lamp.switched) == 1


async def test_the_profile_chooses_the_way_in_which_tools_are_offered(rig: AgentRig) -> None:
    lamp, fences = Lamp(), replace(profile("default"), ways=("fence",))
    agent = await rig.agent(
        switch("no", ON), says("Lit."), tools=[lamp], code_runner=NOWHERE, manner=fences
    )
    assert (await rig.ask(agent, "light")).strip().endswith("Lit.")
    request = rig.model.requests[0]
    assert not request.body.get("tools")
    told = str(request.messages[0]["content"])
    assert 'lamp(room: string, state: "on" | "off", code?: string): Switch a lamp.' in told
    assert lamp.switched == [{"room": "hall", "state": "on"}]


async def test_a_stop_ends_a_call(rig: AgentRig) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait for ever."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = Reply(calls=[{"name": "wait", "arguments": ""}])
    agent = await rig.agent(call, tools=[Function(wait)], code_runner=NOWHERE, mode="full")
    work = asyncio.create_task(rig.ask(agent, "wait"))
    async with asyncio.timeout(20):
        await begun.wait()
        work.cancel()
        await ended.wait()
    await asyncio.gather(work, return_exceptions=True)
    assert [each.status for each in await rig.records(RunReported)] == ["interrupted"]


async def test_a_tool_never_takes_the_place_of_a_language(rig: AgentRig) -> None:
    lamp = Lamp()
    lamp.name = "ruby"
    place = Described("python", "ruby")
    agent = await rig.agent(runs("puts 1", language="ruby"), says("No."), code_runner=place)
    with_tool = await rig.agent(
        runs("puts 1", language="ruby"), says("No."), code_runner=place, tools=[lamp]
    )
    for each in (agent, with_tool):
        await rig.ask(each, "go", "no")
        (asked,) = rig.told(ApprovalRequest)
        assert (asked.code, asked.may_touch) == ("puts 1", ())
    assert [tool["function"]["name"] for tool in rig.model.requests[-1].body["tools"]] == [
        "execute",
        "output",
    ]


async def test_without_a_sandbox_tools_work_and_code_does_not(rig: AgentRig) -> None:
    lamp, nowhere = Lamp(), Described("python", refusal="There is no sandbox here.")
    agent = await rig.agent(
        switch("yes", ON), runs("print(1)"), says("Lit."), tools=[lamp], code_runner=nowhere
    )
    assert await rig.ask(agent, "light") == "Lit."
    assert len(lamp.switched) == 1
    assert [each.language for each in rig.told(ApprovalRequest)] == ["lamp"]
    assert "There is no sandbox here." in str(rig.sent()[-1]["content"])


async def test_a_call_of_a_tool_that_is_no_more_stays_in_the_conversation(rig: AgentRig) -> None:
    lamp = Lamp()
    agent = await rig.agent(switch("yes", ON), says("Lit."), tools=[lamp], code_runner=NOWHERE)
    await rig.ask(agent, "light")
    without = await rig.agent(switch("yes", ON), says("Gone."), code_runner=NOWHERE)
    assert await rig.ask(without, "again") == "Gone."
    calls = [call for message in rig.sent() for call in message.get("tool_calls", ())]
    assert canonical({"language": "lamp", "code": '{"room": "hall", "state": "on"}'}) in {
        canonical(json.loads(call["function"]["arguments"])) for call in calls
    }
    assert rig.told(ApprovalRequest) == []
    assert len(lamp.switched) == 1


@pytest.mark.parametrize("kind", ["reads", "requests"])
def test_a_tool_that_would_not_be_asked_about_is_refused(kind: Kind) -> None:
    class Sly(Lamp):
        pass

    Sly.kind = kind
    with pytest.raises(TypeError, match="must be asked about"):
        as_tools([Sly()])
    Sly.kind, Sly.outside = "acts", False
    with pytest.raises(TypeError, match="must be asked about"):
        as_tools([Sly()])


async def test_a_question_that_was_open_at_the_end_is_put_again(rig: AgentRig) -> None:
    lamp = Lamp()
    await rig.journal.note("person", Asked("light"))
    call = Call("abc", "lamp", '{"state": "on", "state": "off", "room": "hall"}')
    await rig.journal.note("model", Answered("", (call,)))
    agent = await rig.agent(says("Dark."), tools=[lamp], code_runner=NOWHERE)
    async with aclosing(agent.take_up()) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                assert event.code == '{"room": "hall", "state": "off"}'
                rig.approvals.answer(event.id, event.nonce, "yes", None, "kitchen")
    assert lamp.switched == [{"room": "hall", "state": "off"}]
