"""Whatever ended a server in the middle of a run, the next one puts out of action what that run
left to run unasked, and leaves the person's own alone."""

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso.server.runtimes.protection import startup_files
from sayso.server.undo.quota import UndoQuota
from tests.git import git
from tests.undo.arming import WAYS, armed, made, program
from tests.undo.hooks.runs import Life, disarmed, ran, use_git


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    there = tmp_path / "workspace"
    there.mkdir()
    return there


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "state" / "kept"


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """It is there if git ran what it should not."""
    return tmp_path / "it ran"


def own(folder: Path) -> Path:
    """A repository in which the person has a hook and settings that run something."""
    there = made(folder)
    git("config", "core.editor", "my own", folder=there)
    program(there / ".git" / "hooks" / "commit-msg", folder / "unused").write_text("#!/bin/sh\n")
    return there


def is_as_it_was(repository: Path) -> bool:
    hook = repository / ".git" / "hooks" / "commit-msg"
    return hook.exists() and "my own" in (repository / ".git" / "config").read_text()


@pytest.mark.parametrize("is_own", [True, False], ids=["own", "codes"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: str(way.__name__))
async def test_no_way_leads_git_to_what_a_run_wrote_that_was_cut_off(
    folder: Path, kept: Path, mark: Path, way: Callable[[Path, Path], Path], *, is_own: bool
) -> None:
    if is_own:
        made(folder)
    life, used = Life(kept, folder), [folder]

    def work() -> None:
        made(folder)
        used.append(way(folder, mark))

    await life.is_cut_off(work)
    assert "disarmed" in await life.guard.recover()
    for place in used:
        if os.access(place, os.X_OK):
            use_git(place)
    assert not ran(mark)
    assert not await life.run()


async def test_what_is_the_persons_stays_whatever_a_run_armed_beside_it(
    folder: Path, kept: Path, mark: Path
) -> None:
    mine, changed = own(folder / "mine"), own(folder / "changed")
    life = Life(kept, folder)
    await life.run((folder / "new").mkdir)

    def work() -> None:
        for repository in (changed, made(folder / "codes")):
            armed(repository, mark)

    await life.is_cut_off(work)
    assert "disarmed" in await life.guard.recover()
    assert is_as_it_was(mine)
    assert not is_as_it_was(changed)
    for place in (mine, changed, folder / "codes"):
        use_git(place)
    assert not ran(mark)


async def test_what_came_since_the_last_run_is_looked_through_as_when_the_conversation_is_left(
    folder: Path, kept: Path, mark: Path
) -> None:
    mine = own(folder / "mine")
    life = Life(kept, folder)
    await life.run()
    git("config", "core.pager", "my pager", folder=mine)
    armed(made(folder / "left running"), mark)
    life.is_killed()
    assert "disarmed" in await life.guard.recover()
    assert is_as_it_was(mine)
    assert "my pager" in (mine / ".git" / "config").read_text()
    use_git(folder / "left running")
    assert not ran(mark)


async def test_a_conversation_that_was_left_owes_no_look(folder: Path, kept: Path) -> None:
    life = Life(kept, folder)
    await life.run()
    await life.guard.close()
    own(folder / "new")
    life.is_killed()
    assert not await life.guard.recover()
    assert not await life.run()
    assert is_as_it_was(folder / "new")


async def test_a_server_that_never_asks_looks_before_the_first_run(
    folder: Path, kept: Path, mark: Path
) -> None:
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    assert "disarmed" in await life.run()
    assert not await life.run()


async def test_login_files_that_a_run_wrote_have_another_name(
    folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sayso.server.runtimes.protection.write_protected_files.homes", lambda: frozenset({folder})
    )
    monkeypatch.setattr(startup_files, "homes", lambda: frozenset({folder}))
    (folder / ".profile").write_text("mine")
    (folder / ".bashrc").write_text("mine")

    def work() -> None:
        (folder / ".bashrc").write_text("evil")
        (folder / ".zshrc").write_text("evil")

    life = Life(kept, folder)
    await life.is_cut_off(work)
    assert "2 hooks or startup files" in await life.guard.recover()
    assert (folder / ".profile").read_text() == "mine"
    assert sorted(path.name for path in disarmed(folder)) == [".bashrc.disarmed", ".zshrc.disarmed"]


async def test_programs_that_give_rights_away_do_so_no_more_but_for_the_persons(
    folder: Path, kept: Path
) -> None:
    def gives_rights(name: str) -> Path:
        program(folder / name, folder).chmod(0o4755)
        return folder / name

    mine = gives_rights("mine")
    life = Life(kept, folder)
    await life.run()
    await life.is_cut_off(lambda: gives_rights("codes"))
    assert "1 program" in await life.guard.recover()
    assert mine.stat().st_mode & stat.S_ISUID
    assert not (folder / "codes").stat().st_mode & stat.S_ISUID


async def test_what_the_mode_full_made_is_the_persons(folder: Path, kept: Path, mark: Path) -> None:
    life = Life(kept, folder)
    await life.run()
    life.folders = ()
    await life.is_cut_off(lambda: own(folder / "mine"))
    life.folders = (folder,)
    assert not await life.guard.recover()
    assert not await life.run()
    assert is_as_it_was(folder / "mine")


@pytest.mark.parametrize("then", ["one folder less", "no sandbox"])
async def test_where_a_run_could_write_is_looked_at_whatever_was_granted_meanwhile(
    folder: Path, kept: Path, mark: Path, then: str
) -> None:
    other = folder.with_name("other")
    other.mkdir()
    life = Life(kept, folder, other)

    def work() -> None:
        armed(made(other / "codes"), mark)
        life.folders = (folder,) if then == "one folder less" else ()

    assert "disarmed" in await life.run(work)
    use_git(other / "codes")
    assert not ran(mark)


def altered(**others: object) -> Callable[[bytes], bytes]:
    return lambda text: json.dumps(json.loads(text) | others).encode()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda text: text[: len(text) // 2],
        lambda _: b"[" * 100_000,
        lambda _: b"\xff\xfe",
        lambda _: b"[]",
        altered(version=2),
        altered(stamps={"/x": ["1", 2]}),
        altered(stamps={"/x": [1, 2, 3]}),
        altered(stamps=[1]),
        altered(watched={"/x": "nothing"}),
        altered(roots={"/x": [1, 2]}),
    ],
)
async def test_where_what_was_known_cannot_be_read_no_code_runs_until_the_person_says_so(
    folder: Path, kept: Path, mark: Path, spoil: Callable[[bytes], bytes]
) -> None:
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    life.running.write_bytes(spoil(life.running.read_bytes()))
    assert "/reset" in await life.guard.recover()
    assert "/reset" in await life.guard.before("r")
    await life.guard.close()
    life.is_killed()
    assert "/reset" in await life.guard.before("r")
    await life.guard.accept()
    assert not await life.run()


