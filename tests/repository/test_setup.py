"""When setting up fails, the person reads one sentence that says what to do."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import leaks
from tests.repository.tree import ROOT

NO_NETWORK_UV = """
error: Request failed after 3 retries
  Caused by: Failed to fetch: `https://index.example/simple/numpy/`
  Caused by: error sending request for url
  Caused by: dns error: failed to lookup address information: Temporary failure in name resolution
"""
NO_NETWORK_PIP = """
WARNING: Retrying after connection broken by 'NewConnectionError: Network is unreachable'
ERROR: Could not find a version that satisfies the requirement numpy==2.4.6 (from versions: none)
ERROR: No matching distribution found for numpy==2.4.6
"""
WRONG_HASH = """
ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the
    numpy==2.4.6 from file: Expected sha256 00 Got 11
"""
NO_WHEEL = """
ERROR: Could not find a version that satisfies onnxruntime==1.31.1 (from versions: 1.2, 1.3)
ERROR: No matching distribution found for onnxruntime==1.31.1
"""
WRONG_CERTIFICATE = """
error: Failed to fetch: `https://index.example/simple/numpy/`
  cause: client error (Connect)
  cause: invalid peer certificate: UnknownIssuer
"""
DISK_FULL = (
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"
)
OF_OUR_OWN = "Traceback …\nsayso: The kernels' Python cannot be had: do this, then that."


def run_bash(program: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the functions of scripts/lib.sh, for a repository elsewhere."""
    return subprocess.run(
        [
            "bash",
            "-c",
            f"set -euo pipefail\nsource '{ROOT}/scripts/lib.sh'\nROOT='{folder}'\n{program}",
        ],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def sentence(run: subprocess.CompletedProcess[str]) -> str:
    """The one line that a script says when it fails."""
    assert run.returncode == 1
    (line,) = run.stderr.splitlines()
    assert line.startswith("sayso: ")
    return line


@pytest.mark.parametrize(
    ("log", "advice"),
    [
        (NO_NETWORK_UV, "connect this machine to the network"),
        (NO_NETWORK_PIP, "connect this machine to the network"),
        (WRONG_CERTIFICATE, "SSL_CERT_FILE"),
        (WRONG_HASH, "check your package index"),
        (NO_WHEEL, "set PYTHON to another one"),
        (DISK_FULL, "free about"),
        (OF_OUR_OWN, "do this, then that."),
    ],
)
def test_a_step_that_fails_ends_in_advice(log: str, advice: str, tmp_path: Path) -> None:
    program = "step 'Installing' bash -c 'echo \"$LOG\"; exit 1' || fail_step Installing"
    assert advice in sentence(run_bash(program, tmp_path, LOG=log))


def test_a_failure_that_nobody_foresaw_shows_the_last_lines(tmp_path: Path) -> None:
    program = "step 'Installing' bash -c 'echo something odd; exit 1' || fail_step Installing"
    run = run_bash(program, tmp_path)
    assert run.stderr.splitlines()[0] == "something odd"
    assert str(tmp_path / ".house/setup.log") in run.stderr


def test_a_python_that_is_too_old_is_named(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "uname").symlink_to(shutil.which("uname") or "/bin/uname")
    old = tools / "python3"
    old.write_text('#!/bin/sh\ncase "$*" in *print*) echo 3.9.2 ;; *) exit 1 ;; esac\n')
    old.chmod(0o755)
    run = run_bash(f"PATH='{tools}' PYTHON=''\nneed_python", tmp_path)
    assert "found 3.9.2" in sentence(run)


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(tmp_path: Path) -> None:
    run = run_bash('VENV="$ROOT/.venv" NEEDED_MB=999999999\ncheck_space', tmp_path)
    assert "free some" in sentence(run)


def test_a_folder_that_is_in_the_way_is_left_alone(tmp_path: Path) -> None:
    treasure = tmp_path / ".venv" / "treasure"
    treasure.parent.mkdir()
    treasure.touch()
    run = run_bash('VENV="$ROOT/.venv"\nneed_python\nmake_venv', tmp_path)
    assert "move it away" in sentence(run)
    assert treasure.exists()


def test_a_quick_step_is_not_spoken_of_and_a_long_one_shows_that_it_lives(tmp_path: Path) -> None:
    # On a busy machine even `true` may take its second: that it can be silent is what counts.
    assert any(run_bash("step 'Quick' true", tmp_path).stdout == "" for _ in range(20))
    long = run_bash("step 'Long' bash -c 'sleep 1.2'", tmp_path).stdout.splitlines()
    assert long[0] == "Long …"
    assert long[-1].startswith("Long: done (")


def test_ctrl_c_ends_a_step_with_all_that_it_started(tmp_path: Path) -> None:
    before = leaks.running()
    program = "(sleep 0.5; kill -INT $$) &\nstep 'Endless' bash -c 'sleep 73 & wait'"
    assert run_bash(program, tmp_path).returncode == 130
    assert leaks.wait_for_processes(before, "sleep 73") == []
