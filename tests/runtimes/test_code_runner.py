"""The code runner's interface: languages and their names, texts of approvals, what is refused."""

import os
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.sandboxes import told, workshop_in


async def test_a_language_goes_by_several_names_and_keeps_one_state(
    any_workshop: CodeRunner,
) -> None:
    for name in ("py", "Python", "python3", " ipython "):
        await told(any_workshop, "x = globals().get('x', 0) + 1", name)
    assert (await told(any_workshop, "x")).result == "4"


async def test_an_unknown_language_is_answered_with_what_there_is(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "1", "fortran")
    assert run.ending.status == "error"
    assert "fortran" in run.ending.detail
    assert "python" in run.ending.detail
    assert any_workshop.may_touch("fortran") == ()


def test_an_approval_can_say_what_code_may_touch(any_workshop: CodeRunner, workspace: Path) -> None:
    words = any_workshop.may_touch("py")
    assert f"read and write {workspace}" in words
    assert "no network" in words
    assert any_workshop.where == str(workspace)


async def test_a_workspace_that_is_missing_is_made(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    made = workshop_in(workspace / "deep" / "inside", environment, any_sandbox)
    try:
        assert (await told(made, "print('here')")).stdout == "here\n"
    finally:
        await made.close()


@pytest.mark.parametrize("folder", [".", "..", "/"])
async def test_code_does_not_run_where_sayso_keeps_its_secrets(
    any_sandbox: Sandbox, environment: KernelEnvironment, folder: str
) -> None:
    workspace = Path(os.environ["SAYSO_HOME"], folder)
    run = await told(workshop_in(workspace, environment, any_sandbox), "1")
    assert run.ending.status == "error"
    assert "secrets" in run.ending.detail


async def test_a_workspace_that_cannot_be_made_is_told(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    (workspace / "file").write_text("")
    run = await told(workshop_in(workspace / "file", environment, any_sandbox), "1")
    assert run.ending.status == "error"
    assert "no folder" in run.ending.detail


async def test_without_an_environment_nothing_runs_and_that_is_said(workspace: Path) -> None:
    code_runner = CodeRunner(workspace, None, SandboxReport(True, "bubblewrap"))
    run = await told(code_runner, "1")
    assert run.ending.status == "error"
    assert "sayso doctor" in run.ending.detail


async def test_a_prepared_workshop_answers_at_once(any_workshop: CodeRunner) -> None:
    any_workshop.prepare()
    any_workshop.prepare()
    assert (await told(any_workshop, "1")).ending.status == "ok"


@pytest.mark.parametrize("code", ["", "   ", "# nothing", "pass"])
async def test_code_that_does_nothing_ends_well(any_workshop: CodeRunner, code: str) -> None:
    run = await told(any_workshop, code)
    assert run.ending.status == "ok"
    assert run.outputs == ()


async def test_code_that_is_no_code_is_an_error(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "this is: no code")
    assert run.ending.status == "error"
    assert "SyntaxError" in run.ending.detail


async def test_text_of_all_languages_passes(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "print('Grüße 世界 🎉')")
    assert run.stdout == "Grüße 世界 🎉\n"