def moved(folder: Path, name: str) -> None:
    if os.path.lexists(folder):
        folder.rename(folder.with_name(name))


REPLACEMENTS: Mapping[str, Callable[[Path], object]] = {
    "nothing": lambda _: None,
    "another": own,
    "a link": lambda folder: folder.symlink_to("elsewhere"),
}


@pytest.mark.parametrize("what", REPLACEMENTS)
async def test_where_a_folder_is_not_the_one_that_it_was_no_code_runs_until_it_is(
    folder: Path, kept: Path, mark: Path, what: str
) -> None:
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    moved(folder, "elsewhere")
    REPLACEMENTS[what](folder)
    assert "/reset" in await life.guard.recover()
    assert "/reset" in await life.guard.before("r")
    assert what != "another" or is_as_it_was(folder)
    moved(folder, "third")
    moved(folder.with_name("elsewhere"), folder.name)
    assert "disarmed" in await life.run()
    use_git(folder / "codes")
    assert not ran(mark)


def with_other_devices(text: bytes, boot: str) -> bytes:
    """As it would have been written before the machine gave its disks other numbers."""
    form: dict[str, Any] = json.loads(text)
    form["roots"] = {
        path: (device + 7, inode, boot) for path, (device, inode, _) in form["roots"].items()
    }
    for name in ("repositories", "stamps"):
        form[name] = {path: [one[0] + 7, *one[1:]] for path, one in form[name].items()}
    return json.dumps(form).encode()


