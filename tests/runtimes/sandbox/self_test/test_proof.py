"""The self-test: it finds each sandbox that does not hold, and then no code runs."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.sandbox.bubblewrap import Bubblewrap
from sayso.server.runtimes.sandbox.landlock import Landlock
from sayso.server.runtimes.sandbox.sandbox import Confined, Sandbox
from sayso.server.runtimes.sandbox.self_test import targets
from sayso.server.runtimes.sandbox.self_test.proof import examine, find_sandbox
from sayso.server.runtimes.sandbox.unconfined import Unconfined
from tests.busy import within
from tests.machine import lacking, needed
from tests.runtimes.sandboxes import KINDS, Altered, needed_sandbox, sandbox_of, told

TEST_S = 0.4
BUSY = 5
"""How much longer it may take where other tests run beside."""


def makes_namespaces() -> bool:
    """Whether somebody whom nothing confines can make a user namespace."""
    make = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x10000000))"
    return not subprocess.run([sys.executable, "-I", "-S", "-c", make], check=False).returncode


def loosened(**changes: object) -> Sandbox:
    """Landlock with some of its steps changed: a sandbox that does not hold."""

    def change(confined: Confined) -> Confined:
        *launch, steps = confined.argv
        changed = json.dumps(json.loads(steps) | changes)
        return replace(confined, argv=(*launch, changed))

    return Altered(Landlock(base_python()), change)


async def test_a_sandbox_that_holds_is_found_quickly(sandbox: Sandbox) -> None:
    with within(TEST_S * BUSY):
        report = await examine(sandbox)
    assert report.holds, report.failures
    assert report.kind == sandbox.kind
    assert report.sandbox is sandbox


async def test_the_machines_own_sandbox_is_found() -> None:
    found = [sandbox_of(kind) for kind in KINDS]
    report = await find_sandbox()
    assert report.holds == any(not isinstance(each, str) for each in found)


async def test_without_any_sandbox_everything_is_found_open() -> None:
    report = await examine(Unconfined(base_python()))
    assert not report.holds
    assert report.sandbox is None
    for what in ("read a file", "change a file", "make a file", "TCP", "UDP", "abstract socket"):
        assert what in report.reason


async def test_what_a_sandbox_that_does_not_hold_let_be_made_is_cleared_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "of the system"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    monkeypatch.setattr(targets, "SYSTEM", (str(folder),))
    async with targets.set_out() as out:
        os.mknod(folder / out.targets.mark)
        assert "make a file outside" in out.disturbed()
    assert not any(os.scandir(folder))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"handled": 0, "landlock": []}, "read a file outside"),
        ({"handled": 0, "landlock": []}, "change a file outside"),
        ({"filter": "", "asked": {}, "handled_network": 0}, "connect by TCP"),
        ({"filter": "", "asked": {}}, "send by UDP"),
        ({"filter": "", "asked": {}}, "connect to a socket of the host"),
        ({"filter": "", "asked": {}}, "make a user namespace"),
        ({"filter": "", "asked": {}}, "connect to a socket in a folder granted to read"),
        ({"filter": "", "asked": {}}, "leave a set-user-id program"),
        ({"filter": "", "asked": {}, "scoped": 0}, "connect to an abstract socket of the host"),
    ],
)
async def test_each_gap_in_landlock_is_found(changes: dict[str, object], found: str) -> None:
    needed_sandbox("landlock")
    if found == "make a user namespace" and not makes_namespaces():
        lacking("this machine makes no user namespaces")
    report = await examine(loosened(**changes))
    assert not report.holds
    assert f"inside landlock, code can {found}" in report.failures


@pytest.mark.parametrize(
    ("shown", "removed", "found"),
    [
        ("home", "", "change a file outside"),
        ("", "--unshare-net", "connect by TCP"),
        ("", "--unshare-net", "connect to an abstract socket of the host"),
        ("", "--unshare-pid", "see the processes of the host"),
    ],
)
async def test_each_gap_in_bubblewrap_is_found(
    shown: str, removed: str, found: str, tmp_path: Path
) -> None:
    needed_sandbox("bubblewrap")
    real = needed("bwrap", "bubblewrap")
    home = os.environ["SAYSO_HOME"]
    added = []
    if shown == "home":
        added = ["--perms", "0755", "--dir", str(Path(home).parent), "--bind", home, home]
    program = tmp_path / "bwrap"
    program.write_text(
        f"""#!{base_python()} -IS
import os, sys
given = open(int(sys.argv[2]), 'rb').read().decode().split('\\0')[:-1]
loosened = [option for option in given if option != {removed!r}]
at = loosened.index('--remount-ro')
os.execv({real!r}, [{real!r}, *loosened[:at], *{added!r}, *loosened[at:], *sys.argv[3:]])
"""
    )
    program.chmod(0o755)
    report = await examine(Bubblewrap(program, base_python()))
    assert not report.holds
    assert f"inside bubblewrap, code can {found}" in report.failures


async def test_a_bubblewrap_that_cannot_bound_scratch_space_is_used_without(tmp_path: Path) -> None:
    needed_sandbox("bubblewrap")
    real = needed("bwrap", "bubblewrap")
    program = tmp_path / "bwrap"
    program.write_text(
        f"""#!{base_python()} -IS
import os, sys
if sys.argv[1] == '--help':
    sys.exit('usage: bwrap [OPTIONS...]')
if b'--size' in os.pread(int(sys.argv[2]), 65536, 0):
    sys.exit('bwrap: Unknown option --size')
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""
    )
    program.chmod(0o755)
    report = await examine(Bubblewrap(program, base_python()))
    assert report.holds, report.failures


async def test_a_sandbox_that_does_not_start_is_told_with_its_own_words(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text(
        "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
    )
    program.chmod(0o755)
    report = await examine(Bubblewrap(program, base_python()))
    assert not report.holds
    assert "setting up uid map: Permission denied" in report.reason
    assert report.remedy


async def test_where_no_sandbox_holds_no_code_runs_and_the_remedy_is_told(
    environment: KernelEnvironment, workspace: Path
) -> None:
    code_runner = CodeRunner(workspace, environment, await examine(Unconfined(base_python())))
    try:
        run = await told(code_runner, "open('trace', 'w')")
    finally:
        await code_runner.close()
    assert run.ending.status == "error"
    assert "does not run" in run.ending.detail
    assert "read a file outside" in run.ending.detail
    assert code_runner.languages == ()
    assert not (workspace / "trace").exists()
