"""Confined code commits as the person, in its own clones and in granted repositories."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sayso.server.capabilities.git.identity import variables_for_code
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants, folder
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.git import git
from tests.runtimes.sandboxes import told

pytestmark = pytest.mark.slow

WHO = "Ann Lee <ann@example.org>"
HOOK = """#!/bin/sh
echo checked > checked.txt
echo "outside: $(cat {secret} 2>&1)"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    git("init", "-q", folder=made)
    (made / "notes").write_text("1\n")
    git("add", "notes", folder=made)
    git("commit", "-qm", "first", folder=made)
    return made


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    own = tmp_path / "gitconfig"
    own.write_text("[user]\n\tname = Ann Lee\n\temail = ann@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    return own


@pytest.fixture
def own_secret() -> Iterator[Path]:
    secret = Path(os.environ["HOME"], "secret")
    secret.write_text("hush")
    yield secret
    secret.unlink()


def author(at: Path) -> str:
    return git("-c", "safe.directory=*", "log", "-1", "--format=%an <%ae>", folder=at).strip()


async def test_commits_bear_the_persons_name_and_hooks_run_in_the_sandbox(
    sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    project: Path,
    settings: Path,
    own_secret: Path,
) -> None:
    secret = own_secret
    hook = project / ".git/hooks/pre-commit"
    hook.write_text(HOOK.format(secret=secret))
    hook.chmod(0o755)
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    grants = Grants(folders=(folder(project, "write"),))
    runner = CodeRunner(workspace, environment, report, grants)
    runner.give_variables(lambda: variables_for_code(workspace))
    try:
        run = await told(
            runner, f"cd {project} && echo 2 >> notes && git commit -qam second", "bash"
        )
        assert run.ending.status == "ok", run
        assert author(project) == WHO
        assert (project / "checked.txt").exists()
        assert "outside: " in run.stderr + run.stdout
        assert "hush" not in run.stderr + run.stdout
        run = await told(
            runner,
            f"cd {workspace} && git clone -q {project} mine && cd mine && echo 3 > new"
            " && git add new && git commit -qm third && git switch -qc try",
            "bash",
        )
        assert run.ending.status == "ok", run
        assert author(workspace / "mine") == WHO
        run = await told(
            runner,
            "import subprocess as s; s.run(['git', 'init', '-q', 'p'])\n"
            "s.run('git commit -q --allow-empty -m x', shell=True, cwd='p', check=True)",
        )
        assert not run.error, run
        assert author(workspace / "p") == WHO
    finally:
        await runner.close()
