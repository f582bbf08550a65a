"""What runs leave running in their sandbox is seen and ended, whatever it does to be overlooked."""

import asyncio
from functools import partial

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.left_processes import LeftProcesses
from tests.runtimes.processes import below, until
from tests.runtimes.sandboxes import told

NOTHING = {"python": "1", "bash": "true"}


async def left_by(code_runner: CodeRunner, language: str, code: str) -> LeftProcesses | None:
    return (await told(code_runner, code, language)).ending.left


async def test_what_a_run_has_left_running_is_seen_and_ended(code_runner: CodeRunner) -> None:
    for language, code in (
        ("bash", "(setsid nohup sleep 4711 >/dev/null 2>&1 &) & sleep 4712 & sleep 0.5"),
        ("python", "import subprocess; left = subprocess.Popen(['sleep', '4713'])"),
    ):
        left = await left_by(code_runner, language, code)
        assert left is not None
        assert left.title.startswith(("sleep 471", "bash", "setsid", "nohup"))
        # It is the run's that left it.
        assert await left_by(code_runner, language, NOTHING[language]) is None
        assert left.alive
        assert left.works
        assert await asyncio.to_thread(left.end)
        assert not left.alive


async def test_what_libraries_keep_for_their_next_use_is_no_work(any_workshop: CodeRunner) -> None:
    code = "from multiprocessing import resource_tracker; resource_tracker.ensure_running()"
    left = await left_by(any_workshop, "python", code)
    assert left is not None
    assert left.alive
    assert not left.works


@pytest.mark.parametrize(
    "code",
    [
        "(exec -a 'x multiprocessing' bash -c 'while :; do :; done' 4721) &",
        "(exec -a 'x joblib' bash -c 'sleep 4721; true' 4721) &",
    ],
    ids=["it computes", "it starts something"],
)
async def test_what_is_called_like_a_librarys_own_is_seen_when_it_works(
    any_workshop: CodeRunner, code: str
) -> None:
    left = await left_by(any_workshop, "bash", code)
    assert left is not None
    await until(lambda: left.works, 10)
    assert await asyncio.to_thread(left.end)
    assert not below("4721")


FORKS_ON = """
import subprocess, sys
subprocess.Popen([sys.executable, '-c', '''
import os, time
while True:
    time.sleep(0.05)
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
''', '4741'])
"""
"""What is seen of it is gone at the next look, and what goes on has no parent."""


def is_other_than(left: LeftProcesses, before: set[tuple[int, int]]) -> bool:
    return left.alive and not left.known & before


async def test_what_forks_on_and_on_is_still_seen_and_ended(code_runner: CodeRunner) -> None:
    left = await left_by(code_runner, "python", FORKS_ON)
    assert left is not None
    for _ in range(5):
        await until(partial(is_other_than, left, set(left.known)), 10)
    assert await asyncio.to_thread(left.end)
    assert not below("4741")
    assert await left_by(code_runner, "python", "1") is None


async def test_what_a_thread_starts_when_its_run_is_over_is_seen_at_the_end_of_the_next(
    code_runner: CodeRunner,
) -> None:
    code = """
import subprocess, threading, time
def late():
    time.sleep(0.3)
    subprocess.Popen(['sleep', '4731'])
threading.Thread(target=late).start()
"""
    assert await left_by(code_runner, "python", code) is None
    await until(lambda: bool(below("4731")))
    left = await left_by(code_runner, "python", "1")
    assert left is not None
    assert left.title == "sleep 4731"
    assert await asyncio.to_thread(left.end)


def is_called(left: LeftProcesses, title: str) -> bool:
    return left.title == title


async def test_all_that_was_left_is_named_and_what_it_started_is_not(
    code_runner: CodeRunner,
) -> None:
    left = await left_by(code_runner, "bash", "sleep 4751 & sleep 4752 &")
    assert left is not None
    await until(partial(is_called, left, "sleep 4751, sleep 4752"))
    assert await asyncio.to_thread(left.end)
    left = await left_by(code_runner, "bash", "bash -c 'sleep 4753; true' 4753 &")
    assert left is not None
    await until(partial(is_called, left, "bash -c sleep 4753; true 4753"))
    assert await asyncio.to_thread(left.end)


async def test_what_is_ended_with_a_run_that_is_stopped_is_named(code_runner: CodeRunner) -> None:
    for language, code in (
        ("bash", "sleep 4761 & sleep 4762"),
        ("python", "import subprocess, time; subprocess.Popen(['sleep', '4761']); time.sleep(60)"),
    ):
        running = asyncio.create_task(told(code_runner, code, language))
        await until(lambda: bool(below("4761")))
        await code_runner.interrupt()
        await running
        assert "sleep 4761" in code_runner.ended_commands
        await told(code_runner, NOTHING[language], language)
        assert not code_runner.ended_commands
