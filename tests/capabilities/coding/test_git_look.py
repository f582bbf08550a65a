"""A model looks at git unasked; no setting of a repository makes git start a program for that."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd
from sayso.server.capabilities.coding.inside import git_look as looking
from sayso.server.capabilities.coding.inside.service import answers
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.policy.rules import parse
from tests.agent.conftest import AgentRig
from tests.capabilities.coding.test_looks import calls
from tests.git import git
from tests.scripted_model import says

MARK = "it-ran"


@pytest.fixture
def project(rig: AgentRig) -> Path:
    """A repository with a commit, a change and a new file, as the conversation's folder."""
    made = rig.folder / "workspace"
    made.mkdir(0o700)
    git("init", "-q", "-b", "main", folder=made)
    (made / "a.py").write_text("x = 1\n")
    git("add", ".", folder=made)
    git("commit", "-qm", "One", folder=made)
    (made / "a.py").write_text("x = 2\n")
    (made / "b.py").write_text("y = 1\n")
    return made


def look(folder: Path, **request: object) -> Mapping[str, Any]:
    """What the program says, without a sandbox around it."""
    (answer,) = answers({"do": "git", "roots": [str(folder)], **request})
    return answer


async def test_status_log_diff_and_show_ask_nobody(rig: AgentRig, project: Path) -> None:
    agent = await rig.agent(
        calls("git", command="status"),
        calls("git", command="log"),
        calls("git", command="diff"),
        calls("git", command="show", revision="HEAD"),
        calls("git", command="show", revision="HEAD:a.py"),
        says("That is it."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "what did I change")
    assert not rig.told(ApprovalRequest)
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "## main\n M a.py\n?? b.py" in told[0]
    assert "One" in told[1]
    assert "-x = 1\n+x = 2" in told[2]
    assert "+x = 1" in told[3]
    assert "x = 1" in told[4]
    assert [each.status for each in rig.told(CodeEnd)] == ["ok"] * 5


@pytest.mark.parametrize("command", ["status", "log", "diff", "show"])
def test_no_program_that_the_repositorys_settings_name_is_started(
    rig: AgentRig, project: Path, command: str
) -> None:
    """Each of these settings makes plain git start it, in one command or another."""
    mark = rig.folder / MARK
    evil = rig.folder / "evil"
    evil.write_text(f"#!/bin/sh\necho $0 $* >> {mark}\ncat\n")
    evil.chmod(0o700)
    for name in (
        "core.fsmonitor", "core.pager", "diff.external", "diff.sly.textconv", "diff.sly.command",
        "filter.sly.clean", "filter.sly.smudge", "filter.sly=er.clean", "gpg.program",
        "core.sshCommand", "core.editor", "pager.log", "pager.diff", "pager.status", "pager.show",
    ):  # fmt: skip
        git("config", name, str(evil), folder=project)
    git("config", "log.showSignature", "true", folder=project)
    git("config", "status.submoduleSummary", "true", folder=project)
    (project / ".gitattributes").write_text("*.py diff=sly filter=sly\n*.txt filter=sly=er\n")
    (project / "c.txt").write_text("c\n")
    hooks = project / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(evil.read_text())
    (hooks / "post-index-change").chmod(0o700)
    git("-c", "core.fsmonitor=false", "add", "-N", "c.txt", folder=project)
    mark.unlink(missing_ok=True)
    (project / "a.py").write_text("x = 3\n")
    (project / "c.txt").write_text("cc\n")
    subprocess.run(["git", "diff"], cwd=project, check=False, capture_output=True)
    assert mark.exists()  # plain git does
    mark.unlink()
    answer = look(project, command=command)
    assert "refused" not in answer
    assert not mark.exists(), mark.read_text()


def test_a_process_filter_that_is_required_is_not_started_either(
    rig: AgentRig, project: Path
) -> None:
    mark = rig.folder / MARK
    git("config", "filter.sly.process", f"touch {mark}; false", folder=project)
    git("config", "filter.sly.required", "true", folder=project)
    (project / ".gitattributes").write_text("* filter=sly\n")
    assert "+x = 2" in look(project, command="diff")["text"]
    assert not mark.exists()


@pytest.mark.parametrize(
    "revision", ["--output=owned", "-O/etc/passwd", "--ext-diff", "HEAD --output=owned", "a\nb"]
)
def test_a_revision_is_no_option(project: Path, revision: str) -> None:
    for command in ("log", "diff", "show"):
        assert "no revision" in look(project, command=command, revision=revision)["refused"]
    assert not (project / "owned").exists()


def test_nothing_but_looks_is_done(project: Path) -> None:
    for command in ("push", "checkout", "config", "-c"):
        assert "status, log, diff and show" in look(project, command=command)["refused"]


def test_the_index_stays_as_it_is_byte_for_byte(project: Path) -> None:
    index = project / ".git" / "index"
    before = index.read_bytes()
    (project / "a.py").touch()
    for command in ("status", "diff"):
        look(project, command=command)
    assert index.read_bytes() == before


def test_a_repository_that_lies_in_the_folder_as_if_by_chance_is_not_used(
    rig: AgentRig, project: Path
) -> None:
    """A bare one may be part of what somebody sent, with settings of its own."""
    inner = project / "sent"
    git("init", "-q", "--bare", "sent", folder=project)
    assert "refused" in look(project, command="log", path="sent")
    assert "refused" in look(inner, command="log")


def test_what_is_long_is_cut_and_says_so(project: Path) -> None:
    (project / "a.py").write_text("x = 2\n" * 20_000)
    text = look(project, command="diff")["text"]
    assert len(text) < looking.CHARS + 200
    assert "[cut after" in text


def test_a_folder_without_a_repository_says_so(rig: AgentRig) -> None:
    plain = rig.folder / "plain"
    plain.mkdir()
    assert "not a git repository" in look(plain, command="status")["refused"]


def test_what_was_deleted_has_a_history(project: Path) -> None:
    git("rm", "-qf", "a.py", folder=project)
    assert "One" in look(project, command="log", path="a.py")["text"]


async def test_a_link_leads_to_no_other_repository(rig: AgentRig, project: Path) -> None:
    other = rig.folder / "other"
    other.mkdir()
    git("init", "-q", folder=other)
    (project / "link").symlink_to(other)
    assert "leads out" in look(project, command="status", path="link")["refused"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "secret"},
        {"revision": "HEAD:secret"},
        {"revision": "HEAD:./secret"},
        {"revision": "HEAD:secret", "path": "deep/er"},
        {"revision": "HEAD:../../secret", "path": "deep/er"},
        {"revision": "HEAD", "path": "."},
    ],
    ids=str,
)
async def test_a_rule_about_a_place_holds_for_gits_memory_of_it(
    rig: AgentRig, project: Path, arguments: dict[str, str]
) -> None:
    from sayso.server.policy.judge import Policy

    (project / "deep" / "er").mkdir(parents=True)
    secret = project / "secret"
    secret.write_text("the secret\n")
    git("add", "secret", folder=project)
    git("commit", "-qm", "Two", folder=project)
    agent = await rig.agent(
        calls("git", command="show", **arguments),
        says("Well."),
        tools=coding_tools(),
        policy=Policy([f"deny path {secret}\nmatches: cat {secret}\nspares: cat /elsewhere"]),
    )
    await rig.ask(agent, "show me", "no")
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "the secret" not in told[0]


@pytest.mark.parametrize("path", ["/granted/project", "/granted/project/deep/er"])
@pytest.mark.parametrize("named", ["HEAD:secret", ":secret", "HEAD:./secret", "HEAD~2:secret"])
def test_a_rule_about_a_granted_folder_holds_for_gits_memory_of_it(path: str, named: str) -> None:
    """Which folder a path in a revision begins at, git knows alone."""
    (tool,) = (each for each in coding_tools() if each.name == "git")
    arguments = {"command": "show", "path": path, "revision": named}
    done = tool.actions(arguments, "/home/ann/work")
    assert done
    for secret in ("/granted/project/secret", "/granted"):
        rule = parse(f"deny path {secret}")
        assert rule.match("git", done) != "no", secret
