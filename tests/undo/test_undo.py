"""What a run did to files is taken back exactly, and nothing else is touched."""

import os
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sayso.server.undo.store import Room
from tests.git import git
from tests.undo.place import Place, picture, place


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as here:
        yield here


def furnish(workspace: Path) -> None:
    """Everything that a workspace can hold."""
    (workspace / "plain.txt").write_bytes(b"one\ntwo\n")
    (workspace / "windows.txt").write_bytes(b"one\r\ntwo\r\n\x1a")
    (workspace / "empty").write_bytes(b"")
    (workspace / "program.sh").write_bytes(b"#!/bin/sh\n")
    (workspace / "program.sh").chmod(0o751)
    (workspace / "secret").write_bytes(b"s")
    (workspace / "secret").chmod(0o400)
    (workspace / "deep/er/est").mkdir(parents=True)
    (workspace / "deep/er/est/leaf").write_bytes(os.urandom(5_000))
    (workspace / "nothing here").mkdir(mode=0o711)
    (workspace / "to plain").symlink_to("plain.txt")
    (workspace / "to nowhere").symlink_to("../../no/such/thing")
    (workspace / "to folder").symlink_to("deep", target_is_directory=True)
    (workspace / "twin").hardlink_to(workspace / "plain.txt")
    (workspace / "new\nline \"and'\\ ü 🎈").write_bytes(b"odd")
    Path(os.fsdecode(os.fsencode(workspace) + b"/not \xff utf-8")).write_bytes(b"odder")
    (workspace / ".gitignore").write_bytes(b"*.log\n")
    (workspace / "build.log").write_bytes(b"ignored by git\n")
    os.mkfifo(workspace / "pipe", 0o640)
    (workspace / "inner/.git/objects/ab").mkdir(parents=True)
    (workspace / "inner/.git/HEAD").write_bytes(b"ref: refs/heads/main\n")
    (workspace / "inner/.git/objects/ab/cdef").write_bytes(os.urandom(300))
    (workspace / "inner/.git/objects/ab/cdef").chmod(0o444)
    with (workspace / "holes").open("wb") as file:
        file.seek(64 * 1024**2)
        file.write(b"the end")
        file.truncate(70 * 1024**2)
    for path in (workspace / "plain.txt", workspace / "deep/er/est/leaf"):
        os.utime(path, ns=(1_000_000_001, 1_234_567_890_123_456_789))


def everything_gone(workspace: Path) -> None:
    for path in workspace.iterdir():
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def everything_emptied(workspace: Path) -> None:
    for path in workspace.rglob("*"):
        if path.is_file() and not path.is_symlink():
            path.chmod(0o600)
            path.write_bytes(b"gone")


def everything_closed(workspace: Path) -> None:
    for path in sorted(workspace.rglob("*"), reverse=True):
        if not path.is_symlink():
            path.chmod(0)


def other_kinds(workspace: Path) -> None:
    """Files become folders, folders files, links something else."""
    (workspace / "plain.txt").unlink()
    (workspace / "plain.txt").mkdir()
    (workspace / "plain.txt/inside").write_text("x")
    shutil.rmtree(workspace / "deep")
    (workspace / "deep").write_text("no folder any more")
    (workspace / "to plain").unlink()
    (workspace / "to plain").symlink_to("windows.txt")
    (workspace / "to nowhere").unlink()
    (workspace / "to nowhere").write_text("somewhere")
    (workspace / "empty").unlink()
    (workspace / "empty").symlink_to("/etc/passwd")
    (workspace / "pipe").unlink()
    (workspace / "pipe").mkdir()


def much_new(workspace: Path) -> None:
    (workspace / "a/b/c").mkdir(parents=True)
    (workspace / "a/b/c/d").write_text("new")
    (workspace / "a/link").symlink_to("b")
    (workspace / "deep/er/sibling").write_text("new")
    os.mkfifo(workspace / "a/pipe")


def moved(workspace: Path) -> None:
    (workspace / "deep").rename(workspace / "shallow")
    (workspace / "plain.txt").rename(workspace / "program.sh")


DEEDS = [everything_gone, everything_emptied, everything_closed, other_kinds, much_new, moved]


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
async def test_undo_and_redo_make_every_path_exactly_as_it_was(
    here: Place, deed: Callable[[Path], None]
) -> None:
    furnish(here.workspace)
    before = picture(here.workspace)
    await here.run(deed)
    after = picture(here.workspace)
    assert after != before
    undone = await here.undo()
    assert (undone.outcome, undone.left) == ("done", ())
    assert picture(here.workspace) == before
    redone = await here.redo()
    assert (redone.outcome, redone.left) == ("done", ())
    assert picture(here.workspace) == after
    assert (await here.undo()).outcome == "done"
    assert picture(here.workspace) == before


def _one_name_gone(workspace: Path) -> None:
    (workspace / "plain.txt").unlink()
    (workspace / "twin").chmod(0o600)


