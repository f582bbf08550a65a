"""A checkpointed folder that was swapped is neither read nor written by taking runs back."""

import sqlite3
from pathlib import Path

import pytest

from sayso.server.undo.checkpoints import archive_of
from tests.undo.place import place

SECRET = "the key to everything"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    made = tmp_path / "elsewhere"
    made.mkdir()
    (made / "plan.txt").write_text(SECRET)
    return made


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder that code may write to, in one that others may write to."""
    made = tmp_path / "projects" / "shared"
    made.mkdir(parents=True)
    (made / "plan.txt").write_text("the plan")
    return made


def swap(shared: Path, elsewhere: Path, depth: str) -> None:
    """Put a link in its place, or in that of the folder above it."""
    moved = shared if depth == "itself" else shared.parent
    moved.rename(moved.with_name("before"))
    moved.symlink_to(elsewhere if depth == "itself" else elsewhere.parent)
    if depth != "itself":
        elsewhere.rename(elsewhere.with_name("shared"))


def replace(shared: Path, elsewhere: Path) -> None:
    """Put another folder in its place, which looks the same."""
    shared.rename(shared.with_name("before"))
    elsewhere.rename(shared)
    (shared / "plan.txt").write_text("ruined")


def kept(folder: Path) -> bytes:
    """All that is kept of a conversation."""
    with sqlite3.connect(archive_of(folder / "state", "talk")) as archive:
        return b"".join(data for (data,) in archive.execute("SELECT data FROM piece"))


@pytest.mark.parametrize("depth", ["itself", "above"])
@pytest.mark.parametrize("again", ["at once", "after a restart"])
async def test_nothing_is_put_back_where_a_link_leads(
    tmp_path: Path, shared: Path, elsewhere: Path, depth: str, again: str
) -> None:
    async with place(tmp_path, None, shared) as here:
        await here.run(lambda _: (shared / "plan.txt").write_text("ruined"))
        (elsewhere / "plan.txt").write_text("ruined")  # as the run left it, and still not its
        swap(shared, elsewhere, depth)
        undone = await here.undo() if again == "at once" else None
        runs = here.runs
    if undone is None:
        async with place(tmp_path) as here:
            here.runs = runs
            undone = await here.undo()
    found = next(path for path in (elsewhere, elsewhere.with_name("shared")) if path.exists())
    assert (found / "plan.txt").read_text() == "ruined"
    assert undone.outcome == "blocked"
    assert [left.reason for left in undone.left] == ["no_folder"]


async def test_nothing_is_put_back_into_another_folder_in_its_place(
    tmp_path: Path, shared: Path, elsewhere: Path
) -> None:
    async with place(tmp_path, None, shared) as here:
        await here.run(lambda _: (shared / "plan.txt").write_text("ruined"))
        runs = here.runs
    replace(shared, elsewhere)
    async with place(tmp_path) as here:
        here.runs = runs
        undone = await here.undo()
    assert (shared / "plan.txt").read_text() == "ruined"
    assert undone.outcome == "blocked"


async def test_nothing_is_kept_of_what_a_link_leads_to(
    tmp_path: Path, shared: Path, elsewhere: Path
) -> None:
    async with place(tmp_path, None, shared) as here:
        swap(shared, elsewhere, "itself")
        await here.run(lambda workspace: (workspace / "made").write_text("x"))
    assert SECRET.encode() not in kept(tmp_path)


async def test_what_an_older_sayso_kept_can_be_taken_back(tmp_path: Path, shared: Path) -> None:
    async with place(tmp_path, None, shared) as here:
        await here.run(lambda _: (shared / "plan.txt").write_text("ruined"))
        runs = here.runs
    with sqlite3.connect(archive_of(tmp_path / "state", "talk")) as archive:
        for number, key in archive.execute("SELECT id, path FROM root").fetchall():
            before = key.split(b"\0")[0]
            archive.execute("UPDATE root SET path = ? WHERE id = ?", (before, number))
    archive.close()
    async with place(tmp_path, None, shared) as here:
        here.runs = runs
        assert (await here.undo()).outcome == "done"
    assert (shared / "plan.txt").read_text() == "the plan"
