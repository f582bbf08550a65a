"""What all the code of a conversation takes together: memory, room on a disk, numbers of files."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.sandbox.limits import SandboxLimits
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.processes import below, until
from tests.runtimes.sandboxes import Told, sandbox_of, shares_memory, told

MIB = 1024**2

BOUND = 512 * MIB

RESERVE = 64 * MIB
"""How much less than now may be free on the disk; other tests use it, too."""


@pytest.fixture
async def bounded(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[CodeRunner]:
    """A workshop whose code may hold half a gibibyte together."""
    made = sandbox_of(sandbox.kind, SandboxLimits(together=BOUND))
    assert not isinstance(made, str)
    code_runner = CodeRunner(workspace, environment, SandboxReport(True, made.kind, sandbox=made))
    yield code_runner
    await code_runner.close()


def _is_told(run: Told) -> bool:
    return run.ending.status == "died" and "more than 0.5 GiB of memory" in run.ending.detail


HOARDS = {
    "many processes": """
import os, time
for _ in range(40):
    if not os.fork():
        hoard = b'x' * (64 << 20)
        time.sleep(600)
time.sleep(600)
""",
    "processes that beget more": """
import os, time
for _ in range(6):
    os.fork()
hoard = [b'x' * (32 << 20) for _ in range(100)]
time.sleep(600)
""",
    "memory that has no name": """
import os, time
hoard = []
for _ in range(24):
    hoard.append(os.memfd_create('hoard'))
    os.write(hoard[-1], bytes(64 << 20))
time.sleep(600)
""",
    "memory that is shared": """
import mmap, time
hoard = [mmap.mmap(-1, 64 << 20) for _ in range(24)]
for each in hoard: each.write(b'x' * (64 << 20))
time.sleep(600)
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", HOARDS)
async def test_what_holds_more_memory_together_than_it_may_is_ended_and_told(
    bounded: CodeRunner, way: str
) -> None:
    assert _is_told(await told(bounded, HOARDS[way]))
    assert (await told(bounded, "print(1)")).stdout == "1\n"


@pytest.mark.slow
async def test_files_in_memory_count_as_memory(bounded: CodeRunner) -> None:
    code = """
import os, time
names = [f'/dev/shm/sayso-hoard-{os.getpid()}-{number}' for number in range(30)]
try:
    for name in names:
        with open(name, 'xb') as file:
            os.unlink(name)
            file.write(bytes(32 << 20))
            globals()[name] = os.dup(file.fileno())
    time.sleep(600)
except OSError as refused:
    print(refused)
"""
    run = await told(bounded, code)
    if await shares_memory(bounded):
        assert _is_told(run)
    else:
        assert "Permission denied" in run.stdout


@pytest.mark.slow
async def test_two_languages_are_counted_together(bounded: CodeRunner) -> None:
    await told(bounded, f"hoard = b'x' * {200 * MIB}")
    hoard = "head -c 420000000 /dev/zero | tail -c 410000000 | sleep 600"
    run = await told(bounded, hoard, "bash")
    assert _is_told(run)
    assert (await told(bounded, "print(len(hoard))")).stdout


@pytest.mark.slow
async def test_memory_that_processes_share_counts_once(bounded: CodeRunner) -> None:
    code = f"""
import os, time
shared = b'x' * {150 * MIB}
for _ in range(8):
    if not os.fork():
        time.sleep(3)
        os._exit(0)
for _ in range(8):
    os.wait()
print('kept')
"""
    assert (await told(bounded, code)).stdout == "kept\n"


@pytest.mark.slow
async def test_what_was_left_running_is_ended_too_and_told_of_later(bounded: CodeRunner) -> None:
    mark = "847391"
    later = f"import time; time.sleep(1); hoard = b'x' * {900 * MIB}; time.sleep({mark})"
    await told(
        bounded, f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {later!r}])"
    )
    assert below(mark)
    await until(lambda: not below(mark))
    run = await told(bounded, "print('next')")
    assert run.stdout == "next\n"
    assert "more than 0.5 GiB of memory" in run.ending.detail


async def test_code_stays_the_first_to_go_if_memory_runs_out(bounded: CodeRunner) -> None:
    code = """
import os
for path in ('/proc/self/oom_score_adj', f'/proc/{os.getpid()}/oom_score_adj'):
    try:
        open(path, 'w').write('0')
        print('changed')
    except OSError as refused:
        print('refused')
print(open('/proc/self/oom_score_adj').read())
"""
    assert (await told(bounded, code)).stdout == "refused\nrefused\n1000\n\n"


@pytest.fixture
async def narrow(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> AsyncIterator[Callable[..., CodeRunner]]:
    made: list[CodeRunner] = []

    def make(**bounds: int) -> CodeRunner:
        report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
        made.append(CodeRunner(workspace, environment, report, bounds=ResourceBounds(**bounds)))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        await each.close()


@pytest.mark.slow
async def test_what_was_left_running_does_not_fill_the_disk(
    narrow: Callable[..., CodeRunner], workspace: Path
) -> None:
    disk = os.statvfs(workspace)
    code_runner = narrow(disk_reserve=disk.f_bavail * disk.f_frsize - 4 * RESERVE)
    mark = "848391"
    writer = f"""
import time
for number in range(1_000):
    with open(f'file{{number}}-{mark}', 'wb') as file:
        file.write(bytes(4 << 20))
    time.sleep(0.02)
"""
    await told(
        code_runner, f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {writer!r}])"
    )
    await until(lambda: not below(mark))
    assert "disk is nearly full" in (await told(code_runner, "1")).ending.detail


@pytest.mark.slow
async def test_a_run_makes_no_more_files_than_it_may(narrow: Callable[..., CodeRunner]) -> None:
    code_runner = narrow(files_most=5_000)
    code = """
import time
for number in range(100_000):
    open(f'file{number}', 'x').close()
    if number % 1_000 == 0: time.sleep(0.02)
time.sleep(60)
"""
    ending = (await told(code_runner, code)).ending
    assert ending.status == "interrupted"
    assert "more files" in ending.detail
    assert (await told(code_runner, "print(number < 50_000)")).stdout == "True\n"
