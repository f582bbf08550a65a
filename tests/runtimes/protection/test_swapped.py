"""A folder that another conversation puts in the place of a granted one is not granted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.confined_process import ConfinedProcess
from sayso.server.runtimes.grants import Access, Folder, GrantError, Grants, folder
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.protection import folder_identity
from sayso.server.runtimes.sandbox.sandbox import Confined, Confines, Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.sandboxes import Altered, began, rest, told, workshop_in

SECRET = "the key to everything"

STARTS = 12
"""Interpreters that start while a folder is swapped under them."""

SWAPPER = """
import ctypes, os
libc = ctypes.CDLL(None)
os.chdir({projects!r})
os.symlink({secrets!r}, 'trap')
print('begun', flush=True)
while True:
    libc.renameat2(-100, b'notes', -100, b'trap', 2)  # RENAME_EXCHANGE
"""


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder that one conversation may write to; another may only see the notes in it."""
    made = tmp_path / "home" / "projects"
    (made / "notes").mkdir(0o755, parents=True)
    (made / "notes" / "plan.txt").write_text("the plan")
    secrets = made.parent / "secrets"
    secrets.mkdir(0o755)
    (secrets / "plan.txt").write_text(SECRET)
    made.chmod(0o777)
    return made


@asynccontextmanager
async def another(
    folder: Path, environment: KernelEnvironment, sandbox: Sandbox, reach: Grants
) -> AsyncIterator[CodeRunner]:
    """Another conversation's workshop."""
    made = workshop_in(folder / "another", environment, sandbox)
    try:
        await made.set_reach(reach)
        yield made
    finally:
        await made.close()


def swap(projects: Path, what: str = "link") -> None:
    (projects / "notes").rename(projects / "before")
    if what == "link":
        (projects / "notes").symlink_to(projects.parent / "secrets")
    else:
        (projects / "notes").mkdir(0o755)
        (projects / "notes" / "plan.txt").write_text(SECRET)


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("what", ["link", "folder"])
async def test_what_took_the_place_of_a_grant_is_not_mounted(
    code_runner: CodeRunner, projects: Path, access: Access, what: str
) -> None:
    await code_runner.set_reach(Grants((folder(projects / "notes", access),)))
    swap(projects, what)
    said = await told(code_runner, f"print(open({str(projects / 'notes/plan.txt')!r}).read())")
    assert SECRET not in said.stdout
    assert said.ending.status == "error"
    assert "asked for again" in said.ending.detail


async def test_a_link_further_up_leads_to_nothing_either(
    code_runner: CodeRunner, projects: Path
) -> None:
    deep = projects / "notes" / "deep"
    deep.mkdir()
    await code_runner.set_reach(Grants((folder(deep, "read"),)))
    (projects.parent / "secrets" / "deep").mkdir()
    (projects.parent / "secrets" / "deep" / "plan.txt").write_text(SECRET)
    swap(projects)
    said = await told(code_runner, f"print(open({str(deep / 'plan.txt')!r}).read())")
    assert SECRET not in said.stdout
    assert said.ending.status == "error"


@pytest.mark.slow
@pytest.mark.parametrize("access", ["read", "write"])
async def test_a_swapper_that_never_rests_gets_nothing_mounted(
    sandbox: Sandbox,
    environment: KernelEnvironment,
    code_runner: CodeRunner,
    projects: Path,
    tmp_path: Path,
    access: Access,
) -> None:
    reach = Grants((folder(projects / "notes", access),))
    code = f"print(open({str(projects / 'notes/plan.txt')!r}).read())"
    async with another(
        tmp_path, environment, sandbox, Grants((folder(projects, "write"),))
    ) as attacker:
        swapping = attacker.run(
            "python",
            SWAPPER.format(projects=str(projects), secrets=str(projects.parent / "secrets")),
        )
        await began(swapping)
        for number in range(STARTS):
            await code_runner.set_reach(Grants(hosts=(f"{number}.example",)))
            await code_runner.set_reach(reach)
            said = await told(code_runner, code)
            assert SECRET not in said.stdout
        await attacker.interrupt()
        await rest(swapping)


