"""Root that may neither mount nor make namespaces, as in most containers: code still runs as
another user wherever things lie, and gains nothing else there."""

import asyncio
import ctypes
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from sayso.server.runtimes.base_python import base_python
from sayso.server.runtimes.sandbox import launcher
from sayso.server.runtimes.sandbox.launcher import Steps
from sayso.server.runtimes.sandbox.sandbox import KERNEL_USER, sealed
from tests.kernels import lent_home

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root can be without it"
)

ROOT = Path(__file__).parents[3]

SAME = (
    "runtimes/sandbox/test_escapes.py",
    "runtimes/test_grants.py",
    "runtimes/protection/test_swapped.py::test_what_took_the_place_of_a_grant_is_not_mounted",
    "runtimes/sandbox/self_test/test_proof.py::test_the_machines_own_sandbox_is_found",
    "runtimes/sandbox/self_test/test_proof.py::test_a_sandbox_that_holds_is_found_quickly",
    "runtimes/languages/test_python.py::test_a_plot_arrives_as_a_picture",
    "runtimes/languages/test_python.py::test_what_is_written_lies_in_the_workspace",
    "runtimes/languages/test_shell.py::test_the_shells_python_is_the_kernels",
    "undo/hooks/test_added_between.py",
    "embedding/test_sayso.py::test_what_code_did_to_files_is_shown_taken_back_and_done_again",
)

_CAP_SYS_ADMIN, _PR_CAPBSET_DROP = 21, 24


def may_not_mount() -> None:
    """Lose what mounting and making namespaces take, for this process and all that it starts."""
    ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, _CAP_SYS_ADMIN, 0, 0, 0)


