"""Runs that are stopped, die or never end, and what is left of them."""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.confined_process import ConfinedProcess, PrivateFolder, sweep
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox import launcher
from sayso.server.runtimes.sandbox.launcher import Steps
from sayso.server.runtimes.sandbox.sandbox import Confines, Sandbox
from tests.busy import within
from tests.deep_folders import DIG, dig, filled_in, names_in
from tests.runtimes.processes import below, command_of, until
from tests.runtimes.sandboxes import RUN_S, began, rest, told, workshop_in

BUSY = 4
"""How much longer things may take where other tests run beside; the bench measures them alone."""

INTERRUPT_S = 0.25 * BUSY
DEATH_S = 1.0 * BUSY
NEW_S = 2.0 * BUSY
KILL_S = 2.0 + 0.5 * BUSY
ORPHAN_S = 1.0 * BUSY
FOR_EVER = ("/bin/sleep", str(10_000_000 + os.getpid()))
"""For a number of seconds that no other process of tests has in its command."""


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(600)",
        "import subprocess; subprocess.run(['sleep', '600'])",
        "!sleep 600",
        "while True: print('x' * 1000)",
    ],
)
async def test_what_runs_stops_when_asked_and_keeps_its_variables(
    code_runner: CodeRunner, code: str
) -> None:
    pieces = code_runner.run("python", f"kept = 7\nprint('begun', flush=True)\n{code}")
    await began(pieces)
    with within(INTERRUPT_S):
        await code_runner.interrupt()
    assert (await rest(pieces)).ending.status == "interrupted"
    assert (await told(code_runner, "kept")).result == "7"


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    try: time.sleep(600)\n    except KeyboardInterrupt: pass",
        "sum(range(10 ** 13))",  # one step of the interpreter, which no signal gets into
    ],
)
async def test_what_does_not_stop_is_ended_with_all_its_processes(
    code_runner: CodeRunner, workspace: Path, code: str
) -> None:
    await told(code_runner, "import os, subprocess, time")
    await told(code_runner, "subprocess.Popen(['setsid', 'sleep', '601'])")
    assert below("sleep 601")
    # It says by a file that it has begun, because nothing else gets out of a busy interpreter.
    reading = asyncio.create_task(told(code_runner, f"os.mkdir('begun')\n{code}"))
    await until((workspace / "begun").exists)
    with within(KILL_S):
        await code_runner.interrupt()
    ending = (await reading).ending
    assert ending.status == "died"
    assert "variables are lost" in ending.detail
    assert below("sleep 601") == []
    with within(NEW_S):
        assert (await told(code_runner, "print('new')")).stdout == "new\n"


@pytest.mark.parametrize(
    "code", ["import os; os._exit(0)", "import os; os.kill(os.getpid(), 9)", "!kill -9 $PPID"]
)
async def test_death_in_mid_run_is_told_at_once_and_a_new_one_is_there(
    code_runner: CodeRunner, code: str
) -> None:
    await told(code_runner, "lost = 7")
    with within(DEATH_S):
        died = await told(code_runner, code)
    assert died.ending.status == "died"
    assert "variables are lost" in died.ending.detail
    with within(NEW_S):
        assert "NameError" in (await told(code_runner, "lost")).ending.detail


async def test_code_that_ends_its_interpreter_gets_a_new_one(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "lost = 7\nexit()")
    assert run.ending.status == "died"
    assert "ended its own interpreter" in run.ending.detail
    after = await told(any_workshop, "lost")
    assert after.ending.detail == "NameError: name 'lost' is not defined"


async def test_a_crash_is_told_as_one(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "import ctypes; ctypes.string_at(0)")
    assert run.ending.status == "died"
    assert "crashed" in run.ending.detail


async def test_death_between_runs_is_told_with_the_next(any_workshop: CodeRunner) -> None:
    code = "import os, threading\ngo = threading.Timer(0.05, os._exit, (1,))\ngo.start()"
    await told(any_workshop, code)
    await until(lambda: not below(""))
    assert "variables are lost" in (await told(any_workshop, "1")).ending.detail
    after = await told(any_workshop, "print('new')")
    assert (after.stdout, after.ending.detail) == ("new\n", "")


