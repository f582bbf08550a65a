"""What was renamed is told as renamed, and undone as that."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.store.changes import Renamed
from tests.undo.place import Place, picture, place


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as here:
        (here.workspace / "old.txt").write_text("kept")
        (here.workspace / "other.txt").write_text("other")
        (here.workspace / "notes/deep").mkdir(parents=True)
        for number in range(3):
            (here.workspace / f"notes/deep/{number}").write_text(f"note {number}")
        yield here


async def test_a_renamed_file_is_told_once(here: Place) -> None:
    before = picture(here.workspace)
    changes = await here.run(lambda w: (w / "old.txt").rename(w / "new.txt"))
    assert changes.renamed == (Renamed("old.txt", "new.txt"),)
    assert (changes.added, changes.changed, changes.deleted) == ((), (), ())
    undone = await here.undo()
    assert undone.renamed == (Renamed("new.txt", "old.txt"),)
    assert (undone.restored, undone.removed) == ((), ())
    assert picture(here.workspace) == before
    assert (await here.redo()).renamed == (Renamed("old.txt", "new.txt"),)


async def test_a_renamed_folder_is_told_once_for_all_in_it(here: Place) -> None:
    changes = await here.run(lambda w: (w / "notes").rename(w / "texts"))
    assert changes.renamed == (Renamed("notes/", "texts/"),)
    assert (changes.added, changes.deleted) == ((), ())


async def test_what_a_copy_took_elsewhere_was_moved(here: Place) -> None:
    def move(workspace: Path) -> None:
        (workspace / "far").mkdir()
        shutil.copyfile(workspace / "old.txt", workspace / "far/old.txt")
        (workspace / "old.txt").unlink()

    changes = await here.run(move)
    assert changes.renamed == (Renamed("old.txt", "far/old.txt"),)
    assert changes.added == ("far/",)


async def test_what_went_and_what_came_are_two_things_if_they_differ(here: Place) -> None:
    def replace(workspace: Path) -> None:
        (workspace / "old.txt").unlink()
        (workspace / "new.txt").write_text("something else")
        shutil.rmtree(workspace / "notes")
        (workspace / "texts").mkdir()

    changes = await here.run(replace)
    assert changes.renamed == ()
    assert changes.added == ("new.txt", "texts/")
    assert "old.txt" in changes.deleted


async def test_of_several_with_the_same_content_none_is_guessed(here: Place) -> None:
    for name in ("a", "b"):
        (here.workspace / name).write_text("same")

    def muddle(workspace: Path) -> None:
        for name in ("a", "b"):
            (workspace / name).unlink()
        for name in ("c", "d"):
            shutil.copyfile(workspace / "old.txt", workspace / name)
            (workspace / name).write_text("same")

    assert (await here.run(muddle)).renamed == ()


async def test_a_folder_of_which_a_part_moved_is_told_by_its_files(here: Place) -> None:
    def part(workspace: Path) -> None:
        (workspace / "texts").mkdir()
        (workspace / "notes/deep/0").rename(workspace / "texts/0")

    changes = await here.run(part)
    assert changes.renamed == (Renamed("notes/deep/0", "texts/0"),)
    assert changes.added == ("texts/",)


async def test_the_comparison_tells_a_renaming_in_a_line(here: Place) -> None:
    await here.run(lambda w: (w / "old.txt").rename(w / "new.txt"))
    assert await here.checkpoints.diff([here.runs]) == "renamed: old.txt became new.txt"
