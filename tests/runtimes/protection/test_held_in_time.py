"""What the person has before the first run is held, although the sandbox was started sooner."""

import asyncio
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.undo.checkpointer import NoCheckpoints
from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile
from tests.machine import lacking
from tests.runtimes.sandboxes import makes_views, told
from tests.undo.arming import made, program

ARMS = "open('own/.git/hooks/pre-commit', 'w').write('#!/bin/sh\\ntouch armed\\n')"


@pytest.fixture(autouse=True)
def _a_view_of_its_own(sandbox: Sandbox) -> None:
    """Without one, nothing is held; what code armed is disarmed after the run."""
    if sandbox.kind == "landlock" and not makes_views():
        lacking("no view of the file system can be made here")


def guard(code_runner: CodeRunner, workspace: Path) -> GitHookGuard:
    kept = RecoveryFile(workspace.with_name("kept"))
    return GitHookGuard(NoCheckpoints(), lambda: [workspace], kept, code_runner.renew_unused)


@pytest.mark.slow
async def test_a_repository_that_came_after_the_interpreter_was_started_is_held(
    code_runner: CodeRunner, workspace: Path
) -> None:
    code_runner.prepare()
    await asyncio.sleep(1)  # it is ready
    own = program(made(workspace / "own") / ".git" / "hooks" / "pre-commit", workspace / "mark")
    text = own.read_text()
    look = guard(code_runner, workspace)
    assert not await look.before("r1")
    run = await told(code_runner, ARMS)
    assert run.ending.status == "error", run
    assert "Read-only" in run.error or "Permission denied" in run.error
    assert own.read_text() == text
    assert not (await look.after("r1")).note


async def test_an_interpreter_that_holds_it_all_stays(
    code_runner: CodeRunner, workspace: Path
) -> None:
    program(made(workspace / "own") / ".git" / "hooks" / "pre-commit", workspace / "mark")
    code_runner.prepare()
    await told(code_runner, "x = 5")
    look = guard(code_runner, workspace)
    (workspace / "own" / ".git" / "config").write_text("[user]\n\tname = me\n")
    assert not await look.before("r2")
    assert (await told(code_runner, "print(x)")).stdout == "5\n"