@pytest.mark.parametrize(
    "deed",
    [lambda workspace: (workspace / "plain.txt").write_text("both"), _one_name_gone],
    ids=["changed under both names", "one name gone, the other adjusted"],
)
async def test_a_file_with_two_names_is_one_file_again(
    here: Place, deed: Callable[[Path], object]
) -> None:
    furnish(here.workspace)
    one, other = here.workspace / "plain.txt", here.workspace / "twin"
    await here.run(deed)
    await here.undo()
    assert one.read_bytes() == other.read_bytes() == b"one\ntwo\n"
    assert one.samefile(other)
    await here.run(lambda _: other.unlink())
    await here.undo()
    assert one.samefile(other)


async def test_holes_stay_holes(here: Place) -> None:
    furnish(here.workspace)
    holes = here.workspace / "holes"
    await here.run(lambda _: holes.unlink())
    await here.undo()
    assert holes.stat().st_blocks * 512 < 2 * 1024**2
    assert holes.stat().st_size == 70 * 1024**2


async def test_a_date_alone_is_put_back_and_is_no_change_to_speak_of(here: Place) -> None:
    furnish(here.workspace)
    before = picture(here.workspace)

    def touch(workspace: Path) -> None:
        (workspace / "plain.txt").touch()
        (workspace / "windows.txt").write_text("changed")

    assert (await here.run(touch)).changed == ("windows.txt",)
    await here.undo()
    assert picture(here.workspace) == before


async def test_a_run_tells_what_it_added_changed_and_deleted(here: Place) -> None:
    furnish(here.workspace)

    def change(workspace: Path) -> None:
        (workspace / "new").write_text("x")
        (workspace / "plain.txt").chmod(0o600)
        (workspace / "empty").unlink()

    changes = await here.run(change)
    # One file with two names has changed under both.
    assert changes.changed == ("plain.txt", "twin")
    assert (changes.added, changes.deleted, changes.more) == (("new",), ("empty",), 0)
    assert not await here.run(lambda _: None)


async def test_what_was_changed_since_is_left_and_named(here: Place) -> None:
    for name in ("a", "b", "c", "d"):
        (here.workspace / name).write_text("before")

    def change(workspace: Path) -> None:
        (workspace / "a").write_text("by the run")
        (workspace / "b").write_text("by the run")
        (workspace / "c").unlink()
        (workspace / "d").unlink()
        (workspace / "new").mkdir()
        (workspace / "new/mine").write_text("by the run")

    await here.run(change)
    (here.workspace / "b").write_text("by the person")
    (here.workspace / "d").write_text("by the person")
    (here.workspace / "new/theirs").write_text("by the person")
    undone = await here.undo()
    assert undone.restored == ("a", "c")
    assert undone.removed == ("new/mine",)
    assert [left.path for left in undone.left] == ["b", "d", "new"]
    assert (here.workspace / "a").read_text() == (here.workspace / "c").read_text() == "before"
    assert (here.workspace / "b").read_text() == (here.workspace / "d").read_text()
    assert (here.workspace / "new/theirs").read_text() == "by the person"


async def test_nothing_is_done_twice_and_earlier_runs_follow(here: Place) -> None:
    file = here.workspace / "count"
    for number in range(3):
        await here.run(lambda _, number=number: file.write_text(str(number)))  # type: ignore[misc]
    await here.run(lambda _: None)
    assert (await here.undo()).runs == ("run2",)
    assert file.read_text() == "1"
    assert (await here.undo()).runs == ("run1",)
    assert file.read_text() == "0"
    assert (await here.redo()).runs == ("run1",)
    assert file.read_text() == "1"
    await here.undo()
    assert (await here.undo()).removed == ("count",)
    assert (await here.undo()).outcome == "nothing"
    assert not file.exists()


async def test_after_other_code_has_run_nothing_is_redone(here: Place) -> None:
    file = here.workspace / "file"
    await here.run(lambda _: file.write_text("first"))
    await here.undo()
    await here.run(lambda _: file.write_text("second"))
    assert (await here.redo()).outcome == "nothing"
    assert file.read_text() == "second"


async def test_runs_of_one_request_are_taken_back_together(here: Place) -> None:
    (here.workspace / "file").write_text("before")

    def go_on(workspace: Path) -> None:
        (workspace / "file").unlink()
        (workspace / "passing").write_text("x")

    def finish(workspace: Path) -> None:
        (workspace / "passing").unlink()
        (workspace / "result").write_text("x")

    await here.run(lambda w: (w / "file").write_text("half"))
    await here.run(go_on)
    await here.run(finish)
    undone = await here.checkpoints.undo([here.runs])
    assert (undone.restored, undone.removed) == (("file",), ("result",))
    assert [path.name for path in here.workspace.iterdir()] == ["file"]
    assert (here.workspace / "file").read_text() == "before"


async def test_folders_that_were_granted_are_kept_too(tmp_path: Path) -> None:
    (tmp_path / "downloads").mkdir()
    letter = tmp_path / "downloads/letter"
    letter.write_text("dear")
    async with place(tmp_path, None, tmp_path / "downloads") as here:
        changes = await here.run(lambda _: letter.unlink())
        assert changes.deleted == (str(letter),)
        assert (await here.undo()).restored == (str(letter),)
    assert letter.read_text() == "dear"


