"""Memory that programs share by name: code's own programs share it, and nobody else."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.landlock import Landlock
from sayso.server.runtimes.sandbox.sandbox import NO_HANDOVER, Confined, Confines, Kind, Sandbox
from tests.runtimes.attempts import assert_nothing_done
from tests.runtimes.sandboxes import needed_sandbox, shares_memory, told, workshop_in

REACH = """
attempt('read', lambda: open('/dev/shm/' + name).read())
attempt('write', lambda: open('/dev/shm/' + name, 'r+').write('evil'))
attempt('remove', lambda: os.unlink('/dev/shm/' + name))
attempt('rename', lambda: os.rename('/dev/shm/' + name, '/dev/shm/' + name + '-2'))
attempt('list', lambda: name in os.listdir('/dev/shm') or False)
from multiprocessing import shared_memory
attempt('attach', lambda: shared_memory.SharedMemory(name))
attempt('root', lambda: open('/proc/self/root/dev/shm/' + name).read())
attempt('mode', lambda: os.chmod('/dev/shm/' + name, 0))
"""

USE = """
import multiprocessing, os
from multiprocessing import shared_memory
lock = multiprocessing.get_context('fork').Lock()
kept = shared_memory.SharedMemory('kept', create=True, size=8)
def work(number):
    with lock:
        other = shared_memory.SharedMemory('kept')
        other.buf[number] = number
        other.close()
with multiprocessing.get_context('fork').Pool(2) as pool:
    pool.map(work, range(8))
print(bytes(kept.buf[:8]) == bytes(range(8)))
"""


class WithoutViews:
    """Landlock on a machine that lets nobody have a view of the file system of their own."""

    kind: Kind = "landlock"
    limits = None

    def confine(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        confines: Confines,
        private: Path,
        door: int = NO_HANDOVER,
    ) -> Confined:
        confined = Landlock(base_python()).confine(argv, environment, confines, private, door)
        *launch, steps = confined.argv
        changed = json.dumps({**json.loads(steps), "shared_memory": ""})
        return replace(confined, argv=(*launch, changed))


@pytest.fixture
def theirs() -> Iterator[Path]:
    """What a program of the host's shares, as open as can be."""
    path = Path("/dev/shm", f"sayso-test-{secrets.token_hex(8)}")
    path.write_text("theirs")
    path.chmod(0o666)
    yield path
    assert path.read_text() == "theirs"
    assert path.stat().st_mode & 0o777 == 0o666
    path.unlink()


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "landlock without views"])
async def test_what_others_share_is_out_of_reach(
    kind: str, environment: KernelEnvironment, workspace: Path, theirs: Path
) -> None:
    sandbox: Sandbox = needed_sandbox("bubblewrap" if kind == "bubblewrap" else "landlock")
    if kind == "landlock without views":
        sandbox = WithoutViews()
    code_runner = workshop_in(workspace, environment, sandbox)
    try:
        await assert_nothing_done(code_runner, f"name = {theirs.name!r}" + REACH)
        if kind == "landlock without views":
            assert not await shares_memory(code_runner)
            assert "PermissionError" in (await told(code_runner, USE)).error
    finally:
        await code_runner.close()


async def test_one_conversations_programs_share_and_another_sees_nothing_of_it(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    mine = workshop_in(workspace / "mine", environment, sandbox)
    other = workshop_in(workspace / "other", environment, sandbox)
    try:
        used = await told(mine, USE)
        if await shares_memory(mine):
            assert used.stdout == "True\n", (used.stderr, used.error)
        else:
            assert "PermissionError" in used.error
        await assert_nothing_done(other, "name = 'kept'" + REACH)
    finally:
        await mine.close()
        await other.close()


async def test_shared_memory_is_bounded(
    sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    code_runner = workshop_in(workspace, environment, sandbox)
    code = """
import os
status = os.statvfs('/dev/shm')
print(0 < status.f_blocks * status.f_frsize <= 1024 ** 3)
"""
    try:
        if await shares_memory(code_runner):
            assert (await told(code_runner, code)).stdout == "True\n"
    finally:
        await code_runner.close()
