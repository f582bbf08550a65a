"""What code set up for git to run unasked does not run when the person next uses git there."""

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sayso.server.runtimes.protection import startup_files, writable_folders
from tests.git import git
from tests.path_swapper import swapping
from tests.undo.arming import WAYS, armed, made, program
from tests.undo.hooks.runs import Runs, disarmed, ran, use_git


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """It is there if git ran what it should not."""
    return tmp_path / "it ran"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "workspace"
    made.mkdir()
    before = descriptors()
    yield made
    assert descriptors() <= before, "descriptors are left open"


def descriptors() -> int:
    place = Path("/proc/self/fd")
    return sum(1 for _ in place.iterdir()) if place.exists() else 0


async def test_a_repository_that_code_made_runs_nothing_and_works(folder: Path, mark: Path) -> None:
    new = folder / "deep" / "new"
    note = await Runs(folder).of(lambda: armed(made(new), mark))
    assert "2 hooks or startup files" in note
    assert "1 file of git's settings" in note
    use_git(new)
    assert not ran(mark)
    assert git("config", "--local", "user.name", folder=new) == "kept\n"
    assert "fsmonitor" in (new / ".git" / "config.disarmed").read_text()
    assert not await Runs(folder).of(lambda: None)


async def test_a_persons_own_repository_keeps_its_own_hooks(folder: Path, mark: Path) -> None:
    made(folder)
    git("config", "core.editor", "my own", folder=folder)
    own = folder / ".git" / "hooks" / "commit-msg"
    own.write_text("#!/bin/sh\n")
    before = (folder / ".git" / "config").read_text()
    runs = Runs(folder)
    assert not await runs.of(lambda: (folder / "file").write_text("new"))
    assert (folder / ".git" / "config").read_text() == before
    assert await runs.of(lambda: armed(folder, mark))
    use_git(folder)
    assert not ran(mark)
    assert own.read_text() == "#!/bin/sh\n"
    # What it says now is all that is written: what it said before may be somebody else's by now.
    assert git("config", "--local", "user.name", folder=folder) == "kept\n"
    assert "my own" in (folder / ".git" / "config.disarmed").read_text()


async def test_what_a_person_changes_between_two_runs_is_theirs(folder: Path) -> None:
    made(folder)
    runs = Runs(folder)
    assert not await runs.of(lambda: None)
    git("config", "core.editor", "my own", folder=folder)
    program(folder / ".git" / "hooks" / "commit-msg", folder / "unused")
    assert not await runs.of(lambda: None)
    assert not disarmed(folder)


async def test_what_comes_between_two_runs_is_looked_at_before_the_next(
    folder: Path, mark: Path
) -> None:
    runs = Runs(folder)
    assert not await runs.of(lambda: None)
    armed(made(folder / "left running"), mark)
    assert "disarmed" in await runs.of(lambda: None)
    use_git(folder / "left running")
    assert not ran(mark)


async def test_while_code_runs_in_the_background_no_change_counts_as_the_persons(
    folder: Path,
) -> None:
    made(folder)
    runs = Runs(folder)
    await runs.begin("job")
    assert not await runs.of(lambda: None)
    program(folder / ".git" / "hooks" / "commit-msg", folder / "unused")
    await runs.begin("r1")
    assert disarmed(folder)
    await runs.over("r1")
    await runs.over("job")


async def test_what_comes_after_the_last_run_is_looked_at_when_a_conversation_ends(
    folder: Path, mark: Path
) -> None:
    made(folder / "own")
    runs = Runs(folder)
    assert not await runs.of(lambda: None)
    armed(made(folder / "left running"), mark)
    git("config", "core.editor", "my own", folder=folder / "own")
    await runs.end()
    use_git(folder / "left running")
    assert not ran(mark)
    assert git("config", "core.editor", folder=folder / "own") == "my own\n"


