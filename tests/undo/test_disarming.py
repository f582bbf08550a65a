"""What code set up for git to run unasked does not run when the person next uses git there."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.server.agent.checkpointing import NoCheckpoints
from sayso.server.undo.disarming import Disarming
from sayso.server.undo.git_settings import harmless_part
from tests.git import git

EVIL = "#!/bin/sh\ntouch '{mark}'\n"


def use_git(folder: Path) -> None:
    """What a person, or their prompt, does all day."""
    git("status", "--short", folder=folder)
    git("add", "--all", folder=folder)
    git("commit", "-q", "--allow-empty", "-m", "mine", folder=folder)
    git("checkout", "-q", "--detach", folder=folder)


def ran(mark: Path) -> bool:
    return mark.exists()


def disarmed(folder: Path) -> list[Path]:
    return list(folder.rglob("*.disarmed"))


class Runs:
    """Runs of code that were let do what the sandbox could not hinder."""

    def __init__(self, folder: Path) -> None:
        self._checkpointer = Disarming(NoCheckpoints(), lambda: [folder])

    async def of(self, work: Callable[[], object]) -> str:
        """Let code do something; return the note on it."""
        assert not await self._checkpointer.before("r1")
        work()
        return (await self._checkpointer.after("r1")).note


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """It is there if git ran what it should not."""
    return tmp_path / "it ran"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


def armed(repository: Path, mark: Path) -> None:
    evil = repository / "evil"
    evil.write_text(EVIL.format(mark=mark))
    evil.chmod(0o755)
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(EVIL.format(mark=mark))
    hook.chmod(0o755)
    (repository / ".git" / "hooks" / "post-checkout").symlink_to("../../evil")
    git("config", "core.fsmonitor", str(evil), folder=repository)
    git("config", "user.name", "kept", folder=repository)


async def test_a_repository_that_code_made_runs_nothing_and_works(folder: Path, mark: Path) -> None:
    new = folder / "deep" / "new"

    def work() -> None:
        new.mkdir(parents=True)
        git("init", "-q", folder=new)
        armed(new, mark)

    note = await Runs(folder).of(work)
    assert "hooks/pre-commit" in note
    assert ".git/config" in note
    use_git(new)
    assert not ran(mark)
    assert git("config", "--local", "user.name", folder=new) == "kept\n"
    assert "fsmonitor" in (new / ".git" / "config.disarmed").read_text()


async def test_a_persons_own_repository_has_its_settings_back(folder: Path, mark: Path) -> None:
    git("init", "-q", folder=folder)
    git("config", "core.editor", "my own", folder=folder)
    own = folder / ".git" / "hooks" / "commit-msg"
    own.write_text("#!/bin/sh\n")
    before = (folder / ".git" / "config").read_text()
    assert await Runs(folder).of(lambda: armed(folder, mark))
    assert (folder / ".git" / "config").read_text() == before
    use_git(folder)
    assert not ran(mark)
    assert own.read_text() == "#!/bin/sh\n"


async def test_no_detour_leads_git_to_what_code_wrote(folder: Path, mark: Path) -> None:
    git("init", "-q", folder=folder)

    def other_folder_of_hooks() -> None:
        (folder / "scripts").mkdir()
        (folder / "scripts" / "pre-commit").write_text(EVIL.format(mark=mark))
        (folder / "scripts" / "pre-commit").chmod(0o755)
        git("config", "core.hooksPath", "scripts", folder=folder)

    def more_settings() -> None:
        (folder / "more").write_text(f"[core]\n\tfsmonitor = touch '{mark}'\n")
        git("config", "include.path", "../more", folder=folder)

    def swapped() -> None:
        (folder / ".git").rename(folder / "old")
        git("init", "-q", folder=folder)
        armed(folder, mark)

    def elsewhere() -> None:
        (folder / "x").mkdir()
        git("init", "-q", folder=folder / "x")
        armed(folder / "x", mark)
        (folder / "x" / ".git").rename(folder / "x" / "hidden")
        (folder / "x" / ".git").write_text("gitdir: hidden\n")

    def shared() -> None:
        (folder / "y").mkdir()
        git("init", "-q", folder=folder / "y")
        armed(folder / "y", mark)
        common = folder / "y" / ".git"
        (folder / "z" / ".git").mkdir(parents=True)
        for name in ("HEAD", "index"):
            if (common / name).exists():
                (folder / "z" / ".git" / name).write_bytes((common / name).read_bytes())
        (folder / "z" / ".git" / "commondir").write_text(str(common))
        (common / "HEAD").rename(common / "other")

    runs = Runs(folder)
    for detour, place in (
        (other_folder_of_hooks, "."),
        (more_settings, "."),
        (swapped, "."),
        (elsewhere, "x"),
        (shared, "z"),
    ):
        assert await runs.of(detour), detour
        use_git(folder / place)
        assert not ran(mark), detour


async def test_what_is_only_data_is_left_alone(folder: Path) -> None:
    def work() -> None:
        for name in ("one", "two"):
            (folder / name).mkdir()
            git("init", "-q", folder=folder / name)
            git("commit", "-q", "--allow-empty", "-m", "first", folder=folder / name)
        one = folder / "one"
        git("remote", "add", "origin", "https://example.org/x.git", folder=one)
        git("config", "branch.main.remote", "origin", folder=one)
        git("config", "user.email", "a@example.org", folder=one)
        git("worktree", "add", "-q", "../three", folder=one)
        local = ("-c", "protocol.file.allow=always")
        git(*local, "submodule", "add", "-q", str(folder / "two"), "part", folder=one)
        git("gc", "-q", folder=one)

    assert await Runs(folder).of(work) == ""
    assert not disarmed(folder)


LINES = (
    "[core]", " [CORE] # c", "[core]fsmonitor=evil", "[core.x]", '[core "a\\"b"]', "[user]",
    "[core",
    "[include]", "fsmonitor = evil", "\tFsMonitor=evil", "abbrev = 7", "abbrev = 7 \\", 'name = "a',
    'name = "a\\', "path = evil", "# \\", "; fsmonitor = evil", "]", "", "\ufeff[core]", "x\0",
    "\r",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(LINES)).map("\n".join))
def test_git_reads_no_setting_that_it_would_run_in_what_is_kept(text: str) -> None:
    kept = harmless_part(text)
    assert harmless_part(kept) == kept
    said = subprocess.run(
        ["git", "config", "--file", "-", "--list", "--name-only"],
        input=kept.encode(),
        capture_output=True,
        check=False,
    )
    assert not {"core.fsmonitor", "include.path"} & set(said.stdout.decode().split())
