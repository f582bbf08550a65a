"""Very deep folders cost the server little, and do not keep other changes from being undone."""

from pathlib import Path

from sayso.server.runtimes.protection.writable_folders import DEPTH_MOST
from sayso.server.undo.store import Room
from tests.deep_folders import dig, filled_in
from tests.undo.place import place


async def test_folders_in_folders_are_looked_at_as_deep_as_code_may_leave_them(
    tmp_path: Path,
) -> None:
    def deep(workspace: Path) -> None:
        (workspace / "kept").write_text("first")
        dig(workspace, 1_500, "d" * 200)

    with filled_in(tmp_path / "workspace"):
        async with place(tmp_path) as here:
            await here.run(lambda workspace: (workspace / "early").touch())
            changes = await here.run(deep)
            assert len(changes.added) + changes.more <= DEPTH_MOST + 2
            undone = await here.undo()
            assert "kept" in undone.removed
            assert {left.reason for left in undone.left} == {"not_empty"}
            assert (await here.undo()).removed == ("early",)


async def test_long_paths_count_for_several(tmp_path: Path) -> None:
    async with place(tmp_path, Room(files=10)) as here:
        for number in range(3):
            (here.workspace / f"{'d' * 250}/{'e' * 250}/{'f' * 250}/{number}").mkdir(parents=True)
        await here.run(lambda workspace: (workspace / "early").touch())
        assert (await here.undo()).outcome == "nothing"
