"""What the person sets up for git between two requests is theirs, whoever reads and writes there
before and after."""

import os
from pathlib import Path

import pytest

from tests.capabilities.git.partner import bash, partner, tool
from tests.undo.hooks.runs import disarmed

pytestmark = pytest.mark.slow

HOOK = "#!/bin/sh\necho checked >> checked.txt\n"


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))


async def test_a_hook_that_the_person_adds_after_a_look_stays_theirs(tmp_path: Path) -> None:
    async with partner(tmp_path) as work:
        await work.ask("what is in a?", tool("read", path="a.txt"))
        hook = work.repository / ".git" / "hooks" / "pre-commit"
        hook.write_text(HOOK)
        hook.chmod(0o755)
        status = hook.stat()
        told = await work.ask("count", bash("echo more >> b.txt && git commit -qam more; ls"))
        assert "checked.txt" in told
        assert "disarmed" not in told
        assert disarmed(work.repository) == []
        assert hook.read_text() == HOOK
        assert (hook.stat().st_uid, hook.stat().st_mode) == (os.geteuid(), status.st_mode)
        assert (work.repository / "b.txt").read_text().endswith("more\n")


async def test_a_rebase_that_the_person_began_meanwhile_goes_on(tmp_path: Path) -> None:
    """What it is still to run is the person's, as they wrote it."""
    async with partner(tmp_path) as work:
        await work.ask("what is in a?", tool("read", path="a.txt"))
        steps = work.repository / ".git" / "rebase-merge" / "git-rebase-todo"
        steps.parent.mkdir()
        steps.write_text("exec make test\n")
        await work.ask("count", bash("echo more >> b.txt"))
        assert disarmed(work.repository) == []
        assert steps.read_text() == "exec make test\n"
