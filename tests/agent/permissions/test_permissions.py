"""Modes decide what runs unasked, is asked with a warning or never runs; grants add access."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sayso.protocol.home import Home
from sayso.server.agent.events import AgentEvent, ApprovalDone, ApprovalRequest, CodeEnd
from sayso.server.agent.permissions.access_syntax import (
    AccessError,
    AccessRequest,
    RequestedFolder,
    read_access_request,
)
from sayso.server.agent.permissions.permissions import MODES, Mode, ModeError, Permissions
from sayso.server.agent.permissions.standing_grants import StandingGrants
from sayso.server.conversations.files.workspace_choice import chosen_folder
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import Folder, GrantError, Grants
from sayso.server.settings import Settings
from sayso.server.store.decisions import NetworkUsed, ReachGranted
from sayso.server.store.records import (
    Answered,
    ApprovalOpened,
    Asked,
    Call,
    RunIntended,
    RunReported,
)
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply

FORCE = "deny command git push --force\nmatches: git push --force x\nspares: git push x"
ECHO = "allow command echo\nmatches: echo hi\nspares: ls"
LANGUAGE = "allow language python\nmatches: python\nspares: bash"


def runs(code: str, language: str = "python") -> Reply:
    return Reply(f"I do it.\n```{language}\n{code}\n```\n")


def asks(*lines: str) -> Reply:
    return runs("\n".join(lines), "access")


DONE = Reply("It is done.")


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    made = tmp_path / "alice" / "Downloads"
    made.mkdir(0o755, parents=True)
    (made / "bill.txt").write_text("42 euros")
    return made


@pytest.mark.parametrize(
    ("mode", "asked"), [("read-only", False), ("ask", True), ("workspace", False), ("full", False)]
)
async def test_the_mode_decides_what_is_asked(rig: AgentRig, mode: Mode, asked: bool) -> None:
    agent = await rig.agent(runs("print(6 * 7)"), DONE, calls_tools="no", mode=mode)
    await rig.ask(agent, "count")
    assert bool(rig.told(ApprovalRequest)) == asked
    assert rig.output == "42\n"


@pytest.mark.parametrize(
    ("mode", "policy"), [("full", Policy()), ("full", Policy([LANGUAGE])), ("ask", Policy())]
)
async def test_from_where_nobody_may_approve_no_code_runs_unasked_in_full_either(
    rig: AgentRig, mode: Mode, policy: Policy
) -> None:
    agent = await rig.agent(runs("print(6 * 7)"), DONE, calls_tools="no", mode=mode, policy=policy)
    asked = await questions(rig, agent.work("count", "satellite", may_decide=False))
    assert [one.tap for one in asked] == [mode == "full"]
    assert rig.output == ""


async def test_a_question_that_a_restart_left_open_is_put_again_in_full_too(rig: AgentRig) -> None:
    await rig.journal.note("person", Asked("count"))
    await rig.journal.note("model", Answered("", (Call("abc", "python", "print(6 * 7)"),)))
    agent = await rig.agent(DONE, calls_tools="no", mode="full")
    assert await questions(rig, agent.take_up())
    assert rig.output == ""


async def questions(rig: AgentRig, work: AsyncGenerator[AgentEvent, None]) -> list[ApprovalRequest]:
    """What is asked; each is answered with no."""
    rig.events = []
    async with aclosing(work) as events:
        async for event in events:
            rig.events.append(event)
            if isinstance(event, ApprovalRequest):
                rig.approvals.answer(event.id, event.nonce, "no", None, "desk")
    return list(rig.told(ApprovalRequest))


async def test_where_code_may_only_look_it_changes_nothing(rig: AgentRig) -> None:
    code = "try:\n    open('made', 'w')\nexcept OSError:\n    print('refused')"
    agent = await rig.agent(runs(code), DONE, calls_tools="no", mode="read-only")
    await rig.ask(agent, "try it")
    assert rig.output == "refused\n"


async def test_without_a_sandbox_code_reaches_what_the_server_reaches(
    rig: AgentRig, downloads: Path
) -> None:
    code = f"import os; print(open({str(downloads / 'bill.txt')!r}).read(), os.environ.get('KEY'))"
    agent = await rig.agent(runs(code), DONE, calls_tools="no", mode="full")
    await rig.ask(agent, "read it")
    assert rig.output == "42 euros None\n"


def test_full_is_for_the_console_alone() -> None:
    permissions = Permissions()
    with pytest.raises(ModeError, match=r"own console.*\.$"):
        permissions.change_mode("full", at_console=False)
    assert permissions.mode == "ask"
    for mode in MODES:
        assert permissions.change_mode(f" {mode.upper()} ", at_console=True) == mode
    with pytest.raises(ModeError, match="there are read-only, ask, workspace, full"):
        permissions.change_mode("reckless", at_console=True)
    with pytest.raises(ModeError, match="no mode reckless"):
        Permissions(mode="reckless")  # type: ignore[arg-type]


def test_who_does_not_own_the_machine_grants_none_of_its_folders(tmp_path: Path) -> None:
    permissions = Permissions(mode="full", guest=True)
    assert permissions.mode == "ask"
    with pytest.raises(GrantError, match="its owner's"):
        permissions.weigh(AccessRequest((RequestedFolder(str(tmp_path), "read"),)))
    with pytest.raises(GrantError, match="its owner's"):
        chosen_folder(str(tmp_path), permissions)
    assert permissions.weigh(AccessRequest(hosts=("example.org",))).lines == ("host example.org",)


async def test_a_change_of_mode_holds_from_the_next_run_on(rig: AgentRig) -> None:
    replies = (runs("x = 1"), DONE, runs("open('made', 'w')"), DONE)
    agent = await rig.agent(*replies, calls_tools="no", mode="workspace")
    await rig.ask(agent, "begin")
    agent.permissions.change_mode("read-only", at_console=False)
    await rig.ask(agent, "go on")
    assert rig.told(CodeEnd)[0].status == "error"


async def test_what_is_dangerous_is_asked_about_with_a_warning_even_unasked(rig: AgentRig) -> None:
    code = "import shutil\nshutil.rmtree('old')"
    agent = await rig.agent(runs(code), DONE, calls_tools="no", mode="workspace")
    await rig.ask(agent, "tidy up", "no")
    (asked,) = rig.told(ApprovalRequest)
    assert asked.warnings == (
        "It deletes folders with all that is in them, or one file after the other.",
    )
    (opened,) = await rig.records(ApprovalOpened)
    assert opened.warnings == asked.warnings


async def test_a_rule_forbids_without_a_question_and_tells_the_model(rig: AgentRig) -> None:
    code = "import os\nos.system('git push --force')"
    policy = Policy([FORCE])
    agent = await rig.agent(runs(code), DONE, calls_tools="no", mode="workspace", policy=policy)
    await rig.ask(agent, "push it")
    assert not rig.told(ApprovalRequest)
    assert 'your rule "deny command git push --force" forbids it' in rig.sent()[-1]["content"]
    assert not await rig.records(RunIntended)
    (report,) = await rig.records(RunReported)
    assert report.status == "refused"


async def test_a_rule_allows_what_the_mode_would_ask(rig: AgentRig) -> None:
    policy = Policy([LANGUAGE])
    agent = await rig.agent(runs("print(1)"), DONE, calls_tools="no", policy=policy)
    await rig.ask(agent, "count")
    assert not rig.told(ApprovalRequest)
    assert rig.output == "1\n"


async def test_what_a_rule_allows_by_its_words_means_what_they_say(rig: AgentRig) -> None:
    """An earlier run, that was approved, redefines the command that a rule allows unasked."""
    replies = (
        runs("echo() { printf evil; }; printf defined", "bash"),
        DONE,
        runs("echo hi", "bash"),
        runs("printf evil", "bash"),
        DONE,
    )
    agent = await rig.agent(*replies, calls_tools="no", policy=Policy([ECHO]))
    await rig.ask(agent, "define it")
    assert rig.output == "defined"
    await rig.ask(agent, "say hi", "no")
    assert rig.output == "hi\n"
    assert "nothing that earlier runs left was in it" in rig.told(CodeEnd)[0].detail
    (asked,) = rig.told(ApprovalRequest)
    assert asked.code == "printf evil"
    assert any("what earlier runs left" in line for line in asked.may_touch)


async def test_what_is_allowed_whatever_it_says_keeps_its_variables(rig: AgentRig) -> None:
    replies = (runs("x = 41"), runs("print(x + 1)"), DONE)
    agent = await rig.agent(*replies, calls_tools="no", policy=Policy([LANGUAGE]))
    await rig.ask(agent, "count")
    assert rig.output == "42\n"


async def test_code_that_a_person_edits_is_judged_again(rig: AgentRig) -> None:
    policy = Policy([FORCE])
    agent = await rig.agent(runs("print(1)"), DONE, calls_tools="no", policy=policy)
    await rig.ask(agent, "push", lambda _: ("edit", "!git push --force"))
    assert not await rig.records(RunIntended)
    assert "forbids it" in rig.sent()[-1]["content"]


# --- more reach ---


async def test_a_folder_is_asked_for_granted_and_then_read(rig: AgentRig, downloads: Path) -> None:
    replies = (
        runs("x = 1"),
        asks(f"read {downloads}", "because the bill lies there"),
        runs(f"print(open({str(downloads / 'bill.txt')!r}).read())"),
        DONE,
    )
    agent = await rig.agent(*replies, calls_tools="no", mode="workspace")
    await rig.ask(agent, "what does the bill say?")
    (asked,) = rig.told(ApprovalRequest)
    assert (asked.kind, asked.language, asked.code) == ("access", "access", f"read {downloads}")
    assert asked.why == "the bill lies there"
    assert f"read {downloads}" in asked.may_touch
    assert any("variables are lost" in warning for warning in asked.warnings)
    assert "Granted: read" in rig.sent(2)[-1]["content"]
    assert "variables are lost" in rig.sent(2)[-1]["content"]
    assert rig.output == "42 euros\n"
    (granted,) = await rig.records(ReachGranted)
    what, read = (f"read {downloads}",), (str(downloads),)
    assert [one.path for one in granted.seen] == list(read)
    expected = ReachGranted(granted.run, what, "kitchen", lasting=False, read=read)
    assert granted == replace(expected, seen=granted.seen)


@pytest.mark.parametrize(
    ("answer", "told"), [("no", "said no: nothing more was opened"), ("silence", "did not answer")]
)
async def test_a_no_and_silence_open_nothing(
    rig: AgentRig, downloads: Path, answer: str, told: str
) -> None:
    rig.approvals._expires_s = 0.2
    agent = await rig.agent(asks(f"write {downloads}"), DONE, calls_tools="no")
    await rig.ask(agent, "save it", answer)  # type: ignore[arg-type]
    assert told in rig.sent()[-1]["content"]
    assert agent.permissions.granted == Grants()
    assert not await rig.records(ReachGranted)


async def test_words_alone_open_nothing(rig: AgentRig, downloads: Path) -> None:
    agent = await rig.agent(asks(f"read {downloads}"), DONE, calls_tools="no")

    def by_word(asked: ApprovalRequest) -> tuple[str, None]:
        for decision in ("yes", "edit"):
            assert not rig.approvals.answer(
                asked.id, asked.nonce, decision, "x", "kitchen", by_word=True
            )
        return "no", None

    await rig.ask(agent, "read it", by_word)  # type: ignore[arg-type]
    assert [settled.decision for settled in rig.told(ApprovalDone)] == ["no"]


@pytest.mark.parametrize("lasting", [False, True])
async def test_words_of_a_device_with_that_right_open_for_once_and_never_for_good(
    rig: AgentRig, downloads: Path, *, lasting: bool
) -> None:
    agent = await rig.agent(asks(f"read {downloads}"), DONE, calls_tools="no")

    def by_word(asked: ApprovalRequest) -> tuple[str, None]:
        answer = partial(rig.approvals.answer, asked.id, asked.nonce, "yes", None, "kitchen")
        opened = answer(lasting=lasting, by_word=True, opens=True)
        assert opened == (not lasting)
        return "silence" if opened else "no", None

    await rig.ask(agent, "read it", by_word)  # type: ignore[arg-type]
    assert bool(agent.permissions.granted.lines) == (not lasting)


async def test_a_yes_for_good_stands_in_the_settings(rig: AgentRig, downloads: Path) -> None:
    home = Home.find()
    standing = StandingGrants(home, Settings())
    agent = await rig.agent(
        asks(f"read {downloads}", "host files.example.org"),
        DONE,
        calls_tools="no",
        standing=standing,
    )

    async def for_good() -> None:
        async for event in agent.work("read it"):
            if isinstance(event, ApprovalRequest):
                assert rig.approvals.answer(
                    event.id, event.nonce, "yes", None, "phone", lasting=True
                )

    await for_good()
    (granted,) = await rig.records(ReachGranted)
    assert granted.lasting
    again = StandingGrants(home, Settings.load(home, environment={}))
    assert again.reach == Grants((Folder(downloads),), ("files.example.org",)) == standing.reach


async def test_what_is_in_reach_already_is_not_asked_for(rig: AgentRig, downloads: Path) -> None:
    home = Home.find()
    standing = StandingGrants(home, Settings())
    await standing.keep(Grants((Folder(downloads, "write"),), ("*.example.org",)))
    wish = asks(f"read {downloads}", "host a.example.org")
    agent = await rig.agent(wish, DONE, calls_tools="no", standing=standing)
    await rig.ask(agent, "read it")
    assert not rig.told(ApprovalRequest)
    assert "in reach already" in rig.sent()[-1]["content"]


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ("read /", "never granted"),
        ("read ~/../..", "never granted"),
        ("write relative/folder", "no whole path"),
        ("read /no/such/folder", "No such file"),
        ("host localhost", "no host's name"),
        ("please let me", "asks for nothing"),
        ("host evil.org", "forbids evil.org"),
    ],
)
async def test_what_is_never_granted_is_refused_without_a_question(
    rig: AgentRig, wish: str, why: str
) -> None:
    rule = "deny host evil.org\nmatches: evil.org\nspares: ls"
    policy = Policy([rule])
    agent = await rig.agent(asks(wish), DONE, calls_tools="no", policy=policy)
    await rig.ask(agent, "do it")
    assert not rig.told(ApprovalRequest)
    assert why in rig.sent()[-1]["content"]


async def test_a_folder_that_a_rule_forbids_is_not_granted_nor_what_holds_it(
    rig: AgentRig, downloads: Path
) -> None:
    rule = f"deny path {downloads}\nmatches: cat {downloads}/x\nspares: ls /usr"
    agent = await rig.agent(
        asks(f"read {downloads.parent}"), DONE, calls_tools="no", policy=Policy([rule])
    )
    await rig.ask(agent, "read it")
    assert not rig.told(ApprovalRequest)
    assert "forbids it" in rig.sent()[-1]["content"]


async def test_models_with_tools_ask_in_the_same_way(rig: AgentRig, downloads: Path) -> None:
    wish = f"read {downloads}\nbecause of the bill"
    agent = await rig.agent(Reply(code=wish, language="access"), DONE, mode="workspace")
    await rig.ask(agent, "read the bill")
    (asked,) = rig.told(ApprovalRequest)
    assert (asked.kind, asked.why) == ("access", "of the bill")
    assert agent.permissions.granted.folders == (Folder(downloads),)


async def test_what_code_tries_on_the_network_is_in_the_log(rig: AgentRig) -> None:
    code = (
        "import urllib.request\n"
        "try:\n    urllib.request.urlopen('http://files.example.org/')\n"
        "except OSError as error:\n    print(error)"
    )
    agent = await rig.agent(runs(code), DONE, calls_tools="no", mode="workspace")
    await rig.ask(agent, "fetch it")
    assert "not granted" in rig.output
    (used,) = await rig.records(NetworkUsed)
    assert (used.host, used.port, used.verdict) == ("files.example.org", 80, "refused")


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("read ~/Downloads", AccessRequest((RequestedFolder("~/Downloads", "read"),))),
        (
            "- Write: '~/My M' because I must",
            AccessRequest((RequestedFolder("~/My M", "write"),), why="I must"),
        ),
        ("host https://Api.a.org/simple, *.a.org", AccessRequest(hosts=("api.a.org", "*.a.org"))),
        ("network\nReason: all of it", AccessRequest(network=True, why="all of it")),
    ],
)
def test_wishes_are_understood_as_models_write_them(text: str, wish: AccessRequest) -> None:
    assert read_access_request(text) == wish


@pytest.mark.parametrize("text", ["", "please", "host a b c", "\n".join(["read /x"] * 9)])
def test_what_is_no_wish_is_told_how_to_be_one(text: str) -> None:
    with pytest.raises(AccessError, match=r"\.$"):
        read_access_request(text)
