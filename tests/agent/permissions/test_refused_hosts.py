"""A run that was turned away from a host says so, and the person may open it with one tap."""

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd
from sayso.server.agent.permissions.modes import Mode, Permissions
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import ensure
from sayso.server.runtimes.sandbox.self_test.proof import find_sandbox
from tests.agent.conftest import House
from tests.agent.permissions.test_outside_content import fetch, outside, paths
from tests.kernels import lent_home
from tests.runtimes.network.web_double import Web
from tests.scripted_model import runs, says

__all__ = ["outside"]

A, B = "files.example.org", "other.example.net"


async def go(house: House, web: Web, answer: str, *codes: str, mode: Mode = "workspace") -> None:
    """Let code run, each piece in a request of its own, with nothing granted."""
    permissions = Permissions(Policy(), mode)
    place, report = house.folder / "workspace", await find_sandbox()
    code_runner = CodeRunner(place, ensure(lent_home()), report, permissions.reach, web)
    house.stack.push_async_callback(code_runner.close)
    replies = [reply for code in codes for reply in (runs(code), says("Done."))]
    agent = await house.agent(*replies, permissions=permissions, code_runner=code_runner)
    for _ in codes:
        await house.ask(agent, "go", answer)  # type: ignore[arg-type]


def details(house: House) -> str:
    return house.told(CodeEnd)[-1].detail  # type: ignore[no-any-return]


async def test_a_refused_host_is_said_and_granted_with_one_tap(house: House, outside: Web) -> None:
    await go(house, outside, "yes", fetch(outside, A))
    (asked,) = house.told(ApprovalRequest)
    assert (asked.kind, asked.code, asked.tap) == ("access", f"host {A}", True)
    assert asked.warnings[0].startswith("Code that just ran tried to reach this")
    said = f"Code tried to reach {A}: not granted. The person has just allowed {A}: run it again."
    assert details(house).endswith(said)
    assert said in str(house.sent()[-1]["content"])
    assert not paths(outside)


async def test_once_granted_it_is_reached(house: House, outside: Web) -> None:
    await go(house, outside, "yes", fetch(outside, A), fetch(outside, A, "again"))
    assert not house.told(ApprovalRequest)
    assert paths(outside) == ["/again"]


async def test_after_a_no_it_is_said_and_not_asked_again(house: House, outside: Web) -> None:
    await go(house, outside, "no", fetch(outside, A), fetch(outside, A) + fetch(outside, B))
    (asked,) = house.told(ApprovalRequest)
    assert asked.code == f"host {B}"
    assert details(house).startswith(f"Code tried to reach {A} and {B}: not granted.")
    assert "did not open it" in details(house)


async def test_names_of_the_house_addresses_and_floods_are_not_asked_for(
    house: House, outside: Web
) -> None:
    hosts = ["nas", "10.0.0.1", "router.local-", *(f"a{n}.example.org" for n in range(9))]
    await go(house, outside, "no", "".join(fetch(outside, host) for host in hosts))
    (asked,) = house.told(ApprovalRequest)
    assert asked.code.split("\n") == [f"host a{n}.example.org" for n in range(4)]


@pytest.mark.parametrize("mode", ["read-only"])
async def test_where_nothing_may_be_opened_nobody_is_asked(
    house: House, outside: Web, mode: Mode
) -> None:
    await go(house, outside, "yes", fetch(outside, A), mode=mode)
    assert not house.told(ApprovalRequest)
    assert "The mode is read-only" in details(house)


async def test_what_nobody_was_asked_for_is_asked_for_when_the_mode_lets_it_be_opened(
    house: House, outside: Web
) -> None:
    permissions = Permissions(Policy(), "read-only")
    place, report = house.folder / "workspace", await find_sandbox()
    code_runner = CodeRunner(place, ensure(lent_home()), report, permissions.reach, outside)
    house.stack.push_async_callback(code_runner.close)
    replies = [reply for _ in range(2) for reply in (runs(fetch(outside, A)), says("Done."))]
    agent = await house.agent(*replies, permissions=permissions, code_runner=code_runner)
    await house.ask(agent, "go", "yes")
    assert "The mode is read-only" in details(house)
    permissions.change_mode("workspace", at_console=False)
    await house.ask(agent, "go", "yes")
    assert f"The person has just allowed {A}" in details(house)
