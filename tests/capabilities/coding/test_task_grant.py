"""A tap may say yes to edits and tests in the conversation's folder until the request is done."""

from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.audit.ledger import ledger
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import Grants, folder
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says


@pytest.fixture
def place(rig: AgentRig) -> Path:
    made = rig.folder / "workspace"
    made.mkdir(0o700)
    (made / "a.py").write_text("x = 1\n")
    (made / "test_a.py").write_text("def test_a():\n    from a import x\n    assert x\n")
    return made


def writes(path: str, text: str = "y = 1") -> Reply:
    return runs(f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch", language="patch")


async def test_one_tap_covers_further_edits_and_tests_of_this_request(
    rig: AgentRig, place: Path
) -> None:
    agent = await rig.agent(
        writes("b.py"), writes("lib/c.py"), runs("{}", language="tests"), writes("d.py"),
        says("Done."), tools=coding_tools(),
    )  # fmt: skip
    await rig.ask(agent, "split it up", "yes and more")
    (asked,) = rig.told(ApprovalRequest)
    assert asked.wider == f"edits and tests in {place} until this request is done"
    assert (place / "lib" / "c.py").exists()
    assert (place / "d.py").exists()
    assert "1 passed" in rig.output


async def test_a_plain_yes_covers_nothing_else(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(writes("b.py"), writes("c.py"), says("Done."), tools=coding_tools())
    await rig.ask(agent, "split it up")
    assert len(rig.told(ApprovalRequest)) == 2


async def test_a_spoken_yes_never_covers_more(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(writes("b.py"), writes("c.py"), says("Done."), tools=coding_tools())

    def by_word(asked: ApprovalRequest) -> tuple[str, None]:
        assert rig.approvals.answer(asked.id, asked.nonce, "yes", None, "kitchen", by_word=True)
        return "silence", None

    await rig.ask(agent, "split it up", by_word)  # type: ignore[arg-type]
    assert len(rig.told(ApprovalRequest)) == 2


async def test_it_ends_with_the_request(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(
        writes("b.py"), says("Done."), writes("c.py"), says("Done."), tools=coding_tools()
    )
    await rig.ask(agent, "split it up", "yes and more")
    await rig.ask(agent, "and once more", "no")
    assert len(rig.told(ApprovalRequest)) == 1
    assert not (place / "c.py").exists()


async def test_it_ends_with_a_request_that_was_stopped(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(
        writes("b.py"), runs("print(1)"), writes("c.py"), says("Done."), tools=coding_tools()
    )
    async for event in (events := agent.work("split it up", "kitchen")):
        if isinstance(event, ApprovalRequest):
            if event.language != "patch":
                break
            rig.approvals.answer(event.id, event.nonce, "yes", None, "kitchen", lasting=True)
    await events.aclose()
    await rig.ask(agent, "and once more", "no")
    assert len(rig.told(ApprovalRequest)) == 1


@pytest.mark.parametrize(
    "path",
    [
        "../granted/c.py",
        ".git/hooks/pre-commit",
        ".github/workflows/ci.yml",
        ".envrc",
        "AGENTS.md",
        "docs/claude.md",
    ],
)
async def test_what_is_outside_or_is_read_by_itself_asks_again(
    rig: AgentRig, place: Path, path: str
) -> None:
    other = rig.folder / "granted"
    other.mkdir()
    permissions = Permissions(Policy())
    permissions._own = Grants((folder(other, "write"),))
    agent = await rig.agent(
        writes("b.py"), writes(path), says("Done."), tools=coding_tools(), permissions=permissions
    )
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> tuple[str, None]:
        asked.append(request)
        return ("yes and more" if len(asked) == 1 else "no"), None

    await rig.ask(agent, "split it up", decide)  # type: ignore[arg-type]
    assert len(asked) == 2
    assert not asked[1].wider
    assert not (place / path).exists()


async def test_a_link_out_of_the_folder_asks_again(rig: AgentRig, place: Path) -> None:
    other = rig.folder / "granted"
    other.mkdir()
    (place / "lib").symlink_to(other)
    permissions = Permissions(Policy())
    permissions._own = Grants((folder(other, "write"),))
    agent = await rig.agent(
        writes("b.py"), writes("lib/c.py"), says("Done."), tools=coding_tools(),
        permissions=permissions,
    )  # fmt: skip
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> tuple[str, None]:
        asked.append(request)
        return ("yes and more" if len(asked) == 1 else "no"), None

    await rig.ask(agent, "split it up", decide)  # type: ignore[arg-type]
    assert len(asked) == 2
    assert not (other / "c.py").exists()


async def test_code_and_commands_that_the_model_names_ask_again(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(
        writes("b.py"),
        runs("print(1)"),
        runs('{"command": "touch owned"}', language="tests"),
        says("Done."),
        tools=coding_tools(),
    )
    asked: list[ApprovalRequest] = []

    def decide(request: ApprovalRequest) -> tuple[str, None]:
        asked.append(request)
        return ("yes and more" if len(asked) == 1 else "no"), None

    await rig.ask(agent, "split it up", decide)  # type: ignore[arg-type]
    assert [one.language for one in asked] == ["patch", "python", "tests"]
    assert not (place / "owned").exists()


async def test_a_rule_of_the_persons_asks_all_the_same(rig: AgentRig, place: Path) -> None:
    policy = Policy([f"ask path {place}/c.py\nmatches: cat {place}/c.py\nspares: cat /elsewhere"])
    agent = await rig.agent(
        writes("b.py"), writes("c.py"), says("Done."), tools=coding_tools(), policy=policy
    )
    await rig.ask(agent, "split it up", "yes and more")
    assert len(rig.told(ApprovalRequest)) == 2


async def test_the_audit_says_by_which_yes(rig: AgentRig, place: Path) -> None:
    agent = await rig.agent(writes("b.py"), writes("c.py"), says("Done."), tools=coding_tools())
    await rig.ask(agent, "split it up", "yes and more")
    entries = ledger(await rig.log.conversation(rig.journal.conversation))
    told = [(one.approval.decision, one.approval.by) for one in entries]
    assert told == [("yes", "kitchen"), ("covered", "kitchen")]
