"""A model plans: shown, kept, unasked, and told what a plan is where it is none."""

from typing import Literal

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeStart
from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.tools.plan import Plan
from sayso.server.agent.tools.tool import ArgumentsError
from sayso.server.store.plans import PlanChanged
from sayso.server.store.records import RunIntended
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says

STEPS = ("read it", "mend it", "test it")


@pytest.mark.parametrize("calls_tools", ["yes", "no"])
async def test_a_plan_is_shown_and_kept_and_asks_nobody(
    rig: AgentRig, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        runs("> read it\nmend it\ntest it", language="plan"),
        runs("x read it\n> mend it\ntest it", language="plan"),
        says("Done."),
        tools=(Plan(),),
        calls_tools=calls_tools,
    )
    await rig.ask(agent, "mend the parser")
    assert not rig.told(ApprovalRequest)
    assert not await rig.records(RunIntended)
    assert [one.code for one in rig.told(CodeStart)] == [
        "> read it\n  mend it\n  test it",
        "x read it\n> mend it\n  test it",
    ]
    assert [one.status for one in rig.told(CodeEnd)] == ["ok", "ok"]
    kept = [(one.steps, one.current) for one in await rig.records(PlanChanged)]
    assert kept == [(STEPS, 0), (STEPS, 1)]
    assert (agent.status.plan, agent.status.plan_step) == (STEPS, 1)
    assert "at step 2 of 3" in rig.sent()[-1]["content"]


async def test_plans_do_not_use_up_the_runs_of_a_request(rig: AgentRig) -> None:
    plans = [runs(f"> read part {number}\nb\nc", language="plan") for number in range(5)]
    agent = await rig.agent(*plans, says("Done."), tools=(Plan(),), bounds=RequestLimits(steps=2))
    assert await rig.ask(agent, "read it all") == "Done."


async def test_the_next_request_has_no_plan_yet(rig: AgentRig) -> None:
    agent = await rig.agent(
        runs("> a\nb\nc", language="plan"), says("Done."), says("Well."), tools=(Plan(),)
    )
    await rig.ask(agent, "mend the parser")
    await rig.ask(agent, "what is a tarn")
    assert agent.status.plan == ()


@pytest.mark.parametrize(
    "text", ["just one", "a\nb", "\n".join("abcdefghijklm"), f"a\nb\n{'c' * 101}", ""]
)
def test_what_is_no_plan_is_told_so(text: str) -> None:
    with pytest.raises(ArgumentsError, match="3 to 12 lines"):
        Plan().read("plan", text)


@pytest.mark.parametrize(
    ("text", "current"),
    [
        ("1. a\n2. b\n3. c", 0),
        ("- [x] a\n- [ ] b\n- [ ] c", 1),
        ("✓ a\n✓ b\n✓ c", 3),
        ("* a\n* > b\n* c", 1),
        ('{"plan": "a\\n> b\\nc"}', 1),
    ],
)
def test_a_plan_is_read_as_models_write_it(text: str, current: int) -> None:
    read = Plan().read("plan", text)
    assert (read["steps"], read["current"]) == (("a", "b", "c"), current)
    assert Plan().read("plan", Plan().write(read)) == read
