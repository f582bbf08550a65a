"""When setting up fails, the person reads one sentence that says what to do."""

import contextlib
import os
import pty
import re
import shutil
import subprocess
import termios
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


@pytest.mark.parametrize("columns", [20, 40, 80, 130, 0])
def test_the_line_that_shows_progress_stays_one_line(columns: int, tmp_path: Path) -> None:
    """What a terminal has wrapped it cannot take back: each change would leave a line behind."""
    said = "\x1b[32mCollecting…\x1b[0m\t" + "a-package-with-a-long-name " * 20
    program = "step 'Installing what the server needs (once)' bash -c 'echo \"$LOG\"; sleep 1.2'"
    shown = on_a_terminal(program, tmp_path, columns, LOG=said)
    *progress, done, end = re.split(r"\r\x1b\[K|\r?\n", shown)
    assert "Installing" in progress[-1]
    assert max(map(len, progress)) < (columns or 80)
    assert len(progress[-2]) == (columns or 80) - 1, "there is more to say than fits"
    assert not re.search(r"[\x00-\x1f\x7f]", "".join(progress))
    assert done.startswith("Installing what the server needs (once): done (")
    assert end == ""


def on_a_terminal(program: str, folder: Path, columns: int, **variables: str) -> str:
    """What a terminal of that many columns is sent while a program runs; 0 says nothing of them."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    script = f"set -euo pipefail\nsource '{ROOT}/scripts/lib.sh'\nROOT='{folder}'\n{program}"
    said = b""
    with subprocess.Popen(
        ["bash", "-c", script],
        env=os.environ | {"LC_ALL": "C.UTF-8"} | variables,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as running:
        os.close(theirs)
        with contextlib.suppress(OSError):  # nobody is at the other end any more
            while piece := os.read(ours, 65_536):
                said += piece
        assert running.wait(timeout=30) == 0, said
    os.close(ours)
    return said.decode()


def test_ctrl_c_ends_a_step_with_all_that_it_started(tmp_path: Path) -> None:
    before = leaks.running()
    program = "(sleep 0.5; kill -INT $$) &\nstep 'Endless' bash -c 'sleep 73 & wait'"
    assert run_bash(program, tmp_path).returncode == 130
    assert leaks.wait_for_processes(before, "sleep 73") == []


BARE = "has_program() { false; }; has_library() { false; }; has_sound_plugin() { false; }\n"
"""A machine that has nothing."""


def test_the_machine_that_decides_has_all_that_tests_look_with(tmp_path: Path) -> None:
    missing = run_bash(BARE + "missing_packages thorough", tmp_path).stdout.split()
    decides = (ROOT / ".ci/run").read_text().partition('PACKAGES="')[2].partition('"')[0].split()
    assert set(missing) <= set(decides)


def test_root_gets_the_packages_that_tests_look_with(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, does in (
        ("id", "echo 0"),
        ("uname", "echo Linux"),
        ("apt-get", f'echo "$*" >>{tmp_path}/got'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    run = run_bash(f'PATH="{tools}:$PATH"\n{BARE}offer_packages test', tmp_path)
    assert "Some tests need Debian packages" in run.stdout
    assert "  libgomp1       the language model that comes with Sayso\n" in run.stdout
    update, install = (tmp_path / "got").read_text().splitlines()
    assert update.startswith("update")
    assert {"libgomp1", "libportaudio2", "bubblewrap", "gcc", "zsh"} <= set(install.split())
    assert "chromium" not in install


def test_who_is_not_root_is_told_how_to_get_them_and_goes_on(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, does in (("id", "echo 1000"), ("uname", "echo Linux"), ("apt-get", "exit 1")):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    run = run_bash(f'PATH="{tools}:$PATH"\n{BARE}offer_packages test', tmp_path)
    assert run.returncode == 0
    assert run.stdout.splitlines()[-1].startswith("Get them with: sudo apt install libportaudio2")
