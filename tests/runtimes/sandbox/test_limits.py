"""Code that takes too much: memory, files and processes have a limit, and all end together."""

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.runtime import Ending
from sayso.server.runtimes.sandbox import sandbox as sandbox_module
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests import leaks
from tests.runtimes.processes import until
from tests.runtimes.sandboxes import RUN_S, needed_sandbox, sandbox_of, told, workshop_in


@pytest.fixture
async def small_workshop(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[CodeRunner]:
    """A workshop with small limits, so that to reach them does no harm even if they do not hold."""
    limits = SandboxLimits(memory=1024**3, file=16 * 1024**2, processes=64, scratch=16 * 1024**2)
    made = sandbox_of(sandbox.kind, limits)
    assert not isinstance(made, str)
    code_runner = workshop_in(workspace, environment, made)
    yield code_runner
    await code_runner.close()


async def test_memory_files_and_processes_are_bounded(small_workshop: CodeRunner) -> None:
    await told(small_workshop, "import os, resource, subprocess, time")
    run = await told(small_workshop, "hog = bytearray(2 * 1024 ** 3)")
    assert run.ending.detail.startswith("MemoryError")
    run = await told(small_workshop, "open('big', 'wb').truncate(1024 ** 3)")
    assert "File too large" in run.ending.detail
    run = await told(small_workshop, "with open('big', 'wb') as f:\n    f.write(bytes(17 << 20))")
    assert "File too large" in run.ending.detail
    # Landlock's limit is on all that the user runs, and other tests' kernels end meanwhile.
    bomb = """
made = []
try:
    for _ in range(500):
        made.append(subprocess.Popen(['sleep', '604']))
except OSError as refused:
    print('stopped', len(made) < 400)
"""
    assert (await told(small_workshop, bomb)).stdout == "stopped True\n"
    assert (await told(small_workshop, "print(resource.getrlimit(4))")).stdout == "(1, 1)\n"


async def test_in_the_mode_full_code_may_hold_what_its_person_may(
    environment: KernelEnvironment, workspace: Path
) -> None:
    report = SandboxReport(True, "landlock", sandbox=needed_sandbox("landlock"))
    code_runner = CodeRunner(workspace, environment, report, Grants(everything=True))
    look = """
import resource
print([resource.getrlimit(each) for each in (resource.RLIMIT_AS, resource.RLIMIT_NPROC)])
print(open('/proc/self/cgroup').read())
"""
    try:
        run = await told(code_runner, look)
    finally:
        await code_runner.close()
    own = [resource.getrlimit(each) for each in (resource.RLIMIT_AS, resource.RLIMIT_NPROC)]
    assert run.stdout == f"{own}\n{own_cgroup()}\n"


def own_cgroup() -> str:
    return Path("/proc/self/cgroup").read_text(encoding="ascii")


_OUT_OF_SIGHT = """
import os, runpy, sys, threading, time

def start_threads(most):
    for started in range(most):
        try:
            threading.Thread(target=time.sleep, args=(604,), daemon=True).start()
        except RuntimeError:
            return started
    return most

set_limits = runpy.run_path(sys.argv[1])["set_limits"]
if os.geteuid() == 0:
    os.setresuid(61_234, 61_234, 61_234)
told, tell = os.pipe()
if not os.fork():
    start_threads(200)
    os.write(tell, b".")
    time.sleep(604)
os.read(told, 1)
set_limits({"processes": 64}, 0, lambda: None)
print(start_threads(2_000), flush=True)
os.killpg(0, 9)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="macOS bounds processes by itself")
def test_what_a_user_runs_out_of_sight_takes_nothing_of_what_code_may_start() -> None:
    script = str(Path(sandbox_module.__file__).with_name("set_limits.py"))
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _OUT_OF_SIGHT, script],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=RUN_S,
    )
    # Others' processes come and go where the user is one that they have, too.
    assert 30 < int(done.stdout) < 300, done.stderr


async def test_a_fork_bomb_stays_small_and_ends_with_the_workshop(
    small_workshop: CodeRunner,
) -> None:
    loop = asyncio.get_running_loop()
    await told(small_workshop, "import subprocess")
    before = len(leaks.running())
    bomb = "subprocess.Popen(['bash', '-c', 'bomb() { bomb | bomb & }; bomb; sleep 1'])"
    await told(small_workshop, bomb)
    late = 0.0
    async with asyncio.timeout(RUN_S):
        for _ in range(20):
            due = loop.time() + 0.02
            await asyncio.sleep(0.02)
            late = max(late, loop.time() - due)
    assert len(leaks.running()) < before + 200
    assert late < 1.0
    await small_workshop.close()
    await until(lambda: len(leaks.running()) < before + 20)


async def test_a_run_is_stopped_before_it_fills_the_disk(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    disk = os.statvfs(workspace)
    reserve = disk.f_bavail * disk.f_frsize - 64 * 1024**2
    report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
    made = CodeRunner(workspace, environment, report, bounds=ResourceBounds(disk_reserve=reserve))
    code = """
for number in range(64):
    with open(f'file{number}', 'wb') as file:
        file.write(bytes(8 << 20))
import time
time.sleep(60)
"""
    try:
        async with asyncio.timeout(RUN_S):
            pieces = [piece async for piece in made.run("python", code)]
    finally:
        await made.close()
    ending = pieces[-1]
    assert isinstance(ending, Ending)
    assert ending.status == "interrupted"
    assert "disk is nearly full" in ending.detail
