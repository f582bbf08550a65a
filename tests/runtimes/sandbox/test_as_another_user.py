"""The same tests as an ordinary user, where they run as root: a sandbox must hold for both."""

import asyncio
import json
import os
import stat
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox import launcher
from sayso.server.runtimes.sandbox.launcher import Steps
from tests.kernels import lent_home

NOBODY = 65_534
"""Who owns nothing and may do nothing."""

ROOT = Path(__file__).parents[3]
SAME = (
    "runtimes/sandbox/test_escapes.py",
    "runtimes/sandbox/test_limits.py",
    "runtimes/protection/test_write_protected_files.py",
    "runtimes/protection/test_own_places.py",
    "runtimes/protection/test_swapped.py",
    "runtimes/sandbox/self_test/test_proof.py",
    "runtimes/sandbox/test_file_attributes.py",
    "runtimes/sandbox/test_special_files.py",
    "runtimes/sandbox/test_shared_memory.py",
    "runtimes/calls/test_python_calls.py",
    "runtimes/calls/test_forged_calls.py",
    "runtimes/calls/test_shell_calls.py",
    "runtimes/calls/test_javascript_calls.py",
    "runtimes/test_trouble.py::test_nothing_outlives_a_server_that_is_killed",
    "runtimes/test_trouble.py::test_closing_ends_everything_that_was_started",
    "server/test_killed_in_a_run.py",
    "runtimes/languages/test_python.py::test_a_plot_arrives_as_a_picture",
    "runtimes/languages/test_python.py::test_pools_of_processes_work_and_their_prints_are_heard",
)


THOROUGH = (
    "runtimes/sandbox/test_escapes.py",
    "runtimes/sandbox/test_harm.py",
    "e2e/test_escapes.py",
)
"""The same with all that can be granted, and through a whole server."""


@pytest.mark.timeout(500)
@pytest.mark.parametrize(
    ("marked", "names"),
    [
        pytest.param("not thorough", SAME, marks=pytest.mark.slow, id="ordinary"),
        pytest.param("thorough", THOROUGH, marks=pytest.mark.thorough, id="thorough"),
    ],
)
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="not root: so it is already"
)
async def test_all_holds_for_an_ordinary_user_too(
    environment: KernelEnvironment, marked: str, names: tuple[str, ...]
) -> None:
    files = [f"{ROOT}/tests/{name}" for name in names]
    options = ("-q", "-p", "no:cacheprovider", "-m", marked)
    command = [sys.executable, "-m", "pytest", *options, *files]
    process = await asyncio.create_subprocess_exec(
        *as_nobody(command, [ROOT, Path(sys.executable), environment.base, environment.folder]),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={
            **os.environ,
            "HOME": "/nonexistent",
            "LOGNAME": "nobody",
            "SAYSO_TEST_HOME": str(lent_home().data),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"\n")  # and it stays open: nobody begins for a server that is gone
    said = await process.stdout.read()
    assert await process.wait() == 0, said.decode()
    assert b"passed" in said


def as_nobody(command: list[str], needed: list[Path]) -> list[str]:
    """A command that runs another as nobody, for whom root's closed folders are open."""
    views = {closed for path in needed if (closed := first_closed(path))}
    views = {path for path in views if not views.intersection(path.parents)}
    enter = Steps(role="enter", argv=command, user=NOBODY, folder=str(ROOT))
    stage = Steps(
        role="stage",
        argv=launch(enter),
        user=NOBODY,
        views=sorted(str(path) for path in views),
        reached=[str(path) for path in needed],
    )
    return launch(stage)


def launch(steps: Steps) -> list[str]:
    return [str(base_python()), "-I", "-S", launcher.__file__, json.dumps(asdict(steps))]


def first_closed(path: Path) -> Path | None:
    """The outermost folder on the way that only root may enter."""
    for folder in (*reversed(path.parents), path):
        status = folder.stat()
        if status.st_uid == 0 and not status.st_mode & stat.S_IXOTH:
            return folder
    return None