@pytest.mark.parametrize("own", [True, False], ids=["own", "codes"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
async def test_no_way_leads_git_to_what_code_wrote(
    folder: Path, mark: Path, way: Callable[[Path, Path], Path], *, own: bool
) -> None:
    runs = Runs(folder)
    if own:
        made(folder)
    else:
        assert not await runs.of(lambda: None)
    used: list[Path] = []

    def work() -> None:
        made(folder)
        used.append(way(folder, mark))

    note = await runs.of(work)
    assert note
    assert "\n" not in note
    note.encode()
    with contextlib.suppress(PermissionError):
        for place in {folder, *used}:
            if place.exists():
                use_git(place)
    assert not ran(mark)
    await runs.of(lambda: None)  # it goes on


@pytest.mark.parametrize("before", [0, 60, 99, 100])
async def test_folders_beyond_the_bound_are_closed_and_the_persons_own_are_looked_at_first(
    folder: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(writable_folders, "FOLDERS_MOST", 200)
    for number in range(before):
        (folder / f"own{number}").mkdir()
    own = made(folder / "zz own")
    runs = Runs(folder)
    used: list[Path] = []

    def work() -> None:
        for number in range(201):
            (folder / f"decoy{number}").mkdir()
        armed(own, mark)
        for name in ("decoy200/new", "zz"):
            armed(made(folder / name), mark)
            used.append(folder / name)

    assert await runs.of(work)
    assert all((folder / f"own{number}").stat().st_mode & 0o700 for number in range(before))
    assert not await runs.of(lambda: None)  # it goes on
    for place in (own, *used):
        with contextlib.suppress(PermissionError):
            if place.exists():
                use_git(place)
    assert not ran(mark)


MANAGED = {
    "husky": ('. "$(dirname "$0")/h"\n', ".husky/_/h", ".husky/pre-commit"),
    "pre-commit": ("exec pre-commit hook-impl\n", ".pre-commit-config.yaml"),
    "lefthook": ("lefthook run pre-commit\n", "lefthook.yml"),
    "script": ('exec "$(git rev-parse --show-toplevel)/scripts/check.sh"\n', "scripts/check.sh"),
    "new script": ("[ ! -f tools/check.sh ] || ./tools/check.sh\n", "tools/check.sh"),
}


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("manager", MANAGED)
async def test_what_a_persons_own_hook_runs_is_not_codes(
    folder: Path, mark: Path, manager: str, *, there: bool
) -> None:
    made(folder)
    hook, *files = MANAGED[manager]
    hooks = folder / (".husky/_" if manager == "husky" else ".git/hooks")
    program(hooks / "pre-commit", mark).write_text(f"#!/bin/sh\n{hook}")
    if manager == "husky":
        git("config", "core.hooksPath", ".husky/_", folder=folder)
    for name in files if there else ():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")

    def work() -> None:
        for name in files:
            program(folder / name, mark)
        program(folder / "src" / "main.py", mark)

    assert f"{len(files)} hook" in await Runs(folder).of(work)
    assert not any((folder / name).exists() for name in files)
    assert (folder / "src" / "main.py").exists()
    use_git(folder)
    assert not ran(mark)


async def test_git_writes_in_no_folder_that_code_names(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "home"
    victim.mkdir()

    def work() -> None:
        new = made(folder / "new")
        (new / ".bashrc").write_text("evil")
        git("add", "--all", folder=new)
        git("commit", "-q", "-m", "first", folder=new)
        (folder / "link").symlink_to(victim)
        git("config", "core.worktree", "../../link", folder=new)

    assert await Runs(folder).of(work)
    git("checkout", "-q", "-f", "HEAD", folder=folder / "new")
    assert not list(victim.iterdir())


async def test_git_writes_no_startup_file_for_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sayso.server.runtimes.protection.write_protected_files.homes", lambda: frozenset({folder})
    )
    (folder / ".bashrc").write_text("mine")

    def work() -> None:
        new = made(folder / "new")
        (new / ".bashrc").write_text("evil")
        git("add", "--all", folder=new)
        git("commit", "-q", "-m", "first", folder=new)
        git("config", "core.worktree", "../..", folder=new)

    assert await Runs(folder).of(work)
    git("checkout", "-q", "-f", "HEAD", folder=folder / "new")
    assert (folder / ".bashrc").read_text() == "mine"


async def test_what_is_only_data_is_left_alone(folder: Path) -> None:
    def work() -> None:
        for name in ("one", "two"):
            made(folder / name)
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


async def test_what_other_systems_would_run_has_another_name(folder: Path, mark: Path) -> None:
    (folder / "own" / ".hg").mkdir(parents=True)
    (folder / "own" / ".hg" / "hgrc").write_text("[ui]\nusername = me\n")

    def work() -> None:
        for name in ("own/.hg", "new/.hg", "new/.jj/repo"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name in ("own/.hg/hgrc", "new/.hg/hgrc", "new/.jj/repo/config.toml"):
            (folder / name).write_text("[hooks]\nstatus = evil\n")

    assert "3 hooks" in await Runs(folder).of(work)
    assert len(disarmed(folder)) == 3


STARTUP = (
    ".bash_aliases", ".inputrc", ".pythonrc", ".gitconfig", ".ssh/rc", ".config/git/config",
    ".local/share/systemd/user/x.service", ".local/share/dbus-1/services/x.service",
    ".local/share/applications/x.desktop", ".config/autostart/x.desktop",
    ".config/fish/config.fish",
)  # fmt: skip


@pytest.mark.parametrize("there", [True, False])
async def test_a_startup_file_that_code_wrote_has_another_name(
    folder: Path, mark: Path, monkeypatch: pytest.MonkeyPatch, *, there: bool
) -> None:
    monkeypatch.setattr(startup_files, "homes", lambda: frozenset({folder}))
    monkeypatch.setattr(
        "sayso.server.runtimes.protection.write_protected_files.homes", startup_files.homes
    )
    (folder / "dotfiles").mkdir()
    if there:
        (folder / ".config").symlink_to("dotfiles")
        for name in STARTUP:
            program(folder / name, mark).write_text("mine")
    (folder / "notes").write_text("mine")

    def work() -> None:
        for name in STARTUP:
            program(folder / name, mark)
        (folder / "notes").write_text("new")

    assert str(len(STARTUP)) in await Runs(folder).of(work)
    assert [name for name in STARTUP if (folder / name).exists()] == []
    assert (folder / "notes").read_text() == "new"


def write_settings(folder: Path, text: str) -> None:
    """In the repository in it, and nowhere else."""
    with contextlib.ExitStack() as opened:
        way = os.O_RDONLY | os.O_NOFOLLOW
        at = None
        for name in (str(folder), "repository", ".git"):
            at = os.open(name, way, dir_fd=at)
            opened.callback(os.close, at)
        written = os.open("config", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, dir_fd=at)
        with os.fdopen(written, "w") as file:
            file.write(text)


def plain_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="names cannot be swapped")
@pytest.mark.parametrize("what", [".git", ".", ".git/hooks"])
async def test_no_text_of_a_file_outside_gets_in_however_fast_names_are_swapped(
    folder: Path, tmp_path: Path, mark: Path, what: str
) -> None:
    outside = tmp_path / ".kube"
    outside.mkdir()
    (outside / "config").write_text("[user]\n\tname = SECRET\n[core]\n\teditor = SECRET\n")
    (outside / "pre-commit").write_text("SECRET")
    (outside / ".git").mkdir()
    (outside / ".git" / "config").write_text("[core]\n\teditor = SECRET\n")
    before = {path: path.lstat() for path in outside.rglob("*")}
    repository = made(folder / "repository")
    link = folder / "link"
    link.symlink_to(outside)
    runs = Runs(folder)
    with swapping(repository / what, link):
        for number in range(40):
            with contextlib.suppress(OSError):
                write_settings(folder, f"[core]\n\teditor = evil{number}\n\tabbrev = 9\n")
            with contextlib.suppress(AssertionError):  # it does not run while things are swapped
                await runs.of(lambda: None)
    await runs.of(lambda: None)  # it goes on
    assert {path: path.lstat() for path in outside.rglob("*")} == before
    assert not [path for path in plain_files(folder) if b"SECRET" in path.read_bytes()]
