"""Sayso works wherever its clone lies, even in /tmp, of which each sandbox has one of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.tree import ROOMS, copy

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SCRATCH = Path("/tmp")
EACH_LANGUAGE = (
    "tests/runtimes/calls/test_javascript_calls.py",
    "tests/runtimes/calls/test_shell_calls.py",
    "tests/runtimes/calls/test_python_calls.py",
)


@pytest.mark.skipif(sys.platform != "linux", reason="the sandboxes of Linux have a /tmp each")
def test_code_runs_and_calls_where_sayso_lies_in_the_scratch_folder(tmp_path: Path) -> None:
    if not tmp_path.is_relative_to(SCRATCH):
        pytest.skip(f"the tests' folders lie in {tmp_path}")
    clone = copy(tmp_path / "sayso")
    packages = tmp_path / "packages" / "sayso"
    packages.mkdir(parents=True)
    for room, package in ROOMS.items():
        (packages / package.rpartition(".")[2]).symlink_to(clone / room)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *EACH_LANGUAGE],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(packages.parent)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4_000:]
