"""Harm that code could do without leaving its folders: to git, to the disk, to memory."""

from pathlib import Path

import pytest

from sayso.server.runtimes.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.workshop import Workshop
from tests.runtimes.attempts import all_of, assert_nothing_done
from tests.runtimes.rooms import workshop_in


async def test_what_git_runs_for_a_person_stays_as_it_is(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    if sandbox.kind != "bubblewrap":
        pytest.skip("Landlock cannot close what lies in an open folder; docs/security.md says so")
    hooks = workspace / ".git" / "hooks"
    hooks.mkdir(parents=True)
    (workspace / ".git" / "config").write_text("[core]")
    made = workshop_in(workspace, environment, sandbox)
    code = """
attempt('hook', lambda: open('.git/hooks/pre-commit', 'w'))
attempt('settings', lambda: open('.git/config', 'a'))
attempt('away', lambda: os.rename('.git/hooks', '.git/old'))
attempt('over', lambda: os.replace('note', '.git/config'))
open('.git/index', 'w').write('x')
"""
    try:
        (workspace / "note").write_text("evil")
        await assert_nothing_done(made, code)
    finally:
        await made.close()
    assert not list(hooks.iterdir())
    assert (workspace / ".git" / "config").read_text() == "[core]"


@pytest.mark.thorough
async def test_neither_a_huge_file_nor_a_huge_allocation_hurts_the_host(
    workshop: Workshop, workspace: Path
) -> None:
    code = """
def huge():
    with open('huge', 'wb') as file:
        file.truncate(100 * 1024**3)
def filled():
    with open('filled', 'wb') as file:
        os.posix_fallocate(file.fileno(), 0, 100 * 1024**3)
def allocation():
    return len(bytearray(10 * 1024**3))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
attempt('a file of 100 GB', huge)
attempt('100 GB of disk', filled)
try:
    attempt('10 GB of memory', allocation)
except MemoryError:
    pass
"""
    await assert_nothing_done(workshop, code)
    assert all(size < 5 * 1024**3 for _, _, size, _ in all_of(workspace).values())
