"""Undo means the work: caches, what git ignores and what git notes for itself only come along."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.git import git
from tests.undo.place import Place, picture, place

pytestmark = pytest.mark.needs("git")


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    """A repository with a program, and files that git ignores."""
    async with place(tmp_path) as here:
        git("init", "-q", folder=here.workspace)
        (here.workspace / "tests").mkdir()
        (here.workspace / "tests/app_test").write_text("assert True\n")
        (here.workspace / ".gitignore").write_text("build/\n*.log\n.env\n*.sqlite\n")
        (here.workspace / "app.py").write_text("sound = True\n")
        (here.workspace / ".env").write_text("PORT=1\n")
        git("add", ".", folder=here.workspace)
        git("commit", "-qm", "first", folder=here.workspace)
        yield here


def break_it(workspace: Path) -> None:
    (workspace / "app.py").write_text("sound = False\n")


def run_the_tests(workspace: Path) -> None:
    """What a test run leaves behind in a repository."""
    for cache in ("__pycache__", ".pytest_cache/v", ".mypy_cache", "tests/__pycache__"):
        (workspace / cache).mkdir(parents=True, exist_ok=True)
        (workspace / cache / "left.pyc").write_bytes(b"\0")
    (workspace / ".coverage").write_bytes(b"\0")
    (workspace / "build").mkdir(exist_ok=True)
    (workspace / "build/report.html").write_text("red")
    (workspace / "run.log").write_text("failed\n")
    (workspace / "data.sqlite").write_bytes(b"\0")
    (workspace / "app.py").touch()
    git("status", folder=workspace)  # writes the index anew


def break_it_and_run_the_tests(workspace: Path) -> None:
    break_it(workspace)
    run_the_tests(workspace)


async def test_after_a_test_run_undo_brings_the_edit_back(here: Place) -> None:
    await here.run(break_it)
    ran = await here.run(run_the_tests, "!pytest")
    assert not ran
    assert ran.by_products > 10
    undone = await here.undo()
    assert (undone.runs, undone.restored, undone.left) == (("run0",), ("app.py",), ())
    assert (here.workspace / "app.py").read_text() == "sound = True\n"
    assert (await here.undo()).outcome == "nothing"


async def test_by_products_go_back_with_the_request_that_made_them(here: Place) -> None:
    before = picture(here.workspace)
    await here.run(break_it)
    await here.run(run_the_tests, "!pytest")
    undone = await here.checkpoints.undo([here.runs])
    assert (undone.restored, undone.removed, undone.left) == (("app.py",), (), ())
    assert picture(here.workspace) == before
    assert (await here.redo()).restored == ("app.py",)
    assert (here.workspace / "run.log").exists()


async def test_a_by_product_that_was_changed_since_is_left_without_a_word(here: Place) -> None:
    await here.run(break_it_and_run_the_tests)
    (here.workspace / "run.log").write_text("by the person\n")
    undone = await here.undo()
    assert (undone.outcome, undone.left) == ("done", ())
    assert (here.workspace / "run.log").read_text() == "by the person\n"


async def test_code_cannot_hide_its_work_by_a_rule_of_its_own(here: Place) -> None:
    def hide(workspace: Path) -> None:
        (workspace / ".gitignore").write_text("*\n")
        (workspace / ".git/info/exclude").write_text("*\n")
        (workspace / "planted.py").write_text("evil\n")
        (workspace / "app.py").write_text("evil\n")

    changes = await here.run(hide)
    assert changes.added == ("planted.py",)
    assert set(changes.changed) == {".gitignore", ".git/info/exclude", "app.py"}
    assert changes.by_products == 0


async def test_what_git_tracks_is_work_whatever_the_rules_and_names(here: Place) -> None:
    (here.workspace / "__pycache__").mkdir()
    (here.workspace / "__pycache__/kept.pyc").write_bytes(b"\0")
    (here.workspace / "kept.log").write_text("kept")
    git("add", "--force", "kept.log", "__pycache__/kept.pyc", folder=here.workspace)

    def change(workspace: Path) -> None:
        (workspace / "kept.log").write_text("changed")
        (workspace / "__pycache__/kept.pyc").write_bytes(b"\1")
        (workspace / "other.log").write_text("ignored")

    changes = await here.run(change)
    assert changes.changed == ("__pycache__/kept.pyc", "kept.log")
    assert changes.by_products == 1


async def test_where_the_index_cannot_be_read_nothing_counts_as_ignored(here: Place) -> None:
    (here.workspace / ".git/index").write_bytes(b"DIRC and no more")
    changes = await here.run(lambda w: (w / "new.log").write_text("x"))
    assert changes.added == ("new.log",)


async def test_an_ignored_file_that_code_names_and_changes_is_work(here: Place) -> None:
    await here.run(break_it)
    await here.run(lambda w: (w / ".env").unlink(), "import os; os.remove('.env')")
    undone = await here.undo()
    assert undone.restored == (".env",)
    assert (here.workspace / ".env").read_text() == "PORT=1\n"


async def test_without_a_repository_a_list_of_rules_hides_nothing(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        (here.workspace / ".gitignore").write_text("*\n")
        changes = await here.run(lambda w: (w / "new").write_text("x"))
        assert changes.added == ("new",)


async def test_rules_of_a_nested_repository_are_its_own(here: Place) -> None:
    inner = here.workspace / "inner"
    inner.mkdir()
    git("init", "-q", folder=inner)
    changes = await here.run(lambda _: (inner / "a.log").write_text("x"))
    assert changes.added == ("inner/a.log",)


async def test_a_new_repository_is_told_as_one_thing(tmp_path: Path) -> None:
    async with place(tmp_path) as here:
        changes = await here.run(lambda w: git("init", "-q", folder=w))
        assert changes.added == (".git/",)
        assert (await here.undo()).removed == (".git/",)
        assert not list(here.workspace.iterdir())


async def test_the_comparison_counts_what_it_does_not_show(here: Place) -> None:
    await here.run(break_it_and_run_the_tests)
    text = await here.checkpoints.diff([here.runs])
    assert "-sound = True\n+sound = False" in text
    assert "report.html" not in text
    assert "by-products" in text.splitlines()[-1]


async def test_thousands_of_ignored_files_leave_the_list_to_the_work(here: Place) -> None:
    def install(workspace: Path) -> None:
        (workspace / "build").mkdir()
        for number in range(2_000):
            (workspace / f"build/{number}").touch()
        break_it(workspace)

    changes = await here.run(install)
    assert (changes.changed, changes.added, changes.more) == (("app.py",), (), 0)
    assert changes.by_products == 2_001
