"""What fuzzing found is tried again each time, and for a moment it goes on looking."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.fuzz.keeping import kept
from tests.fuzz.targets import TARGETS
from tests.repository.tree import ROOT

SECONDS = 1
"""For each target; `python -m tests.fuzz` looks for longer."""


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_once_breaks_no_promise(target: str) -> None:
    inputs = kept(target)
    assert inputs
    for one in inputs:
        TARGETS[target](one)


@pytest.mark.thorough
@pytest.mark.skipif(
    not (sys.platform == "linux" and "x86_64" in sysconfig.get_platform()),
    reason="atheris has no wheel for this machine",
)
@pytest.mark.parametrize("target", TARGETS)
def test_a_fuzzer_that_follows_the_code_finds_nothing(target: str, tmp_path: Path) -> None:
    looking = [sys.executable, "-m", "tests.fuzz", target, "--seconds", str(SECONDS)]
    looking += ["--findings", str(tmp_path)]
    done = subprocess.run(looking, cwd=ROOT, capture_output=True, text=True, check=False)
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert (done.returncode, found) == (0, {}), done.stderr[-2_000:]
