"""The run after one that was stopped, or that did something odd to its interpreter, is answered."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels import kernel
from tests.runtimes.processes import below, command_of, until
from tests.runtimes.sandboxes import began, rest, told

IN_THE_KERNELS_OWN_WORK = """
import signal
def interrupted(*request):
    signal.raise_signal(signal.SIGINT)
    return {}
get_ipython().kernel.finish_metadata = interrupted
"""

LOOP_IS_BUSY = """
import asyncio, time
asyncio.get_event_loop().call_soon(time.sleep, 1000)
"""

LOOP_HAS_ENDED = """
import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
get_ipython().kernel.io_loop.add_callback(get_ipython().kernel.io_loop.stop)
"""

DOES_NOT_HEAR = """
control = get_ipython().kernel.control_thread.io_loop
control.add_callback(time.sleep, 3)
print('begun', flush=True)
time.sleep(0.5)
"""

BEGINS_LATE_AND_ANSWERS_LATE = """
import asyncio, time
kernel = get_ipython().kernel
hear = kernel.control_handlers['interrupt_request']
async def slowly(*request):
    await hear(*request)
    time.sleep(0.3)
kernel.control_handlers['interrupt_request'] = slowly
asyncio.get_event_loop().call_soon(time.sleep, 0.15)
"""


@pytest.mark.parametrize(
    ("child", "status"),
    [("print('child')", 0), ("raise ValueError('child')", 1), ("raise SystemExit(3)", 3)],
)
async def test_a_forked_process_ends_where_the_code_does_and_is_no_second_kernel(
    code_runner: CodeRunner, child: str, status: int
) -> None:
    run = await told(code_runner, f"import os\npid = os.fork()\nif not pid: {child}")
    assert run.ending.status == "ok"
    run = await told(code_runner, "os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
    assert run.result == str(status)


async def test_a_forked_process_that_is_interrupted_is_no_second_kernel(
    code_runner: CodeRunner,
) -> None:
    for _ in range(5):
        code = "import os, time\nos.fork()\nprint('begun', flush=True)\ntime.sleep(1000)"
        pieces = code_runner.run("python", code)
        await began(pieces)
        await code_runner.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        assert (await told(code_runner, "print('next')")).stdout == "next\n"


async def test_an_interrupt_does_not_meet_the_kernels_own_work(code_runner: CodeRunner) -> None:
    assert (await told(code_runner, IN_THE_KERNELS_OWN_WORK)).ending.status == "ok"
    run = await told(code_runner, "print('next')")
    assert (run.ending.status, run.stdout) == ("ok", "next\n")


@pytest.mark.slow
async def test_an_answer_that_never_comes_is_told(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "get_ipython().kernel.finish_metadata = lambda *request: 1 / 0")
    assert run.ending.status == "error"
    assert "did not say how it ended" in run.ending.detail
    run = await told(any_workshop, "print('next')\nraise ValueError('told')")
    assert run.stdout == "next\n"
    assert run.ending.detail == "ValueError: told"


@pytest.mark.slow
@pytest.mark.parametrize("code", [LOOP_IS_BUSY, LOOP_HAS_ENDED], ids=["busy", "ended"])
async def test_an_interpreter_that_takes_nothing_in_is_replaced_and_nothing_runs_twice(
    code_runner: CodeRunner, workspace: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    assert (await told(code_runner, code)).ending.status == "ok"
    monkeypatch.setattr(kernel, "ANSWER_S", 1.0)
    run = await told(code_runner, "open('ran', 'a').write('x')")
    assert run.ending.status == "died"
    assert "did not take the code in" in run.ending.detail
    monkeypatch.undo()
    run = await told(code_runner, "print('next')")
    assert (run.ending.status, run.stdout) == ("ok", "next\n")
    assert not (workspace / "ran").exists()


@pytest.mark.slow
async def test_a_stop_that_was_not_heard_does_not_meet_the_next_run(
    code_runner: CodeRunner,
) -> None:
    await told(code_runner, "import time")
    pieces = code_runner.run("python", DOES_NOT_HEAR)
    await began(pieces)
    await code_runner.interrupt()
    ending = (await rest(pieces)).ending
    assert ending.status == "died"
    assert "variables are lost" in ending.detail
    run = await told(code_runner, "import time\ntime.sleep(2)\nprint('next')")
    assert (run.ending.status, run.stdout) == ("ok", "next\n")


@pytest.mark.slow
async def test_a_stop_that_comes_before_the_code_reaches_it_all_the_same(
    any_workshop: CodeRunner,
) -> None:
    """It is heard before the code begins, and its answer comes after that."""
    endings = []
    for _ in range(3):  # where the machine is too busy, the interpreter is ended
        await told(any_workshop, BEGINS_LATE_AND_ANSWERS_LATE)
        reading = asyncio.ensure_future(rest(any_workshop.run("python", "while True: pass")))
        await asyncio.wait([reading], timeout=0.02)
        await any_workshop.interrupt()
        endings.append((await reading).ending.status)
        if endings[-1] == "interrupted":
            return
    raise AssertionError(endings)


async def test_the_run_after_an_error_is_not_refused(any_workshop: CodeRunner) -> None:
    code = "get_ipython().kernel._post_dummy_stop_aborting_message = print\n1 / 0"
    assert (await told(any_workshop, code)).ending.status == "error"
    assert (await told(any_workshop, "print('next')")).stdout == "next\n"


async def test_an_interrupt_that_meets_a_shell_whose_code_has_ended_does_not_meet_the_next_run(
    code_runner: CodeRunner, workspace: Path
) -> None:
    """The driver hears of the stop and of the end at once; the shell takes its time to go."""
    leave = "for ((i = 0; i < 100000; i++)); do :; done"
    code = f"trap '{leave}' EXIT\necho begun\nuntil [ -e go ]; do :; done"
    pieces = code_runner.run("bash", code)
    await began(pieces)
    (driver,) = [pid for pid in below("driver.py") if "driver.py" in command_of(pid).split()[3]]
    os.kill(driver, signal.SIGSTOP)
    try:
        stopping = asyncio.create_task(code_runner.interrupt())
        await asyncio.wait([stopping], timeout=0.05)
        (workspace / "go").touch()
        (shell,) = [pid for pid in below("bash", driver) if "/dev/fd" in command_of(pid)]
        await until(lambda: _sleeps(shell))
    finally:
        os.kill(driver, signal.SIGCONT)
    await stopping
    assert (await rest(pieces)).ending.status == "interrupted"
    run = await told(code_runner, "echo next", "bash")
    assert (run.ending.status, run.stdout) == ("ok", "next\n")


@pytest.mark.needs("node", "nodejs")
@pytest.mark.slow
async def test_javascript_that_ends_as_it_is_cut_off_does_not_take_the_next_run_along(
    any_workshop: CodeRunner,
) -> None:
    for busy in range(40, 70):
        code = f"console.log('begun')\nfor (const end = Date.now() + {busy}; Date.now() < end;);"
        pieces = any_workshop.run("javascript", code)
        await began(pieces)
        await any_workshop.interrupt()
        await rest(pieces)
        assert (await told(any_workshop, "console.log('next')", "javascript")).stdout == "next\n"


def _sleeps(pid: int) -> bool:
    """Whether a process waits for something, each time one looks."""
    stat = Path(f"/proc/{pid}/stat")
    return all(stat.read_text().rpartition(")")[2].split()[0] == "S" for _ in range(100))