async def test_a_run_stopped_before_the_kernel_is_there_never_begins(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    pieces = any_workshop.run("python", "open('trace', 'w')")
    async with aclosing(pieces):
        first = asyncio.create_task(anext(pieces))
        await asyncio.sleep(0)
        await any_workshop.interrupt()
        ending = await first
    assert getattr(ending, "status", "") == "interrupted"
    await told(any_workshop, "1")
    assert not (workspace / "trace").exists()


async def test_closing_ends_everything_that_was_started(code_runner: CodeRunner) -> None:
    code = "import subprocess\nfor _ in range(3): subprocess.Popen(['setsid', 'sleep', '602'])"
    await told(code_runner, code)
    await until(lambda: len(below("sleep 602")) == 3)
    await code_runner.close()
    assert below("sleep 602") == []
    assert (await told(code_runner, "1")).ending.status == "error"


async def test_closing_in_mid_run_ends_the_run(any_workshop: CodeRunner) -> None:
    pieces = any_workshop.run("python", "print('begun', flush=True)\nwhile True: pass")
    await began(pieces)
    await any_workshop.close()
    assert (await rest(pieces)).ending.status == "died"


async def test_nothing_outlives_a_server_that_is_killed(sandbox: Sandbox, workspace: Path) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.runtimes.server_to_kill", sandbox.kind, str(workspace)),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(RUN_S):
            assert server.stdout
            assert await server.stdout.readline() == b"running\n"
        # A process that is just becoming another program has no name for a moment.
        await until(lambda: bool(below("sleep 603", server.pid)))
        left = below("", server.pid)
    finally:
        server.kill()
        await server.wait()
    await until(lambda: not any(command_of(pid) for pid in left), ORPHAN_S)


@pytest.mark.thorough
async def test_what_is_ended_as_it_starts_leaves_nothing_behind(
    sandbox: Sandbox, workspace: Path
) -> None:
    moments = random.Random(1)
    confines = Confines(workspace, (workspace,))

    async def start_and_end() -> None:
        process = await ConfinedProcess.start(sandbox, lambda _: FOR_EVER, {}, confines)
        await asyncio.sleep(moments.uniform(0, 0.03))
        await process.close()

    async with asyncio.timeout(RUN_S):
        for _ in range(25):
            await asyncio.gather(*(start_and_end() for _ in range(4)))
    assert not below(FOR_EVER[-1], root=1)


@pytest.mark.slow
def test_another_server_that_sweeps_as_it_starts_takes_no_folder_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = threading.Event()

    def sweep_on() -> None:
        while not made.is_set():
            sweep()

    sweeping = threading.Thread(target=sweep_on)
    sweeping.start()
    try:
        for _ in range(2_000):
            folder = PrivateFolder()
            assert folder.path.is_dir()
            folder.remove()
    finally:
        made.set()
        sweeping.join()


@pytest.mark.slow
async def test_folders_in_folders_without_end_stop_no_server_and_go_with_their_interpreter(
    sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    find = "import ipykernel, os; os.chdir(os.path.dirname(ipykernel.get_connection_file()))\n"
    busy = workshop_in(workspace, environment, sandbox)
    left = tmp_path / "sayso-code-left"
    left.mkdir()
    with filled_in(tmp_path):
        try:
            code = find + DIG.format(depth=3_000, name="d") + "os.mkdir('e', 0)\n"
            assert (await told(busy, code)).ending.status == "ok"
            assert len(names_in(tmp_path)) > 1
        finally:
            await busy.close()
        assert names_in(tmp_path) == [left.name]
        dig(left, 3_000)
        sweep()
        assert names_in(tmp_path) == []


@pytest.mark.parametrize(("server", "did"), [("alive", b"begun"), ("gone", b"")])
def test_nobody_begins_for_a_server_that_is_gone(server: str, did: bytes) -> None:
    steps = Steps("enter", [sys.executable, "-c", "print('begun', end='')"], folder="/")
    command = [sys.executable, "-I", "-S", launcher.__file__, json.dumps(asdict(steps))]
    word, held = os.pipe()
    os.write(held, b"\n")
    if server == "gone":
        os.close(held)
    begun = subprocess.run(command, stdin=word, stdout=subprocess.PIPE, check=False, timeout=RUN_S)
    assert begun.stdout == did
    os.close(word)
    if server == "alive":
        os.close(held)
