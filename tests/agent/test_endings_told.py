"""What the model is told of how a run ended, where the output alone does not say it."""

from tests.agent.conftest import House
from tests.scripted_model import runs, says


async def told(house: House, code: str, language: str) -> str:
    agent = await house.agent(runs(code, language=language), says("I see."), mode="workspace")
    await house.ask(agent, "go")
    content = house.sent()[-1]["content"]
    assert isinstance(content, str)
    return content


async def test_an_exit_status_is_told(house: House) -> None:
    assert "exit status 3" in await told(house, "exit 3", "bash")


async def test_that_something_asked_for_input_is_told(house: House) -> None:
    assert "asked for input" in await told(house, "read name; echo Hello $name", "sh")
    assert "asked for input" in await told(house, "input()", "python")


async def test_that_the_variables_are_lost_is_told(house: House) -> None:
    assert "variables are lost" in await told(house, "import os; os._exit(0)", "python")


async def test_an_error_is_not_told_twice(house: House) -> None:
    assert (await told(house, "1 / 0", "python")).count("division by zero") == 1
