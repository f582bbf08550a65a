"""A commit is undone with its files, and a repository is whole whatever is undone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.git import git
from tests.undo.place import Place, picture, place

pytestmark = pytest.mark.needs("git")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as here:
        git("init", "-q", "-b", "main", folder=here.workspace)
        (here.workspace / "app.py").write_text("one\n")
        (here.workspace / "other.py").write_text("one\n")
        git("add", ".", folder=here.workspace)
        git("commit", "-qm", "first", folder=here.workspace)
        yield here


def edit(workspace: Path) -> None:
    (workspace / "app.py").write_text("two\n")
    (workspace / "new.py").write_text("new\n")


def edit_and_commit(workspace: Path) -> None:
    edit(workspace)
    commit(workspace)


def commit(workspace: Path, message: str = "Say two") -> None:
    git("add", "--all", folder=workspace)
    git("commit", "-qm", message, folder=workspace)


def status(workspace: Path) -> str:
    git("fsck", "--strict", folder=workspace)
    return git("status", "--porcelain", folder=workspace)


def history(workspace: Path) -> list[str]:
    return git("log", "--format=%s", "--all", folder=workspace).splitlines()


async def test_a_commit_is_undone_together_with_its_files(here: Place) -> None:
    await here.run(edit)
    await here.run(commit)
    undone = await here.undo()
    assert undone.commits == ("Say two",)
    assert (undone.restored, undone.removed, undone.left) == (("app.py",), ("new.py",), ())
    assert (history(here.workspace), status(here.workspace)) == (["first"], "")
    redone = await here.redo()
    assert redone.commits == ("Say two",)
    assert (here.workspace / "app.py").read_text() == "two\n"
    assert (history(here.workspace), status(here.workspace)) == (["Say two", "first"], "")


async def test_a_request_that_edits_and_commits_is_undone_by_itself(here: Place) -> None:
    await here.run(lambda w: (w / "other.py").write_text("earlier\n"))
    await here.run(edit_and_commit)
    undone = await here.undo()
    assert undone.runs == ("run1",)
    assert (here.workspace / "other.py").read_text() == "earlier\n"
    assert status(here.workspace) == " M other.py\n"


async def test_work_that_was_not_committed_stays(here: Place) -> None:
    await here.run(edit)
    await here.run(lambda w: (w / "other.py").write_text("not committed\n"))

    def commit_a_part(workspace: Path) -> None:
        git("add", "app.py", "new.py", folder=workspace)
        git("commit", "-qm", "a part", folder=workspace)

    await here.run(commit_a_part)
    undone = await here.undo()
    assert undone.runs == ("run0", "run2")
    assert (here.workspace / "other.py").read_text() == "not committed\n"
    assert status(here.workspace) == " M other.py\n"


async def test_what_an_earlier_commit_holds_stays(here: Place) -> None:
    await here.run(edit)
    await here.run(commit)
    await here.run(lambda w: (w / "app.py").write_text("three\n"))
    await here.run(lambda w: commit(w, "Say three"))
    assert (await here.undo()).runs == ("run2", "run3")
    assert (here.workspace / "app.py").read_text() == "two\n"
    assert (history(here.workspace), status(here.workspace)) == (["Say two", "first"], "")


async def test_a_look_at_the_repository_since_hinders_nothing(here: Place) -> None:
    await here.run(edit_and_commit)
    (here.workspace / "other.py").touch()
    git("status", folder=here.workspace)  # which writes the index anew
    undone = await here.undo()
    assert (undone.left, undone.commits) == ((), ("Say two",))
    assert (history(here.workspace), status(here.workspace)) == (["first"], "")


async def test_what_the_person_committed_since_is_kept_with_all_it_needs(here: Place) -> None:
    await here.run(edit_and_commit)
    (here.workspace / "mine.py").write_text("mine\n")
    commit(here.workspace, "mine")
    undone = await here.undo()
    assert [(one.path, one.reason) for one in undone.left] == [(".git", "changed")]
    assert undone.restored == ("app.py",)
    assert history(here.workspace) == ["mine", "Say two", "first"]
    assert status(here.workspace) == " M app.py\n D new.py\n"


async def test_what_the_person_staged_since_is_kept(here: Place) -> None:
    await here.run(edit_and_commit)
    (here.workspace / "mine.py").write_text("mine\n")
    git("add", "mine.py", folder=here.workspace)
    undone = await here.undo()
    assert [one.path for one in undone.left] == [".git"]
    assert "A  mine.py" in status(here.workspace)


async def test_a_branch_that_somebody_made_of_an_undone_commit_is_whole(here: Place) -> None:
    await here.run(edit_and_commit)
    git("branch", "kept", folder=here.workspace)
    assert (await here.undo()).commits == ("Say two",)
    assert status(here.workspace) == ""
    assert git("show", "kept:app.py", folder=here.workspace) == "two\n"


async def test_a_new_repository_with_work_of_the_persons_in_it_stays_whole(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.workspace / "app.py").write_text("one\n")

        def begin(workspace: Path) -> None:
            git("init", "-q", "-b", "main", folder=workspace)
            commit(workspace)

        await here.run(begin)
        git("commit", "-q", "--allow-empty", "-m", "mine", folder=here.workspace)
        undone = await here.undo()
        assert [one.path for one in undone.left] == [".git"]
        assert (history(here.workspace), status(here.workspace)) == (["mine", "Say two"], "")


async def test_a_commit_in_a_folder_below_is_undone_with_its_files(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        inner = here.workspace / "inner"
        inner.mkdir()
        git("init", "-q", "-b", "main", folder=inner)
        (inner / "app.py").write_text("one\n")
        commit(inner, "first")
        before = picture(inner)
        await here.run(lambda _: edit(inner))
        await here.run(lambda _: commit(inner))
        assert (await here.undo()).runs == ("run0", "run1")
        assert status(inner) == ""
        after = {path: seen for path, seen in picture(inner).items() if path in before}
        assert after.keys() == before.keys()


async def test_the_last_three_requests_are_undone_as_one(here: Place) -> None:
    for number in range(4):
        await here.run(lambda w, n=number: (w / "count").write_text(str(n)))  # type: ignore[misc]
    undone = await here.undo(most=3)
    assert undone.runs == ("run1", "run2", "run3")
    assert (here.workspace / "count").read_text() == "0"
    assert (await here.redo()).runs == undone.runs
    assert (here.workspace / "count").read_text() == "3"


async def test_a_commit_is_told_as_that_and_not_as_files_of_gits(here: Place) -> None:
    await here.run(edit)
    changes = await here.run(commit)
    assert changes.commits == ("Say two",)
    assert (changes.added, changes.changed, changes.deleted, changes.more) == ((), (), (), 0)
    assert changes
    told = await here.checkpoints.diff([here.runs[-1:]])
    assert told.splitlines()[0] == "committed: Say two"
    assert ".git" not in told.partition("by-products")[0]


async def test_a_commit_hides_nothing_else_that_changes_in_a_repository(here: Place) -> None:
    def arm(workspace: Path) -> None:
        edit_and_commit(workspace)
        (workspace / ".git/hooks/post-commit").write_text("#!/bin/sh\n")
        with (workspace / ".git/config").open("a") as settings:
            settings.write("[core]\n\tfsmonitor = false\n")

    changes = await here.run(arm)
    assert changes.commits == ("Say two",)
    assert ".git/hooks/post-commit" in " ".join(changes.added)
    assert ".git/config" in changes.changed


async def test_a_commit_that_is_gone_is_not_told_as_made(here: Place) -> None:
    await here.run(edit_and_commit)

    def forget(workspace: Path) -> None:
        git("reset", "-q", "--hard", "HEAD~1", folder=workspace)
        log = workspace / ".git/logs/HEAD"
        log.write_text(log.read_text().splitlines(keepends=True)[0])

    changes = await here.run(forget)
    assert changes.commits == ()
    assert ".git/refs/heads/main" in changes.changed
