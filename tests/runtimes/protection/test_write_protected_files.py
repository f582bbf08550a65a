"""What git would run later, outside of the sandbox, is closed to code that may write around it."""

from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.protection import write_protected_files
from sayso.server.runtimes.sandbox.bubblewrap import Bubblewrap
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.git import git
from tests.machine import lacking, needed
from tests.path_swapper import swapping
from tests.runtimes.attempts import all_of, assert_nothing_done
from tests.runtimes.sandboxes import makes_views, needed_sandbox, told, workshop_in

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
    code_runner = workshop_in(repositories, environment, sandbox)
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
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()
    assert closed(repositories) == before


async def test_git_works_on_with_closed_hooks_and_can_begin_anew(
    repositories: Path, sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    code_runner = workshop_in(repositories, environment, sandbox)
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
        run = await told(code_runner, code, "bash")
        assert run.ending.status == "ok", run
        assert run.stdout.split() == ["2", "2", "1"]
    finally:
        await code_runner.close()
    assert git("log", "--oneline", folder=repositories / "new").count("\n") == 1


ARMED = """#!/bin/sh
[ ! -f scripts/more.sh ] || . scripts/more.sh
exec "$(git rev-parse --show-toplevel)/scripts/check.sh"
"""
RUN_BY_HOOKS = (
    ".husky/pre-commit", ".pre-commit-config.yaml", "lefthook.yml", "scripts/check.sh",
    "hooks here/pre-push", "more settings",
)  # fmt: skip


async def test_what_a_persons_hooks_and_settings_name_is_closed_too(
    workspace: Path, sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    git("init", "-q", folder=workspace)
    (workspace / ".git" / "hooks" / "pre-commit").write_text(ARMED)
    text = '[core] hooksPath = "hooks here" # ours\n[include] path = ../more settings\n'
    (workspace / ".git" / "config").write_text(text)
    for name in RUN_BY_HOOKS:
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text("")
    (workspace / "scripts" / "other.txt").write_text("")
    code_runner = workshop_in(workspace, environment, sandbox)
    code = f"""
for name in {RUN_BY_HOOKS!r}:
    attempt('write', lambda: open(name, 'w'))
    attempt('away', lambda: os.rename(name, 'x'))
    attempt('removed', lambda: os.unlink(name))
attempt('beside', lambda: open('.husky/commit-msg', 'w'))
open('scripts/other.txt', 'w').write('mine')
open('scripts/new.txt', 'w').write('mine')
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()


@pytest.mark.slow
async def test_of_more_repositories_than_can_be_closed_in_parts_all_are_closed(
    workspace: Path, sandbox: Sandbox, environment: KernelEnvironment
) -> None:
    for number in range(write_protected_files.REPOSITORIES_MOST + 1):
        git("init", "-q", str(number), folder=workspace)
    own = workspace / "zz" / "own"
    own.mkdir(parents=True)
    git("init", "-q", folder=own)
    (own / ".git" / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    code_runner = workshop_in(workspace, environment, sandbox)
    code = """
import glob
for git in [*glob.glob('*/.git'), 'zz/own/.git']:
    attempt('hook ' + git, lambda: open(git + '/hooks/pre-commit', 'w'))
    attempt('settings ' + git, lambda: open(git + '/config', 'a'))
    attempt('away ' + git, lambda: os.rename(git, 'elsewhere'))
open('zz/own/.git/description', 'w').write('the own one is closed in its parts')
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()


async def test_of_more_than_can_be_closed_no_code_runs(
    workspace: Path,
    any_sandbox: Sandbox,
    environment: KernelEnvironment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_protected_files, "HELD_MOST", 2)
    git("init", "-q", folder=workspace)
    code_runner = workshop_in(workspace, environment, any_sandbox)
    try:
        run = await told(code_runner, "print('it ran')")
    finally:
        await code_runner.close()
    assert run.ending.status == "error"
    assert "let code write in a smaller folder" in run.ending.detail
    assert not run.stdout


STARTUP = (
    ".bash_aliases", ".inputrc", ".pythonrc", ".local/share/systemd/user/x.service",
    ".local/share/dbus-1/services/x.service", ".local/share/applications/x.desktop",
    "dotfiles/autostart/x.desktop", ".ssh/rc", ".asoundrc", "dotfiles/alsa/asoundrc",
    "dotfiles/pipewire/pipewire.conf.d/x.conf", "dotfiles/wireplumber/wireplumber.conf.d/x.conf",
    "dotfiles/pulse/client.conf", ".local/share/vulkan/implicit_layer.d/x.json",
    "dotfiles/user-dirs.dirs", "dotfiles/imsettings/xinputrc", ".gnupg/gpg-agent.conf",
    "dotfiles/go/env", ".local/share/thumbnailers/x.thumbnailer", "dotfiles/environment.d/x.conf",
    ".iex.exs", ".pylintrc", ".makepkg.conf", ".rpmmacros", ".devscripts", ".mailrc",
    "Library/Python/3.11/lib/python/site-packages/x.pth", ".node_modules/x.js",
    ".agents/skills/x/SKILL.md", ".claude/skills/x/SKILL.md", ".claude/CLAUDE.md",
)  # fmt: skip


async def test_startup_files_of_a_home_folder_are_closed(
    workspace: Path,
    sandbox: Sandbox,
    environment: KernelEnvironment,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(write_protected_files, "homes", lambda: frozenset({workspace}))
    for name in STARTUP:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("mine")
    (workspace / ".config").symlink_to("dotfiles")
    (workspace / "notes").write_text("mine")
    code_runner = workshop_in(workspace, environment, sandbox)
    code = f"""
for name in {STARTUP!r}:
    attempt('write', lambda: open(name, 'a'))
    attempt('away', lambda: os.rename(name, 'x'))
attempt('beside', lambda: open('.ssh/authorized_keys', 'w'))
attempt('beside it', lambda: open('.config/autostart/y.desktop', 'w'))
open('.gnupg/trustdb.gpg', 'w').write('its state')
open('notes', 'w').write('mine')
"""
    try:
        await assert_nothing_done(code_runner, code)
    finally:
        await code_runner.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("['--bind', SECRET, WORKSPACE + '/decoy']", id="something else"),
        pytest.param("['--bind', SECRET, WORKSPACE + '/.git/hooks']", id="over it"),
        pytest.param("['--bind', WORKSPACE + '/.git/hooks', WORKSPACE + '/.git/hooks']", id="open"),
    ],
)
async def test_code_does_not_run_where_a_mount_was_led_elsewhere(
    workspace: Path, environment: KernelEnvironment, tmp_path: Path, wrong: str
) -> None:
    """bubblewrap looks paths up anew, and code that was left running may have swapped them."""
    needed_sandbox("bubblewrap")
    real = needed("bwrap", "bubblewrap")
    secret = tmp_path / "secret"
    secret.mkdir()
    (workspace / "decoy").mkdir()
    git("init", "-q", folder=workspace)
    program = tmp_path / "bwrap"
    program.write_text(
        f"""#!{base_python()} -IS
import os, sys
SECRET, WORKSPACE = {str(secret)!r}, {str(workspace)!r}
if '--args' not in sys.argv:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
given = open(int(sys.argv[2]), 'rb').read().decode().split('\\0')[:-1]
at = len(given) - given[::-1].index('--remount-ro') - 3
os.execv({real!r}, [{real!r}, *given[:at], *{wrong}, *given[at:], *sys.argv[3:]])
"""
    )
    program.chmod(0o755)
    for attempt, path in (("as it is", Path(real)), ("led elsewhere", program)):
        sandbox = Bubblewrap(path, base_python())
        code_runner = workshop_in(workspace, environment, sandbox)
        try:
            run = await told(code_runner, "print('it ran')")
        finally:
            await code_runner.close()
        assert bool(run.stdout) is (attempt == "as it is"), run
    assert "changed just now" in run.ending.detail + run.error


@pytest.mark.slow
async def test_starting_while_code_swaps_folders_shows_nothing_of_the_host(
    workspace: Path, sandbox: Sandbox, environment: KernelEnvironment, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    (secret / "hooks").mkdir(parents=True)
    (secret / "config").write_text("SECRET")
    (secret / "hooks" / "config").write_text("SECRET")
    before = all_of(secret)
    git("init", "-q", folder=workspace)
    (workspace / "link").symlink_to(Path("../" * (len(workspace.parts) - 1), *secret.parts[1:]))
    with swapping(workspace / ".git", workspace / "link"):
        for _ in range(6):
            code_runner = workshop_in(workspace, environment, sandbox)
            try:
                run = await told(
                    code_runner,
                    "import os\nfor at, _, names in os.walk('.', followlinks=True):\n"
                    "    for name in names:\n"
                    "        if name == 'config': print(open(os.path.join(at, name)).read())",
                )
            finally:
                await code_runner.close()
            assert "SECRET" not in run.stdout + run.error
    assert all_of(secret) == before
