"""Cgroups, on a folder that stands for the kernel's: what is written in which order, and what
refuses. What the kernel makes of it is proved in test_cgroups_for_real.py."""

import errno
import logging
import os
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.resources.bounds import ResourceBounds
from sayso.server.runtimes.resources.cgroups import (
    CgroupFiles,
    Cgroups,
    NoCgroupError,
    find_delegated,
)
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.sandboxes import told

OWN_PID = "42"


class Kernel(CgroupFiles):
    """Files of cgroups in a folder, with a kernel that moves processes and may refuse."""

    def __init__(self, folder: Path, *, refuses: str = "", why: int = errno.EACCES) -> None:
        self.folder = folder
        self._refuses = refuses
        self._why = why
        self.writes: list[tuple[str, str]] = []
        self.busy = 0
        """How often a cgroup is not yet empty when it is to be removed."""
        self._fill(folder)
        (folder / "cgroup.procs").write_text(f"{OWN_PID}\n43\n")

    def make(self, folder: Path) -> None:
        super().make(folder)
        self._fill(folder)

    def _fill(self, folder: Path) -> None:
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        for name in ("procs", "subtree_control", "kill"):
            (folder / f"cgroup.{name}").touch()
        for name in ("max", "oom.group", "events"):
            (folder / f"memory.{name}").touch()
        (folder / "pids.max").touch()

    def open(self, file: Path) -> int:
        if file.name == self._refuses:
            raise OSError(self._why, os.strerror(self._why), str(file))
        return super().open(file)

    def write(self, file: Path, text: str) -> None:
        super().write(file, text)
        self.writes.append((str(file.relative_to(self.folder)), text))
        if file.name == "cgroup.procs":
            left = (self.folder / "cgroup.procs").read_text().split()
            (self.folder / "cgroup.procs").write_text("\n".join(p for p in left if p != text))

    def remove(self, folder: Path) -> None:
        if self.busy:
            self.busy -= 1
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        for file in folder.iterdir():
            if file.is_file():
                file.unlink()
        super().remove(folder)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "cgroup" / "sayso.service"
    folder.mkdir(parents=True)
    return folder


def conversations(own: Path) -> list[Path]:
    return list(own.glob("conversation-*"))


def process(tmp_path: Path, own: Path, *, version: int = 2) -> Path:
    """What /proc tells of a process in a cgroup."""
    folder = tmp_path / OWN_PID
    folder.mkdir()
    mounted = own.parent
    line = "0::/sayso.service\n" if version == 2 else "4:memory:/sayso.service\n"
    (folder / "cgroup").write_text(f"1:name=systemd:/\n{line}")
    kind = "cgroup2 cgroup2 rw" if version == 2 else "cgroup cgroup rw,memory"
    (folder / "mountinfo").write_text(
        f"22 1 8:1 / / rw - ext4 /dev/sda rw\n30 22 0:26 / {mounted} rw,nosuid - {kind}\n"
    )
    return folder


def test_the_bounds_are_written_before_anybody_can_be_in_there(own: Path) -> None:
    kernel = Kernel(own)
    cgroups = Cgroups(own, kernel)
    assert kernel.writes == [
        ("server/cgroup.procs", OWN_PID),
        ("server/cgroup.procs", "43"),
        ("cgroup.subtree_control", "+memory +pids"),
    ]
    kernel.writes.clear()
    conversation = cgroups.for_conversation()
    assert not list(own.glob("conversation-*"))
    first = conversation.for_interpreter(1_000, 10)
    second = conversation.for_interpreter(1_000, 10)
    assert first
    assert second
    (folder,) = own.glob("conversation-*")
    assert kernel.writes == [
        (f"{folder.name}/memory.max", "1000"),
        (f"{folder.name}/pids.max", "10"),
        (f"{folder.name}/cgroup.subtree_control", "+memory"),
        (f"{folder.name}/interpreter-1/memory.oom.group", "1"),
        (f"{folder.name}/interpreter-2/memory.oom.group", "1"),
    ]
    for each in (first, second):
        os.write(each.descriptor, b"0")
        os.close(each.descriptor)
    assert (folder / "interpreter-1/cgroup.procs").read_text() == "0"
    first.remove()
    assert [each.name for each in folder.iterdir() if each.is_dir()] == ["interpreter-2"]
    conversation.remove()
    assert not list(own.glob("conversation-*"))


def test_what_was_killed_by_its_bound_is_known_and_stays_known(own: Path) -> None:
    cgroup = Cgroups(own, Kernel(own)).for_conversation().for_interpreter(1_000, 10)
    assert cgroup
    os.close(cgroup.descriptor)
    events = next(own.glob("conversation-*/interpreter-1")) / "memory.events"
    events.write_text("low 0\nmax 7\noom 1\noom_kill 0\n")
    assert not cgroup.was_killed
    events.write_text("low 0\nmax 7\noom 1\noom_kill 3\n")
    cgroup.remove()
    assert cgroup.was_killed


def test_a_cgroup_that_is_not_empty_yet_is_removed_when_it_is(own: Path) -> None:
    kernel = Kernel(own)
    cgroup = Cgroups(own, kernel).for_conversation().for_interpreter(1_000, 10)
    assert cgroup
    os.close(cgroup.descriptor)
    kernel.busy = 3
    cgroup.remove()
    assert not list(own.glob("conversation-*/interpreter-1"))


