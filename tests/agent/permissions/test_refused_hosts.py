"""A run that was turned away from a host says so, and the person may open it with one tap."""

import subprocess

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd
from sayso.server.agent.permissions.permissions import Mode, Permissions
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment, ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from sayso.server.store.records import ApprovalOpened
from tests.agent.conftest import AgentRig
from tests.agent.permissions.test_outside_content import fetch, outside, paths
from tests.kernels import lent_home
from tests.runtimes.network.web_double import Web
from tests.scripted_model import runs, says

__all__ = ["outside"]

A, B = "files.example.org", "other.example.net"


async def go(
    rig: AgentRig,
    web: Web,
    answer: str,
    *codes: str,
    mode: Mode = "workspace",
    policy: Policy | None = None,
) -> None:
    """Let code run, each piece in a request of its own, with nothing granted."""
    permissions = Permissions(policy or Policy(), mode)
    place, report = rig.folder / "workspace", await find_sandbox()
    code_runner = CodeRunner(place, ensure(lent_home()), report, permissions.reach, web)
    rig.stack.push_async_callback(code_runner.close)
    replies = [reply for code in codes for reply in (runs(code), says("Done."))]
    agent = await rig.agent(*replies, permissions=permissions, code_runner=code_runner)
    for _ in codes:
        await rig.ask(agent, "go", answer)  # type: ignore[arg-type]


def details(rig: AgentRig) -> str:
    return rig.told(CodeEnd)[-1].detail  # type: ignore[no-any-return]


async def test_a_refused_host_is_said_and_granted_with_one_tap(rig: AgentRig, outside: Web) -> None:
    await go(rig, outside, "yes", fetch(outside, A))
    (asked,) = rig.told(ApprovalRequest)
    assert (asked.kind, asked.code, asked.tap) == ("access", f"host {A}", True)
    assert asked.warnings[0].startswith("Code that just ran tried to reach this")
    said = f"Code tried to reach {A}: not granted. The person has just allowed {A}: run it again."
    assert said in str(rig.sent()[-1]["content"])
    assert details(rig).endswith(f"Code tried to reach {A}, which you have allowed since.")
    assert not paths(outside)


async def test_once_granted_it_is_reached(rig: AgentRig, outside: Web) -> None:
    await go(rig, outside, "yes", fetch(outside, A), fetch(outside, A, "again"))
    assert not rig.told(ApprovalRequest)
    assert paths(outside) == ["/again"]


async def test_after_a_no_it_is_said_and_not_asked_again(rig: AgentRig, outside: Web) -> None:
    await go(rig, outside, "no", fetch(outside, A), fetch(outside, A) + fetch(outside, B))
    (asked,) = rig.told(ApprovalRequest)
    assert asked.code == f"host {B}"
    assert details(rig).startswith(f"Code tried to reach {A} and {B}: not granted.")
    assert "did not open it" in str(rig.sent()[-1]["content"])


async def test_names_of_the_home_addresses_and_floods_are_not_asked_for(
    rig: AgentRig, outside: Web
) -> None:
    hosts = ["nas", "10.0.0.1", "router.local-", *(f"a{n}.example.org" for n in range(9))]
    await go(rig, outside, "no", "".join(fetch(outside, host) for host in hosts))
    (asked,) = rig.told(ApprovalRequest)
    assert asked.code.split("\n") == [f"host a{n}.example.org" for n in range(4)]


@pytest.mark.parametrize("mode", ["read-only"])
async def test_where_nothing_may_be_opened_nobody_is_asked(
    rig: AgentRig, outside: Web, mode: Mode
) -> None:
    await go(rig, outside, "yes", fetch(outside, A), mode=mode)
    assert not rig.told(ApprovalRequest)
    assert "The mode is read-only" in details(rig)


async def test_what_nobody_was_asked_for_is_asked_for_when_the_mode_lets_it_be_opened(
    rig: AgentRig, outside: Web
) -> None:
    permissions = Permissions(Policy(), "read-only")
    place, report = rig.folder / "workspace", await find_sandbox()
    code_runner = CodeRunner(place, ensure(lent_home()), report, permissions.reach, outside)
    rig.stack.push_async_callback(code_runner.close)
    replies = [reply for _ in range(2) for reply in (runs(fetch(outside, A)), says("Done."))]
    agent = await rig.agent(*replies, permissions=permissions, code_runner=code_runner)
    await rig.ask(agent, "go", "yes")
    assert "The mode is read-only" in details(rig)
    permissions.change_mode("workspace", at_console=False)
    await rig.ask(agent, "go", "yes")
    assert details(rig) == f"Code tried to reach {A}, which you have allowed since."


async def test_a_granted_host_to_which_there_is_no_way_is_told_of(
    rig: AgentRig, outside: Web
) -> None:
    await go(rig, outside, "yes", fetch(outside, A), fetch(outside, A))
    assert not details(rig)
    outside.known.clear()
    await go(rig, outside, "yes", fetch(outside, A), fetch(outside, A))
    assert details(rig) == f"Code did not get through: {A} is not known."
    assert f"[Code did not get through: {A} is not known.]" in str(rig.sent()[-1]["content"])


def index_of_pip(environment: KernelEnvironment) -> tuple[str, str]:
    """The hosts of the package index that the kernels' pip asks unless it is told otherwise."""
    code = (
        "from pip._internal.models.index import PyPI as i\nprint(i.netloc, i.file_storage_domain)"
    )
    told = subprocess.run([environment.python, "-c", code], capture_output=True, check=True)
    index, files = told.stdout.decode().split()
    return index, files


async def test_both_hosts_of_a_package_index_are_one_question(rig: AgentRig, outside: Web) -> None:
    index, files = index_of_pip(ensure(lent_home()))
    outside.known |= {index, files}
    again = fetch(outside, index, "list") + fetch(outside, files, "package")
    await go(rig, outside, "yes", fetch(outside, index), again)
    asked = [one for one in await rig.records(ApprovalOpened) if one.kind == "access"]
    assert [one.code.split("\n") for one in asked] == [[f"host {index}", f"host {files}"]]
    assert any(f"{index} lists lie at {files}" in warning for warning in asked[0].warnings)
    assert paths(outside) == ["/list", "/package"]


async def test_the_host_of_files_is_not_asked_for_where_a_rule_forbids_it(
    rig: AgentRig, outside: Web
) -> None:
    index, files = index_of_pip(ensure(lent_home()))
    policy = Policy([f"deny host {files}\nmatches: {files}\nspares: curl {index}"])
    await go(rig, outside, "yes", fetch(outside, index), policy=policy)
    (asked,) = rig.told(ApprovalRequest)
    assert asked.code == f"host {index}"