async def test_a_single_file_that_was_granted_stays_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    note, other = tmp_path / "notes/mine", tmp_path / "notes/other"
    note.write_text("dear diary")
    other.write_text("not granted")
    async with place(tmp_path, None, note) as here:
        inode = note.stat().st_ino
        changes = await here.run(lambda _: (note.write_text("x"), other.write_text("y")))
        assert changes.changed == (str(note),)
        await here.undo()
        assert (note.read_text(), note.stat().st_ino) == ("dear diary", inode)
        await here.run(lambda _: note.unlink())
        await here.undo()
    assert (note.read_text(), other.read_text()) == ("dear diary", "y")


async def test_links_out_of_the_workspace_are_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_text("secret")
    async with place(tmp_path) as here:
        inside = here.workspace / "folder"
        inside.mkdir()
        (inside / "theirs").write_text("mine")
        await here.run(lambda _: (inside / "theirs").write_text("changed"))
        shutil.rmtree(inside)
        inside.symlink_to(outside, target_is_directory=True)
        undone = await here.undo()
        assert undone.outcome == "blocked"
        assert [left.path for left in undone.left] == ["folder/theirs"]
        await here.run(lambda _: inside.unlink())
        await here.undo()
        assert inside.readlink() == outside
    assert (outside / "theirs").read_text() == "secret"
    kept = b"".join(path.read_bytes() for path in (tmp_path / "state").glob("*.sqlite*"))
    assert b"secret" not in kept


async def test_what_is_too_big_to_keep_is_named_and_never_destroyed(tmp_path: Path) -> None:
    async with place(tmp_path, Room(file_bytes=10_000)) as here:
        (here.workspace / "film").write_bytes(bytes(20_000))
        (here.workspace / "note").write_text("note")

        def change(workspace: Path) -> None:
            (workspace / "film").rename(workspace / "renamed")
            (workspace / "note").unlink()

        await here.run(change)
        undone = await here.undo()
        assert undone.restored == ("note",)
        assert [left.path for left in undone.left] == ["film", "renamed"]
        assert [left.reason for left in undone.left] == ["too_big", "only_copy"]
        assert (here.workspace / "renamed").stat().st_size == 20_000


async def test_the_oldest_go_out_when_room_is_short(tmp_path: Path) -> None:
    room = Room(total_bytes=400_000)
    async with place(tmp_path, room) as here:
        file = here.workspace / "file"
        for _ in range(20):
            await here.run(lambda _: file.write_bytes(os.urandom(50_000)))
        last = file.read_bytes()
        count = 0
        while (await here.undo()).outcome == "done":
            count += 1
        assert 1 <= count < 8
        assert file.exists()
        for _ in range(count):
            await here.redo()
        assert file.read_bytes() == last
    archive = next((tmp_path / "state").glob("*.sqlite"))
    assert archive.stat().st_size < 500_000


async def test_where_there_is_no_room_at_all_small_files_are_kept_first(tmp_path: Path) -> None:
    async with place(tmp_path, Room(total_bytes=150_000)) as here:
        for number in range(5):
            (here.workspace / f"large{number}").write_bytes(os.urandom(60_000))
        (here.workspace / "small").write_text("kept")
        await here.run(everything_gone)
        undone = await here.undo()
        assert "small" in undone.restored
        assert undone.left
        assert {left.reason for left in undone.left} == {"no_room"}


async def test_too_many_files_are_not_kept_and_stop_no_work(tmp_path: Path) -> None:
    async with place(tmp_path, Room(files=10)) as here:
        for number in range(20):
            (here.workspace / str(number)).touch()
        await here.run(everything_gone)
        assert (await here.undo()).outcome == "nothing"


@pytest.mark.needs("git")
async def test_a_nested_repository_is_whole_after_undo(here: Place) -> None:
    inner = here.workspace / "inner"
    inner.mkdir()
    git("init", "-q", folder=inner)
    (inner / "file").write_text("kept in the repository")
    git("add", "file", folder=inner)
    git("commit", "-qm", "first", folder=inner)
    await here.run(lambda _: shutil.rmtree(inner))
    await here.undo()
    assert git("status", "--porcelain", folder=inner) == ""
    assert "first" in git("log", "--oneline", folder=inner)
    git("fsck", "--strict", folder=inner)


@pytest.mark.slow
async def test_the_comparison_shows_lines_and_names_the_rest(here: Place) -> None:
    (here.workspace / "poem").write_text("roses\nare\nred\n")
    (here.workspace / "picture").write_bytes(b"\x89PNG\0before")
    await here.run(
        lambda w: (
            (w / "poem").write_text("roses\nare\nblue\n"),
            (w / "picture").write_bytes(b"\x89PNG\0after"),
            (w / "new").write_text("hello\n"),
        )
    )
    text = await here.checkpoints.diff([here.runs])
    assert "-red\n+blue" in text
    assert "changed: picture" in text
    assert "added: new\n@@ -0,0 +1 @@\n+hello" in text
    await here.undo()
    assert await here.checkpoints.diff([here.runs]) == ""
