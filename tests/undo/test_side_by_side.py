"""Runs that go on side by side: whose a change is, and what can be taken back when."""

from pathlib import Path

from tests.undo.place import Place, place


async def begin(here: Place, name: str) -> None:
    assert await here.checkpoints.before(name) == ""
    here.runs.append(name)


async def test_what_changes_beside_a_later_run_is_the_later_ones_and_the_rest_its_own(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        await begin(here, "job")
        (here.workspace / "first").write_text("job")
        await begin(here, "edit")
        (here.workspace / "edited").write_text("edit")
        changed = await here.checkpoints.after("edit")
        assert changed.added == ("edited",)
        (here.workspace / "last").write_text("job")
        assert (await here.undo()).outcome == "running"
        changed = await here.checkpoints.after("job")
        assert changed.added == ("first", "last")
        assert (await here.undo()).removed == ("edited",)
        assert set((await here.undo()).removed) == {"first", "last"}
        assert list(here.workspace.iterdir()) == []
        assert set((await here.redo()).restored) == {"first", "last"}


async def test_a_job_that_ends_in_the_middle_of_a_later_run_leaves_it_what_changes(
    tmp_path: Path,
) -> None:
    async with place(tmp_path) as here:
        await begin(here, "job")
        (here.workspace / "first").write_text("job")
        await begin(here, "edit")
        (here.workspace / "edited").write_text("edit")
        assert (await here.checkpoints.after("job")).added == ("first",)
        (here.workspace / "more").write_text("edit")
        assert set((await here.checkpoints.after("edit")).added) == {"edited", "more"}
        assert set((await here.undo()).removed) == {"edited", "more"}
        assert (here.workspace / "first").read_text() == "job"


async def test_three_side_by_side_end_in_any_order(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        for name in ("one", "two", "three"):
            await begin(here, name)
            (here.workspace / name).write_text(name)
        for name in ("two", "three", "one"):
            assert name in (await here.checkpoints.after(name)).added
        for name in ("three", "two", "one"):
            assert (await here.undo()).removed == (name,)


async def test_what_a_job_did_before_a_crash_can_be_taken_back(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        await begin(here, "job")
        (here.workspace / "first").write_text("job")
        await begin(here, "edit")
        await here.checkpoints.after("edit")
        (here.workspace / "second").write_text("job")
    async with place(tmp_path) as again:
        again.runs = here.runs
        undone = await again.undo()
        assert set(undone.removed) == {"first", "second"}
