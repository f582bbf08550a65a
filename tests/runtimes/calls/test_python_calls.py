"""Functions of the server, called by Python code in each sandbox."""

import asyncio
from functools import partial

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import Echo, Picture, Refuse, Wait, called_in
from tests.runtimes.sandboxes import rest, told

called = partial(called_in, "python")


async def test_a_value_goes_out_and_comes_back(code_runner: CodeRunner, echo: Echo) -> None:
    run = await called(code_runner, "import sayso\nsayso.call('echo', value=[1, 'ä', None])", echo)
    assert run.result == "[1, 'ä', None]", run
    assert echo.calls == [("run", {"value": [1, "ä", None]})]


async def test_bytes_come_back_as_bytes(any_workshop: CodeRunner) -> None:
    run = await called(any_workshop, "len(sayso.call('picture', size=8_000_000))", Picture())
    assert run.result == "8000000", run


async def test_a_refusal_is_an_exception_that_code_can_handle(any_workshop: CodeRunner) -> None:
    code = "try:\n    sayso.call('refuse')\nexcept sayso.Refused as refusal:\n    print(refusal)"
    assert (await called(any_workshop, code, Refuse())).stdout == "The person said no.\n"


async def test_what_is_not_offered_cannot_be_called(any_workshop: CodeRunner, echo: Echo) -> None:
    run = await called(any_workshop, "sayso.call('rm', path='/')", echo)
    assert run.ending.detail == "NotThereError: There is no such function; there are: echo."
    run = await told(any_workshop, "sayso.call('echo')")
    assert "No function of Sayso can be called here." in run.ending.detail
    assert not echo.calls


async def test_functions_run_together(any_workshop: CodeRunner) -> None:
    wait = Wait(enough_at=2)
    code = "w = lambda v: lambda: sayso.call('wait', value=v)\nsayso.together(w(1), w(2))"
    run = await called(any_workshop, code, wait)
    assert run.result == "[1, 2]", run


@pytest.mark.slow
async def test_stop_cancels_a_call_that_waits_and_keeps_the_variables(
    code_runner: CodeRunner, echo: Echo
) -> None:
    wait = Wait()
    with code_runner.offering("run", [wait, echo]):
        pieces = code_runner.run("python", "x = 5\nsayso.call('wait')")
        reading = asyncio.create_task(rest(pieces))
        await asyncio.wait_for(wait.begun.wait(), 30)
        await code_runner.interrupt()
        run = await reading
        assert run.ending.status == "interrupted", run
        await asyncio.wait_for(wait.cancelled.wait(), 5)
        again = await told(code_runner, "sayso.call('echo', value=x)")
    assert again.result == "5", again


async def test_a_number_that_json_has_not_is_the_codes_error_and_calls_go_on(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    code = "try:\n    sayso.call('echo', value=float('nan'))\nexcept ValueError as error:\n"
    code += "    print(error)\nsayso.call('echo', value=1)"
    run = await called(any_workshop, code, echo)
    assert "not JSON compliant" in run.stdout
    assert run.result == "1", run