async def test_disks_that_have_other_numbers_since_the_machine_started_are_known_again(
    folder: Path, kept: Path, mark: Path
) -> None:
    mine = own(folder / "mine")
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    life.running.write_bytes(with_other_devices(life.running.read_bytes(), "of before"))
    assert "disarmed" in await life.guard.recover()
    assert is_as_it_was(mine)
    use_git(folder / "codes")
    assert not ran(mark)


async def test_another_disk_in_the_place_of_the_one_that_was_is_not_it(
    folder: Path, kept: Path
) -> None:
    life = Life(kept, folder)
    await life.is_cut_off()
    form = json.loads(life.running.read_bytes())
    ((_, (_, _, boot)),) = form["roots"].items()
    life.running.write_bytes(with_other_devices(life.running.read_bytes(), boot))
    assert "another folder" in await life.guard.before("r")


async def test_a_look_that_cannot_be_made_is_owed_until_it_can(
    folder: Path, kept: Path, mark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (folder / f"own{number}").mkdir()
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    with monkeypatch.context() as bounded:
        bounded.setattr(
            "sayso.server.undo.hooks.inspection.walk", lambda *_, **__: _fail("it cannot be read")
        )
        assert "it cannot be read" in await life.guard.recover()
        assert "it cannot be read" in await life.guard.before("r")
    assert "disarmed" in await life.run()


def _fail(words: str) -> None:
    raise OSError(5, words)


async def test_what_did_not_change_is_not_written_again(folder: Path, kept: Path) -> None:
    own(folder)
    life = Life(kept, folder)
    await life.run()
    first = life.looked.stat()
    await life.run(lambda: (folder / "file").write_text("new"))
    assert (life.looked.stat().st_ino, life.looked.stat().st_mtime_ns) == (
        first.st_ino,
        first.st_mtime_ns,
    )
    (folder / ".git" / "hooks" / "pre-push").write_text("mine")
    await life.run()
    assert "pre-push" in life.looked.read_text()


async def test_nobody_else_can_read_what_is_kept(folder: Path, kept: Path) -> None:
    old = os.umask(0)
    try:
        await Life(kept, folder).run()
    finally:
        os.umask(old)
    assert all(not stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept.parent.iterdir())


async def test_however_much_others_keep_it_stays(folder: Path, kept: Path, mark: Path) -> None:
    life = Life(kept, folder)
    await life.is_cut_off(lambda: armed(made(folder / "codes"), mark))
    UndoQuota(kept.with_name("other.sqlite"), total_bytes=0).make(10**9)
    assert "disarmed" in await life.guard.recover()


async def test_no_code_runs_where_nothing_can_be_kept(folder: Path, kept: Path) -> None:
    kept.parent.write_text("no folder")
    hindrance = await Life(kept, folder).guard.before("r")
    assert hindrance.startswith("It did not run, because")


async def test_code_of_a_conversation_runs_by_one_server_at_a_time(
    folder: Path, kept: Path, mark: Path
) -> None:
    life = Life(kept, folder)
    assert not await life.guard.before("r")
    armed(made(folder / "codes"), mark)
    other = Life(kept, folder)
    assert "another Sayso server" in await other.guard.recover()
    await other.guard.accept()
    assert "another Sayso server" in await other.guard.before("r")
    assert "disarmed" in (await life.guard.after("r")).note
    await life.guard.close()
    assert not await other.run()
