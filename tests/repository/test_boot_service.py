"""`scripts/run --for-good` writes what systemd and launchd understand, whatever it is given."""

import os
import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repository.tree import ROOT

ARGUMENTS = ("--model", 'a "quoted" <name> & $HOME 100% back\\slash', "--port", "9000")
HOME = '/srv/my "own" 50% & more'


def ask_script(function: str, folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """Call a function of scripts/boot_service.sh as scripts/run does, in a folder of its own."""
    program = (
        "set -euo pipefail\n"
        f"source '{ROOT}/scripts/lib.sh'\nsource '{ROOT}/scripts/boot_service.sh'\n"
        f'VENV="{folder}/.venv"\n{function} "$@"\n'
    )
    return subprocess.run(
        ["bash", "-c", program, "script", *ARGUMENTS],
        env=os.environ
        | {"SAYSO_HOME": HOME, "HOME": str(folder)}
        | ({"PATH": path} if path else {}),
        capture_output=True,
        text=True,
        check=False,
    )


def test_launchd_gets_the_arguments_as_they_were_given(tmp_path: Path) -> None:
    agent = plistlib.loads(ask_script("launch_agent", tmp_path).stdout.encode())
    assert agent["ProgramArguments"] == [f"{tmp_path}/.venv/bin/sayso", "serve", *ARGUMENTS]
    assert agent["EnvironmentVariables"] == {"SAYSO_HOME": HOME}
    assert agent["RunAtLoad"]
    assert agent["KeepAlive"] == {"SuccessfulExit": False}


def test_systemd_gets_the_arguments_quoted_as_it_wants_them(tmp_path: Path) -> None:
    unit = ask_script("user_unit", tmp_path).stdout
    assert (
        f'ExecStart=/usr/bin/env "{tmp_path}/.venv/bin/sayso" "serve" "--model"'
        r' "a \"quoted\" <name> & $$HOME 100%% back\\slash" "--port" "9000"' + "\n"
    ) in unit
    assert r'Environment="SAYSO_HOME=/srv/my \"own\" 50%% & more"' + "\n" in unit


def test_systemd_leaves_the_units_cgroup_to_the_server(tmp_path: Path) -> None:
    unit = ask_script("user_unit", tmp_path).stdout.splitlines()
    assert "Delegate=memory pids" in unit
    assert "OOMPolicy=continue" in unit


@pytest.mark.needs("systemd-analyze", "systemd")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    file = tmp_path / "sayso.service"
    file.write_text(ask_script("user_unit", tmp_path).stdout)
    run = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--man=no", str(file)],
        env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert str(file) not in run.stdout + run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is for Linux")
def test_the_unit_is_written_enabled_and_started(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    systemctl = tools / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/calls"\n')
    systemctl.chmod(0o755)
    run = ask_script("install_user_unit", tmp_path, path=f"{tools}:{os.environ['PATH']}")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / ".config/systemd/user/sayso.service").exists()
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == [
        "--user daemon-reload",
        "--user enable --quiet sayso.service",
        "--user restart sayso.service",
    ]
    assert "loginctl enable-linger" in run.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="systemd is for Linux")
def test_a_user_without_systemd_is_told_in_one_sentence(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    (tools / "systemctl").chmod(0o755)
    run = ask_script("install_user_unit", tmp_path, path=f"{tools}:{os.environ['PATH']}")
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "log in as the user" in run.stderr
