"""Python in the code runner, as a person and a model see it."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from tests.runtimes.sandboxes import began, rest, shares_memory, told, workshop_in

PNG = b"\x89PNG\r\n\x1a\n"


async def test_variables_stay_from_run_to_run(code_runner: CodeRunner) -> None:
    assert (await told(code_runner, "x = 239")).ending.status == "ok"
    assert (await told(code_runner, "print(x * 43)")).stdout == "10277\n"


async def test_outputs_keep_their_kind_and_order(any_workshop: CodeRunner) -> None:
    code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7"
    run = await told(any_workshop, code)
    assert run.stdout == "out\n"
    assert run.stderr == "err\n"
    assert run.result == "42"
    assert run.outputs[-1].kind == "result"


async def test_an_error_is_told_without_colours_and_in_one_line(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "def half(x):\n    return x / 0\nhalf(1)")
    assert run.ending.status == "error"
    assert run.ending.detail == "ZeroDivisionError: division by zero"
    assert "return x / 0" in run.error
    assert "\x1b" not in run.error


async def test_a_plot_arrives_as_a_picture(code_runner: CodeRunner) -> None:
    run = await told(code_runner, "import matplotlib.pyplot as plt\nplt.plot([1, 2, 4]);")
    (picture,) = run.outputs
    assert (picture.kind, picture.mime) == ("display", "image/png")
    assert picture.data.startswith(PNG)
    assert "Figure" in picture.text


async def test_a_table_arrives_as_html_and_in_words(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "import pandas\npandas.DataFrame({'a': [1, 2]})")
    (table,) = run.outputs
    assert (table.kind, table.mime) == ("result", "text/html")
    assert b"<table" in table.data
    assert table.text.split() == ["a", "0", "1", "1", "2"]


async def test_json_arrives_as_json(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "from IPython.display import JSON, display\ndisplay(JSON([1]))")
    (shown,) = run.outputs
    assert (shown.kind, shown.mime, shown.data) == ("display", "application/json", b"[1]")


async def test_code_that_asks_for_input_fails_at_once_and_says_so(code_runner: CodeRunner) -> None:
    run = await told(code_runner, "name = input('Your name? ')")
    assert run.ending.status == "error"
    assert "asked for input" in run.ending.detail
    assert run.ending.seconds < 5


@pytest.mark.parametrize("command", ["cat", "read line; echo end", "sort"])
async def test_a_command_that_reads_finds_nothing_to_read(
    any_workshop: CodeRunner, command: str
) -> None:
    run = await told(any_workshop, f"!{command}")
    assert run.ending.status == "ok"
    assert run.ending.seconds < 5


async def test_what_programs_print_arrives_before_the_run_ends(code_runner: CodeRunner) -> None:
    code = "import subprocess, os\nsubprocess.run(['echo', 'child'])\nos.system('echo shell >&2')"
    for _ in range(10):
        run = await told(code_runner, code)
        assert run.stdout == "child\n"
        assert run.stderr == "shell\n"


async def test_what_programs_and_python_print_keeps_its_order(any_workshop: CodeRunner) -> None:
    code = "print('one')\n!echo two; exit 3\nprint('three', _exit_code)"
    assert (await told(any_workshop, code)).stdout == "one\ntwo\nthree 3\n"


async def test_pools_of_processes_work_and_their_prints_are_heard(code_runner: CodeRunner) -> None:
    code = (
        "import multiprocessing\ndef work(n):\n    print('work', n)\n    return -n\n"
        "with multiprocessing.Pool(2) as pool:\n    print(pool.map(work, [1, 2, 3]))"
    )
    if not await shares_memory(code_runner):
        assert "PermissionError" in (await told(code_runner, code)).error
        return
    lines = (await told(code_runner, code)).stdout.splitlines()
    assert sorted(lines) == ["[-1, -2, -3]", "work 1", "work 2", "work 3"]


async def test_modules_in_the_workspace_can_be_imported(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    (workspace / "mine.py").write_text("answer = 42")
    assert (await told(any_workshop, "import mine\nmine.answer")).result == "42"


async def test_magics_docstrings_and_future_imports_are_what_they_are_in_jupyter(
    any_workshop: CodeRunner,
) -> None:
    code = "from __future__ import annotations\nx: nowhere.to.be.found = 1"
    assert (await told(any_workshop, code)).ending.status == "ok"
    assert (await told(any_workshop, "%pwd")).result == repr(any_workshop.where)
    assert (await told(any_workshop, "'''words'''")).result == "'words'"
    assert (await told(any_workshop, "import asyncio\nawait asyncio.sleep(0, 7)")).result == "7"


async def test_what_is_written_lies_in_the_workspace(
    code_runner: CodeRunner, workspace: Path
) -> None:
    await told(code_runner, "open('note.txt', 'w').write('kept')")
    assert text_and_owner(workspace / "note.txt") == ("kept", text_and_owner(workspace)[1])


async def test_terminal_escapes_do_not_reach_a_screen(any_workshop: CodeRunner) -> None:
    code = "print('\\x1b[31mred\\x1b[0m \\x1b]52;c;aGk=\\x07and\\x9b2J clean\\r\\n')"
    assert (await told(any_workshop, code)).stdout == "red and2J clean\r\n\n"


async def test_a_thread_of_an_earlier_run_is_heard_in_a_later_one(any_workshop: CodeRunner) -> None:
    code = (
        "import threading\ngo = threading.Event()\n"
        "thread = threading.Thread(target=lambda: (go.wait(), print('late')))\nthread.start()"
    )
    await told(any_workshop, code)
    assert "late" in (await told(any_workshop, "go.set(); thread.join()")).stdout


async def test_a_page_of_help_is_shown(any_workshop: CodeRunner) -> None:
    (page,) = (await told(any_workshop, "len?")).outputs
    assert page.kind == "display"
    assert "number of items" in page.text
    assert "\x1b" not in page.text


async def test_one_run_at_a_time(any_workshop: CodeRunner) -> None:
    pieces = any_workshop.run("python", "print('begun')\nimport time; time.sleep(60)")
    await began(pieces)
    second = await told(any_workshop, "1")
    assert second.ending.status == "error"
    assert "still runs" in second.ending.detail
    await any_workshop.interrupt()
    assert (await rest(pieces)).ending.status == "interrupted"


async def test_leaving_a_run_early_stops_it(any_workshop: CodeRunner) -> None:
    pieces = any_workshop.run("python", "print('begun')\nwhile True: pass")
    await began(pieces)
    await pieces.aclose()
    assert (await told(any_workshop, "print('free')")).stdout == "free\n"


async def test_a_cancelled_task_leaves_a_workshop_that_works(any_workshop: CodeRunner) -> None:
    pieces = any_workshop.run("python", "print('begun')\nwhile True: pass")
    await began(pieces)
    reading = asyncio.create_task(rest(pieces))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert (await told(any_workshop, "print('free')")).stdout == "free\n"


async def test_workshops_do_not_wait_for_each_other(
    any_workshop: CodeRunner,
    any_sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
) -> None:
    hung = any_workshop.run("python", "print('begun')\nwhile True: pass")
    await began(hung)
    async with aclosing(hung):
        other = workshop_in(workspace / "other", environment, any_sandbox)
        try:
            assert (await told(other, "print('at once')")).stdout == "at once\n"
        finally:
            await other.close()


def text_and_owner(path: Path) -> tuple[str, int]:
    return path.read_text() if path.is_file() else "", path.stat().st_uid
