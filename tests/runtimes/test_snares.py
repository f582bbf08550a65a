"""What git would run later, outside of the sandbox, is closed to code that may write around it."""

from pathlib import Path

import pytest

from sayso.server.runtimes.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.git import git
from tests.machine import lacking
from tests.runtimes.attempts import all_of, assert_nothing_done
from tests.runtimes.rooms import makes_views, told, workshop_in

HOOKS = ".git", "nested/below/.git", ".git/modules/part", "bare.git"


@pytest.fixture(autouse=True)
def _a_view_of_its_own(sandbox: Sandbox) -> None:
    """Landlock closes a part of what it opened by mounts alone."""
    if sandbox.kind == "landlock" and not makes_views():
        lacking("no view of the file system can be made here")


@pytest.fixture
def repositories(workspace: Path) -> Path:
    """A person's own: one around all, one within, a submodule's, a bare one; and shared hooks."""
    (workspace / "nested" / "below").mkdir(parents=True)
    (workspace / "team hooks").mkdir()
    (workspace / "team hooks" / "pre-push").write_text("#!/bin/sh\n")
    for folder in (workspace, workspace / "nested" / "below"):
        git("init", "-q", folder=folder)
        (folder / "note").write_text("mine")
        git("add", "note", folder=folder)
        git("commit", "-q", "-m", "first", folder=folder)
    git("config", "core.hooksPath", "team hooks", folder=workspace)
    git("init", "-q", "--bare", "bare.git", folder=workspace)
    (workspace / ".git" / "modules").mkdir()
    git("init", "-q", "--bare", "part", folder=workspace / ".git" / "modules")
    hook = workspace / "nested" / "below" / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\n")
    return workspace


def closed(workspace: Path) -> object:
    """What must stay as it is."""
    places = [workspace / "team hooks"]
    places += [workspace / name / "hooks" for name in HOOKS]
    kept = [(place, all_of(place)) for place in places]
    return kept, [(workspace / name / "config").read_text() for name in HOOKS]


async def test_hooks_and_settings_of_repositories_are_closed(
    repositories: Path, sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    before = closed(repositories)
    workshop = workshop_in(repositories, environment, sandbox)
    code = f"""
evil = '#!/bin/sh\\necho evil > /tmp/evil'
open('hook', 'w').write(evil); os.chmod('hook', 0o755)
for git in {HOOKS!r}:
    attempt('write', lambda: open(git + '/hooks/post-checkout', 'w'))
    attempt('rename', lambda: os.rename('hook', git + '/hooks/post-checkout'))
    attempt('link', lambda: os.link('hook', git + '/hooks/post-checkout'))
    attempt('symbolic link', lambda: os.symlink('../../hook', git + '/hooks/post-checkout'))
    attempt('settings', lambda: open(git + '/config', 'a').write('[core]\\nfsmonitor = ./hook\\n'))
    attempt('settings anew', lambda: os.rename('hook', git + '/config'))
    attempt('no settings', lambda: os.unlink(git + '/config'))
    attempt('truncate', lambda: os.truncate(git + '/config', 0))
    attempt('mode', lambda: os.chmod(git + '/hooks', 0o777))
    attempt('mode of settings', lambda: os.chmod(os.path.abspath(git) + '/config', 0o777))
    attempt('times', lambda: os.utime(os.path.abspath(git) + '/config', (1, 1)))
    attempt('away', lambda: os.rename(git + '/hooks', 'hooks'))
    attempt('all away', lambda: os.rename(git, git + '.old'))
    attempt('removed', lambda: shutil.rmtree(git + '/hooks') or False)
    whole = '/proc/self/root' + os.path.abspath(git)
    attempt('from the root', lambda: open(whole + '/hooks/x', 'w'))
    attempt('git', lambda: subprocess.run(['git', '--git-dir', git, 'config', 'core.pager', 'evil'],
                                          check=True, capture_output=True))
attempt('a hook that is there', lambda: open('nested/below/.git/hooks/pre-commit', 'a'))
attempt('its mode', lambda: os.chmod('nested/below/.git/hooks/pre-commit', 0o755))
attempt('shared hooks', lambda: open('team hooks/pre-push', 'a'))
attempt('unmount', lambda: libc.umount2(b'.git/hooks', 2) == 0)
attempt('another view', lambda: libc.unshare(0x10000000 | 0x20000) == 0)
"""
    try:
        await assert_nothing_done(workshop, code)
    finally:
        await workshop.close()
    assert closed(repositories) == before


async def test_git_works_on_with_closed_hooks_and_can_begin_anew(
    repositories: Path, sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    workshop = workshop_in(repositories, environment, sandbox)
    code = """set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c
for folder in . nested/below; do (
    cd $folder
    echo more >> note
    git commit -qam second
    git checkout -qb other
    git stash list; git gc -q; git status --short note
    git log --oneline | wc -l
) done
git init -q new
cd new
git config core.abbrev 12
git commit -q --allow-empty -m first
git log --oneline | wc -l
"""
    try:
        run = await told(workshop, code, "bash")
        assert run.ending.status == "ok", run
        assert run.stdout.split() == ["2", "2", "1"]
    finally:
        await workshop.close()
    assert git("log", "--oneline", folder=repositories / "new").count("\n") == 1