async def test_a_workspace_that_was_swapped_is_not_taken(
    sandbox: Sandbox, environment: KernelEnvironment, projects: Path
) -> None:
    code_runner = workshop_in(projects / "notes", environment, sandbox)
    try:
        swap(projects)
        said = await told(code_runner, "print(open('plan.txt').read())")
        assert SECRET not in said.stdout
        assert said.ending.status == "error"
    finally:
        await code_runner.close()


async def test_a_workspace_is_recognised_when_it_is_set_up_again(
    environment: KernelEnvironment, any_sandbox: Sandbox, projects: Path
) -> None:
    chosen = folder(projects / "notes", "write").identity
    swap(projects, "folder")
    report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
    code_runner = CodeRunner(projects / "notes", environment, report, identity=chosen)
    assert "choose it anew" in code_runner.refusal
    said = await told(code_runner, "print(open('plan.txt').read())")
    assert SECRET not in said.stdout


async def test_a_workspace_of_sayso_s_own_that_is_a_link_is_not_taken(
    any_sandbox: Sandbox, environment: KernelEnvironment, projects: Path
) -> None:
    """As one conversation could leave it for another, to be found at the next start."""
    swap(projects)
    code_runner = workshop_in(projects / "notes", environment, any_sandbox)
    assert "no folder to be had" in code_runner.refusal
    said = await told(code_runner, "print(open('plan.txt').read())")
    assert SECRET not in said.stdout


async def test_a_single_file_may_be_saved_anew_and_not_be_turned_elsewhere(
    code_runner: CodeRunner, projects: Path
) -> None:
    plan = projects / "notes" / "plan.txt"
    granted = folder(plan, "read")
    saved = plan.with_name("draft")
    saved.write_text("a better plan")
    saved.replace(plan)
    assert granted.recognised() == granted
    await code_runner.set_reach(Grants((granted,)))
    assert (
        await told(code_runner, f"print(open({str(plan)!r}).read())")
    ).stdout == "a better plan\n"
    for way in ("symlink_to", "hardlink_to"):
        plan.unlink()
        getattr(plan, way)(projects.parent / "secrets" / "plan.txt")
        with pytest.raises(GrantError):
            granted.recognised()
        await code_runner.set_reach(Grants(hosts=(f"{way}.example",)))
        await code_runner.set_reach(Grants((granted,)))
        said = await told(code_runner, f"print(open({str(plan)!r}).read())")
        assert SECRET not in said.stdout


async def test_the_launcher_looks_at_what_was_really_given(
    sandbox: Sandbox, projects: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The swap comes between the server's last look and the mount, each time."""
    granted = folder(projects / "notes", "read")
    assert granted.identity
    confines = Confines(
        workspace,
        writable=(workspace,),
        readable=(granted.path,),
        known={granted.path: granted.identity},
    )

    def command(private: Path) -> list[str]:
        return ["/bin/sh", "-c", f"cat {granted.path}/plan.txt > {private}/seen"]

    def swapped(confined: Confined) -> Confined:
        swap(projects)
        return confined

    process = await ConfinedProcess.start(Altered(sandbox, swapped), command, {}, confines)
    try:
        async with asyncio.timeout(10):
            await asyncio.wait([process.ended])
        seen = process.folder / "seen"
        assert not seen.exists() or SECRET not in seen.read_text()
        assert process.ended.result() != 0
    finally:
        await process.close()


def test_what_is_granted_is_known_by_more_than_its_path(projects: Path) -> None:
    granted = folder(projects / "notes", "write")
    assert granted.recognised() == granted == Folder(projects / "notes", "write")
    swap(projects, "folder")
    with pytest.raises(GrantError, match="not what was granted"):
        granted.recognised()


def test_where_folders_have_no_lasting_numbers_the_path_must_do_and_no_link(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a memory card, which knows no links."""
    monkeypatch.setattr(folder_identity, "_gives_new_numbers", lambda _: True)
    granted = folder(projects / "notes", "read")
    swap(projects, "folder")
    assert granted.is_unchanged()
    (projects / "notes").rename(projects / "later")
    (projects / "notes").symlink_to(projects / "later")
    assert not granted.is_unchanged()
