"""A server is killed while code sets up what git would run unasked; once the next one has opened
the conversation, nothing of it runs, and what the person had is theirs."""

import asyncio
import sys
from pathlib import Path

import pytest

from sayso.protocol import messages as m
from sayso.server.runtimes.sandbox.sandbox import Kind
from tests.git import git
from tests.runtimes.sandboxes import KINDS, needed_sandbox
from tests.server.running_server import running_server
from tests.server.server_killed_in_a_run import Code
from tests.undo.arming import made, program
from tests.undo.hooks.runs import use_git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
ARMED_S = 60.0
"""Longest time for an interpreter to start on a busy machine."""


async def arm_and_be_killed(home: Path, kind: Kind, mark: Path) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.server.server_killed_in_a_run", str(home), kind, str(mark)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(ARMED_S):
            assert server.stdout
            assert await server.stdout.readline() == b"armed\n"
    finally:
        server.kill()
        await server.wait()


@pytest.mark.parametrize("kind", KINDS)
async def test_what_it_armed_runs_nothing_and_what_it_changed_is_taken_back(
    tmp_path: Path, kind: Kind
) -> None:
    needed_sandbox(kind)
    home, mark = tmp_path / "home", tmp_path / "it ran"
    workspace = home / "workspaces" / "main"
    mine = made(workspace / "mine")
    git("config", "user.name", "me", folder=mine)
    hook = program(mine / ".git" / "hooks" / "pre-push", mark)
    (workspace / "notes").write_text("mine")

    await arm_and_be_killed(home, kind, mark)

    async with running_server(home, code_runner=Code(kind)) as running:
        desk = await running.device()
        assert (workspace / "codes" / ".git" / "hooks" / "pre-commit.disarmed").exists()
        use_git(workspace / "codes")
        use_git(mine)
        assert not mark.exists()
        assert hook.exists()
        assert git("config", "--local", "user.name", folder=mine) == "me\n" or kind == "landlock"
        assert any("disarmed" in str(message) for message in desk.told)
        assert (await desk.command("undo")).ok
        assert (workspace / "notes").read_text() == "mine"
        assert isinstance(desk.all(m.CommandDone)[-1], m.CommandDone)
