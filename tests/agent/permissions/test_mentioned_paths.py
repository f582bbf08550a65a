"""Naming a folder opens nothing: the person is asked for it when code needs it, and only then."""

from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd
from sayso.server.agent.permissions.access_syntax import RequestedFolder
from sayso.server.agent.permissions.mentioned_paths import named_places, needed
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.store.decisions import ReachGranted
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply

W = "/w"
DONE = Reply("It is done.")


@pytest.fixture
def downloads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "ada"
    made = home / "Downloads"
    made.mkdir(0o755, parents=True)
    (home / "Tax Papers").mkdir()
    (made / "bill.txt").write_text("42 euros")
    monkeypatch.setenv("HOME", str(home))
    return made


def runs(code: str, language: str = "python") -> Reply:
    return Reply(f"I do it.\n```{language}\n{code}\n```\n")


def test_what_a_person_names_is_found_if_it_is_there_and_theirs(downloads: Path) -> None:
    home, bill = downloads.parent, str(downloads / "bill.txt")
    there = str(downloads)
    for text, places in {
        "tidy my downloads": [there],
        "What is in the Downloads folder?": [there],
        f"what does {bill} say?": [bill],
        "what does ~/Downloads/bill.txt say.": [bill],
        "what is in my tax papers folder": [str(home / "Tax Papers")],
        'read "~/Tax Papers" and ~/Downloads, please': [str(home / "Tax Papers"), there],
        "play my music": [],
        "what is in /etc/hosts and /usr/share": [],
        "look at https://a.org/Downloads or and/or": [],
        "how many downloads has it": [],
        "what is in ~/": [],
    }.items():
        assert list(named_places(text)) == places, text


@pytest.mark.parametrize(
    ("asked", "code", "access"),
    [
        ("what is there", "print(os.listdir('/home/ada/Downloads'))", "read"),
        ("what is there", "import os\nos.remove('/home/ada/Downloads/a')", "write"),
        ("what is there", "for f in os.listdir(d): os.remove(f)  # Downloads", "write"),
        ("total up", "total.to_csv('/home/ada/Downloads/total.csv')", "write"),
        ("total up", "d = '/home/ada/Downloads'\nt.to_csv(path_or_buf=d + '/t.csv')", "write"),
        ("tidy it", "print(os.listdir('/home/ada/Downloads'))", "write"),
        ("what is there", "print(6 * 7)", None),
        ("what is there", "print('MyDownloads2')", None),
    ],
)
def test_it_is_needed_for_what_the_code_does(asked: str, code: str, access: str | None) -> None:
    found = needed(["/home/ada/Downloads"], asked, "python", f"import os\n{code}", W)
    assert found == ((RequestedFolder("/home/ada/Downloads", access),) if access else ())  # type: ignore[arg-type]
    assert needed([f"{W}/Downloads"], asked, "python", code, W) == ()


@pytest.mark.parametrize(
    ("asked", "language", "code", "access"),
    [
        ("copy it here", "bash", "cp /home/ada/may.csv .", "read"),
        ("copy it here", "bash", "cp -a -- /home/ada/may.csv copy.csv", "read"),
        ("copy it there", "bash", "cp may.csv /home/ada/may.csv", "write"),
        ("copy it here", "bash", "cp --link /home/ada/may.csv .", "write"),
        ("draw a chart and save it", "python", "plot(open('/home/ada/may.csv'))", "read"),
        ("add up what is in it", "python", "print(sum(open('/home/ada/may.csv')))", "read"),
        ("make a table of it", "python", "open('/home/ada/may.csv', 'a').write(x)", "write"),
        ("replace the commas in it", "python", "print(open('/home/ada/may.csv').read())", "write"),
    ],
)
def test_a_file_that_is_only_read_is_not_asked_to_be_written(
    asked: str, language: str, code: str, access: str
) -> None:
    (found,) = needed(["/home/ada/may.csv"], asked, language, code, W)
    assert found.access == access


async def test_the_first_code_that_needs_it_brings_the_question(
    rig: AgentRig, downloads: Path
) -> None:
    code = f"print(open({str(downloads / 'bill.txt')!r}).read())"
    replies = (runs("print('let me see')"), runs(code), runs(code), DONE)
    agent = await rig.agent(*replies, calls_tools="no", mode="workspace")
    await rig.ask(agent, "what do I owe, by my downloads?")
    (asked,) = rig.told(ApprovalRequest)
    assert (asked.kind, asked.code, asked.tap) == ("access", f"read {downloads}", True)
    assert rig.output == "let me see\n42 euros\n42 euros\n"
    (granted,) = await rig.records(ReachGranted)
    assert (granted.read, granted.by, granted.lasting) == ((str(downloads),), "kitchen", False)
    assert str(downloads) in rig.sent(0)[-1]["content"]


@pytest.mark.thorough
async def test_a_no_is_told_to_the_model_and_not_asked_again(
    rig: AgentRig, downloads: Path
) -> None:
    code = f"print(open({str(downloads / 'bill.txt')!r}).read())"
    agent = await rig.agent(runs(code), runs(code), DONE, calls_tools="no", mode="workspace")
    await rig.ask(agent, "what do I owe, by my downloads?", "no")
    assert len(rig.told(ApprovalRequest)) == 1
    assert "did not open it: this did not run" in rig.sent(1)[-1]["content"]
    assert [one.status for one in rig.told(CodeEnd)] == ["refused", "error"]
    assert not await rig.records(ReachGranted)


@pytest.mark.thorough
async def test_who_owns_no_folder_here_is_not_asked_for_one_and_learns_nothing_of_it(
    rig: AgentRig, downloads: Path
) -> None:
    code = f"print(open({str(downloads / 'bill.txt')!r}).read())"
    permissions = Permissions(mode="workspace", guest=True)
    agent = await rig.agent(runs(code), DONE, calls_tools="no", permissions=permissions)
    await rig.ask(agent, "what do I owe, by my downloads?")
    assert not rig.told(ApprovalRequest)
    assert rig.sent(0)[-1]["content"] == "what do I owe, by my downloads?"
