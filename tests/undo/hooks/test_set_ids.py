"""What code leaves gives nobody the rights of the server's user; what the person made so stays."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest

from sayso.server.undo.checkpointer import NoCheckpoints
from sayso.server.undo.hooks.guard import GitHookGuard
from sayso.server.undo.hooks.recovery import RecoveryFile
from tests.undo.hooks.runs import Runs, kept_of

BOTH = stat.S_ISUID | stat.S_ISGID


def program(path: Path, mode: int = 0o4755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    path.chmod(mode)
    return path


def gives_rights(path: Path) -> bool:
    return bool(path.stat().st_mode & BOTH)


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o6111, 0o4000])
@pytest.mark.parametrize("name", ["a", "b/c/a", ".git/objects/ab/a", "a.disarmed"])
async def test_a_program_that_code_left_gives_nobody_rights(
    tmp_path: Path, name: str, mode: int
) -> None:
    note = await Runs(tmp_path).of(lambda: program(tmp_path / name, mode))
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == mode & ~BOTH
    assert "1 program that would run with your rights" in note


async def test_what_the_person_made_so_stays_and_its_name_passes_it_on_to_nothing_else(
    tmp_path: Path,
) -> None:
    own, moved = program(tmp_path / "own"), program(tmp_path / "moved")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o2775)
    runs = Runs(tmp_path)

    def swap() -> None:
        moved.rename(tmp_path / "elsewhere")
        program(moved)

    note = await runs.of(swap)
    assert gives_rights(own)
    assert gives_rights(tmp_path / "elsewhere")
    assert not gives_rights(moved)
    assert gives_rights(tmp_path / "shared")
    assert "1 program" in note
    assert not await runs.of(lambda: None)


async def test_what_is_left_after_the_last_run_is_cleared_when_the_conversation_is_left(
    tmp_path: Path,
) -> None:
    runs = Runs(tmp_path)
    assert not await runs.of(lambda: None)
    left = program(tmp_path / "left")
    await runs.end()
    assert not gives_rights(left)


async def test_what_a_run_without_a_sandbox_made_so_stays(tmp_path: Path) -> None:
    folders: Sequence[Path] = [tmp_path]
    looks = GitHookGuard(NoCheckpoints(), lambda: folders, RecoveryFile(kept_of(tmp_path)))
    assert not await looks.before("1")
    await looks.after("1")
    folders = []
    assert not await looks.before("2")
    made = program(tmp_path / "made")
    await looks.after("2")
    folders = [tmp_path]
    assert not await looks.before("3")
    theirs = program(tmp_path / "theirs")
    await looks.after("3")
    assert gives_rights(made)
    assert not gives_rights(theirs)


async def test_what_a_run_without_a_sandbox_made_so_stays_when_the_conversation_is_left(
    tmp_path: Path,
) -> None:
    folders: Sequence[Path] = [tmp_path]
    looks = GitHookGuard(NoCheckpoints(), lambda: folders, RecoveryFile(kept_of(tmp_path)))
    assert not await looks.before("1")
    await looks.after("1")
    folders = []
    assert not await looks.before("2")
    made = program(tmp_path / "made")
    await looks.after("2")
    folders = [tmp_path]
    await looks.close()
    assert gives_rights(made)


async def test_a_link_leads_to_no_program_elsewhere(tmp_path: Path) -> None:
    outside = program(tmp_path / "outside" / "a")
    folder = tmp_path / "workspace"
    folder.mkdir()
    assert not await Runs(folder).of(lambda: (folder / "a").symlink_to(outside))
    assert gives_rights(outside)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of others")
async def test_what_is_another_users_is_left_alone(tmp_path: Path) -> None:
    def give() -> None:
        os.chown(program(tmp_path / "a"), 4711, 4711)
        (tmp_path / "a").chmod(0o4755)

    assert not await Runs(tmp_path).of(give)
    assert gives_rights(tmp_path / "a")