@pytest.mark.slow
@pytest.mark.timeout(500)
async def test_all_holds_for_a_root_that_may_not_mount() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not thorough"]
    process = await asyncio.create_subprocess_exec(
        *(*command, "-k", "not bubblewrap", *(f"{ROOT}/tests/{name}" for name in SAME)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        preexec_fn=may_not_mount,
        env={**os.environ, "SAYSO_TEST_HOME": str(lent_home().data)},
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert b"passed" in said


class Closed:
    """A folder of root's like /root, and in it what another user needs, and what it does not."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = self.home / "deep" / "workspace"
        self.granted = self.home / "granted"
        self.script = self.home / "deep" / "script"
        for made in (self.workspace, self.granted / "below", self.home / "other"):
            made.mkdir(parents=True)
        for file in (self.script, self.granted / "below" / "notes", self.home / "other" / "secret"):
            file.write_text(file.name)
            file.chmod(0o600)
        (self.home / "letter").write_text("for nobody's eyes, but readable")
        (self.home / "letter").chmod(0o644)
        for closed in (self.home, self.home / "deep", self.granted, self.home / "other"):
            closed.chmod(0o700)

    def admit(self, *held: Path, **steps: object) -> subprocess.CompletedProcess[str]:
        held_at = sealed(json.dumps([(str(path), *identity(path), True) for path in held]).encode())
        stage = Steps("stage", ["/bin/true"], user=KERNEL_USER, held_at=held_at, **steps)  # type: ignore[arg-type]
        try:
            return self.launch(stage, held_at)
        finally:
            os.close(held_at)

    def launch(self, steps: Steps, *passed: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(base_python()), "-I", "-S", launcher.__file__, json.dumps(asdict(steps))],
            preexec_fn=may_not_mount,
            pass_fds=passed,
            capture_output=True,
            text=True,
            check=False,
        )


def identity(path: Path) -> tuple[int, int]:
    """Device and inode."""
    status = path.stat()
    return status.st_dev, status.st_ino


@pytest.fixture
def closed(tmp_path: Path) -> Closed:
    """In a folder that everybody may pass, or its own ways would be closed too."""
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    return Closed(tmp_path)


def can(command: str, user: int = KERNEL_USER) -> bool:
    """Whether a user can do this, whom nothing else confines."""
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        user=user,
        group=user,
        extra_groups=[],
        capture_output=True,
        check=False,
    )
    return not done.returncode


def test_who_may_pass_may_nothing_else(closed: Closed) -> None:
    done = closed.admit(
        reached=[str(closed.script), str(closed.workspace)], handed=[str(closed.workspace)]
    )
    assert done.returncode == 0, done.stderr
    assert can(f"cat {closed.script}")
    assert can(f"cd {closed.workspace} && touch made && ls")
    for beyond in (
        f"ls {closed.home}",
        f"ls {closed.home}/deep",
        f"touch {closed.home}/made",
        f"touch {closed.script}",
        f"cat {closed.home}/other/secret",
        f"ls {closed.granted}",
        f"cat {closed.granted}/below/notes",
    ):
        assert not can(beyond), beyond
    assert not can(f"cat {closed.script}", user=KERNEL_USER + 1)
    assert not can(f"cat {closed.home}/letter", user=KERNEL_USER + 1)


@pytest.mark.parametrize("writable", [False, True])
def test_a_grant_opens_what_is_in_it_and_what_comes(closed: Closed, writable: bool) -> None:
    done = closed.admit(reached=[str(closed.granted)], opened={str(closed.granted): writable})
    assert done.returncode == 0, done.stderr
    (closed.granted / "below" / "later").write_text("later")
    for file in ("notes", "later"):
        assert can(f"cat {closed.granted}/below/{file}")
        assert can(f"echo more >> {closed.granted}/below/{file}") == writable
    assert can(f"touch {closed.granted}/below/made") == writable
    assert not can(f"cat {closed.granted}/below/notes", user=KERNEL_USER + 1)
    assert not can(f"cat {closed.home}/other/secret")


def test_where_programs_of_sayso_can_not_be_held_nothing_starts(closed: Closed) -> None:
    """Nor is the folder around them opened to the code's user, who could change them then."""
    program = (closed.granted / "below").stat()
    steps = Steps(
        role="guard",
        argv=["/bin/true"],
        user=KERNEL_USER,
        reached=[str(closed.granted)],
        opened={str(closed.granted): True},
        own=[(str(closed.granted / "below"), program.st_dev, program.st_ino, True)],
    )
    done = closed.launch(steps)
    assert done.returncode
    assert "cannot be kept closed here" in done.stderr
    assert not can(f"echo evil >> {closed.granted}/below/notes")


@pytest.mark.parametrize("handed", ["handed", "opened"])
def test_links_and_other_names_lead_nowhere(closed: Closed, handed: str) -> None:
    """What code may write it may fill with ways out, before the next interpreter is started."""
    (closed.workspace / "link").symlink_to(closed.home / "other")
    (closed.workspace / "name").hardlink_to(closed.home / "other" / "secret")
    (closed.workspace / "way").symlink_to(closed.home)
    if handed == "handed":
        done = closed.admit(handed=[str(closed.workspace)])
        assert done.returncode == 0, done.stderr
    else:
        assert closed.admit(opened={str(closed.workspace / "way" / "other"): True}).returncode
    for path in (closed.home / "other", closed.home / "other" / "secret", closed.home):
        assert (path.stat().st_uid, os.listxattr(path)) == (0, [])


@pytest.mark.parametrize("handed", ["handed", "opened"])
def test_what_is_held_stays_as_it_was_looked_at(closed: Closed, handed: str) -> None:
    """Its owner, its access list and the time of its last change tell whose it is."""
    hooks = closed.workspace / ".git" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("pre-commit", "config"):
        (hooks / name).write_text(name)
        (hooks / name).chmod(0o755)
    before = [path.stat() for path in sorted(hooks.iterdir())]
    chosen: dict[str, object] = {"reached": [str(closed.workspace)]}
    if handed == "handed":
        chosen["handed"] = [str(closed.workspace)]
    else:
        chosen["opened"] = {str(closed.workspace): True}
    done = closed.admit(hooks, **chosen)
    assert done.returncode == 0, done.stderr
    assert can(f"echo made > {closed.workspace}/.git/made")
    for name in ("pre-commit", "config"):
        assert can(f"cat {hooks}/{name} && test -x {hooks}/{name}")
        assert not can(f"echo more >> {hooks}/{name}")
    assert not can(f"touch {hooks}/commit-msg")
    for path, was in zip(sorted(hooks.iterdir()), before, strict=True):
        now = path.stat()
        assert (now.st_uid, now.st_mode, now.st_ctime_ns) == (0, was.st_mode, was.st_ctime_ns)
        assert os.listxattr(path) == []


def test_what_is_held_and_could_not_be_read_is_let_be_read(closed: Closed) -> None:
    """Without a repository's settings, no git works there."""
    settings = closed.workspace / "config"
    settings.write_text("[core]")
    settings.chmod(0o600)
    places = [str(closed.workspace)]
    assert closed.admit(settings, reached=places, handed=places).returncode == 0
    assert can(f"cat {settings}")


def test_what_others_were_let_have_or_kept_from_stays_so(closed: Closed) -> None:
    """Another entry that its mask had closed is not opened by ours."""
    mine, theirs, group_owner, mask, others = 0o7, 0o7, 0o5, 0o0, 0o0
    nobody = 0xFFFFFFFF
    entries = [
        *((1, mine, nobody), (2, theirs, KERNEL_USER + 1), (4, group_owner, nobody)),
        *((16, mask, nobody), (32, others, nobody)),
    ]
    packed = (2).to_bytes(4, "little") + b"".join(
        tag.to_bytes(2, "little") + bits.to_bytes(2, "little") + number.to_bytes(4, "little")
        for tag, bits, number in entries
    )
    os.setxattr(closed.home, "system.posix_acl_access", packed)
    assert closed.admit(reached=[str(closed.script)]).returncode == 0
    assert can(f"cat {closed.script}")
    assert not can(f"ls {closed.home}", user=KERNEL_USER + 1)
    assert not can(f"cat {closed.home}/letter", user=KERNEL_USER + 1)