def test_what_a_killed_server_left_is_ended_and_removed(own: Path) -> None:
    kernel = Kernel(own)
    for folder in (own / "conversation-old", own / "conversation-old/interpreter-1"):
        kernel.make(folder)
    (own / "somebody").mkdir()
    Cgroups(own, kernel)
    assert kernel.writes[0] == ("conversation-old/cgroup.kill", "1")
    assert not (own / "conversation-old").exists()
    assert (own / "somebody").exists()


@pytest.mark.parametrize("why", [errno.EBUSY, errno.ENOENT, errno.EACCES])
@pytest.mark.parametrize("file", ["memory.max", "pids.max", "memory.oom.group", "cgroup.procs"])
async def test_where_a_cgroup_cannot_be_made_the_watch_alone_bounds_and_the_log_says_so_once(
    own: Path,
    file: str,
    why: int,
    any_sandbox: Sandbox,
    environment: KernelEnvironment,
    workspace: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cgroups = Cgroups(own, Kernel(own))
    cgroups.files = Kernel(own, refuses=file, why=why)
    report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
    code_runner = CodeRunner(workspace, environment, report, bounds=ResourceBounds(cgroups=cgroups))
    try:
        with caplog.at_level(logging.WARNING):
            assert (await told(code_runner, "echo 1", "bash")).stdout == "1\n"
            assert (await told(code_runner, "echo 2", "bash", alone=True)).stdout == "2\n"
    finally:
        await code_runner.close()
    lines = [line for line in caplog.messages if "watched alone" in line]
    assert len(lines) == 1
    assert os.strerror(why) in lines[0]
    assert not conversations(own)


@pytest.mark.parametrize("file", ["cgroup.subtree_control", "cgroup.procs"])
def test_a_cgroup_that_cannot_be_divided_is_not_used(own: Path, file: str) -> None:
    with pytest.raises(NoCgroupError, match="cannot be divided"):
        Cgroups(own, Kernel(own, refuses=file))


async def test_code_that_cannot_join_its_cgroup_does_not_run(
    own: Path, sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    class Full(Kernel):
        def open(self, file: Path) -> int:
            joined = "interpreter" in file.parent.name and file.name == "cgroup.procs"
            return super().open(Path("/dev/full") if joined else file)

    kernel = Full(own)
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    code_runner = CodeRunner(
        workspace, environment, report, bounds=ResourceBounds(cgroups=Cgroups(own, kernel))
    )
    try:
        run = await told(code_runner, "echo 1", "bash")
    finally:
        await code_runner.close()
    assert run.ending.status == "error"
    assert "No space left" in run.ending.detail
    assert run.stdout == ""


async def test_code_neither_sees_cgroups_nor_has_the_way_into_its_own(
    own: Path, sandbox: Sandbox, environment: KernelEnvironment, workspace: Path
) -> None:
    report = SandboxReport(True, sandbox.kind, sandbox=sandbox)
    bounds = ResourceBounds(cgroups=Cgroups(own, Kernel(own)))
    code_runner = CodeRunner(workspace, environment, report, bounds=bounds)
    try:
        run = await told(
            code_runner,
            f"ls /sys/fs/cgroup; ls '{own}'; echo 0 > '{own}/cgroup.procs'; mkdir '{own}/mine';"
            " ls -l /proc/self/fd /proc/$PPID/fd | grep cgroup; echo over",
            "bash",
        )
        procs = (conversations(own)[0] / "interpreter-1/cgroup.procs").read_text()
    finally:
        await code_runner.close()
    assert run.stdout == "over\n"
    assert procs == "0"


def test_a_cgroup_is_divided_where_no_systemd_runs_and_the_server_is_alone(
    tmp_path: Path, own: Path
) -> None:
    kernel, me = Kernel(own), process(tmp_path, own)
    with pytest.raises(NoCgroupError, match="not delegated"):  # 43 is somebody else
        find_delegated(me, tmp_path / "none", kernel)
    (own / "cgroup.procs").write_text(f"{OWN_PID}\n")
    assert find_delegated(me, tmp_path / "none", kernel) == own
    with pytest.raises(NoCgroupError, match="not delegated"):
        find_delegated(me, tmp_path, kernel)  # systemd runs, and has not marked it


def test_a_cgroup_is_divided_where_systemd_says_so(tmp_path: Path, own: Path) -> None:
    kernel, me = Kernel(own), process(tmp_path, own)
    try:
        os.setxattr(own, "user.delegate", b"1")
    except OSError as error:
        pytest.skip(f"this file system keeps no such marks: {error.strerror}")
    assert find_delegated(me, tmp_path, kernel) == own


@pytest.mark.parametrize("given", ["memory", "pids"])
def test_a_cgroup_without_a_controller_is_not_divided(
    tmp_path: Path, own: Path, given: str
) -> None:
    kernel, me = Kernel(own), process(tmp_path, own)
    (own / "cgroup.controllers").write_text(f"{given}\n")
    with pytest.raises(NoCgroupError, match=r"controller .* is not given"):
        find_delegated(me, tmp_path / "none", kernel)


def test_a_cgroup_outside_of_what_a_container_is_shown_is_not_divided(
    tmp_path: Path, own: Path
) -> None:
    me = process(tmp_path, own)
    (me / "cgroup").write_text("0::/../sayso.service\n")
    with pytest.raises(NoCgroupError, match="no cgroups of version 2"):
        find_delegated(me, tmp_path / "none", Kernel(own))


def test_a_machine_with_cgroups_of_version_1_alone_has_none_to_divide(
    tmp_path: Path, own: Path
) -> None:
    with pytest.raises(NoCgroupError, match="no cgroups of version 2"):
        find_delegated(process(tmp_path, own, version=1), tmp_path / "none", Kernel(own))
