"""What the model is told of how a run ended, where the output alone does not say it."""

from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says


async def told(rig: AgentRig, code: str, language: str) -> str:
    agent = await rig.agent(runs(code, language=language), says("I see."), mode="workspace")
    await rig.ask(agent, "go")
    content = rig.sent()[-1]["content"]
    assert isinstance(content, str)
    return content


async def test_an_exit_status_is_told(rig: AgentRig) -> None:
    assert "exit status 3" in await told(rig, "exit 3", "bash")


async def test_that_something_asked_for_input_is_told(rig: AgentRig) -> None:
    assert "asked for input" in await told(rig, "read name; echo Hello $name", "sh")
    assert "asked for input" in await told(rig, "input()", "python")


async def test_that_the_variables_are_lost_is_told(rig: AgentRig) -> None:
    assert "variables are lost" in await told(rig, "import os; os._exit(0)", "python")


async def test_an_error_is_not_told_twice(rig: AgentRig) -> None:
    assert (await told(rig, "1 / 0", "python")).count("division by zero") == 1
