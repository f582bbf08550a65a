"""Code that goes on beside what runs next: its interpreter, its variables, what it was granted."""

import asyncio
from pathlib import Path

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Folder, Grants
from tests.runtimes.processes import until
from tests.runtimes.sandboxes import Told, told

WAITS = """
import os, time
mine = 1
open('began', 'w').close()
while not os.path.exists('enough'): time.sleep(0.01)
mine += 1
"""


async def set_aside(code_runner: CodeRunner, workspace: Path) -> "asyncio.Task[Told]":
    """Code that waits for a file, beside what runs next."""
    (workspace / "enough").unlink(missing_ok=True)
    (workspace / "began").unlink(missing_ok=True)
    running = asyncio.create_task(told(code_runner, WAITS))
    await until((workspace / "began").exists)
    assert code_runner.set_aside("py")
    return running


async def test_what_runs_next_has_another_interpreter_and_both_end(
    code_runner: CodeRunner, workspace: Path
) -> None:
    await told(code_runner, "before = 1")
    aside = await set_aside(code_runner, workspace)
    here = await told(code_runner, "print('mine' in globals(), 'before' in globals())")
    assert here.stdout == "False False\n"
    (workspace / "enough").write_text("")
    assert (await aside).ending.status == "ok"
    # What ran meanwhile has variables of its own by now, which stay.
    await told(code_runner, "after = 1")
    assert (await told(code_runner, "print('mine' in globals(), after)")).stdout == "False 1\n"


async def test_variables_are_there_again_where_nothing_ran_meanwhile(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    await told(any_workshop, "before = 1")
    aside = await set_aside(any_workshop, workspace)
    (workspace / "enough").write_text("")
    assert (await aside).ending.status == "ok"
    assert (await told(any_workshop, "print(before, mine)")).stdout == "1 2\n"


async def test_nothing_is_set_aside_where_nothing_runs(any_workshop: CodeRunner) -> None:
    assert not any_workshop.set_aside("python")
    assert not any_workshop.set_aside("html")
    assert not any_workshop.set_aside("fortran")


async def test_what_is_closed_ends_what_runs_aside_with_it_and_what_is_opened_does_not(
    any_workshop: CodeRunner, workspace: Path, tmp_path: Path
) -> None:
    opened, more = tmp_path / "opened", tmp_path / "more"
    opened.mkdir()
    more.mkdir()
    await any_workshop.set_reach(Grants(folders=(Folder(opened),)))
    aside = await set_aside(any_workshop, workspace)
    await any_workshop.set_reach(Grants(folders=(Folder(opened), Folder(more))))
    assert not aside.done()
    assert (await told(any_workshop, f"import os; os.listdir({str(more)!r})")).ending.status == "ok"
    await any_workshop.set_reach(Grants(folders=(Folder(more),)))
    assert (await aside).ending.status == "died"


async def test_a_host_that_is_granted_later_is_not_for_what_runs_already(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    aside = await set_aside(any_workshop, workspace)
    (before,) = any_workshop._proxies
    await any_workshop.set_reach(Grants(hosts=("example.org",)))
    now = any_workshop._proxy
    assert not before.reach.lets_pass("example.org")
    assert now.reach.lets_pass("example.org")
    assert not aside.done()
    (workspace / "enough").write_text("")
    assert (await aside).ending.status == "ok"
    assert any_workshop._proxies == [now]


async def test_closing_ends_what_runs_aside(any_workshop: CodeRunner, workspace: Path) -> None:
    aside = await set_aside(any_workshop, workspace)
    await any_workshop.close()
    assert (await aside).ending.status == "died"
