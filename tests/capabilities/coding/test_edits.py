"""Computed edits and other names for symbols are shown as the difference that they make."""

import json
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest
from sayso.server.capabilities.coding.tools import coding_tools
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says

FILES = 22


@pytest.fixture
def project(rig: AgentRig) -> Path:
    """A function that 21 files use; a method, a text and a longer name that are only alike."""
    folder = rig.folder / "workspace"
    folder.mkdir(0o700)
    (folder / "core.py").write_text(
        "def total(values):\n    return sum(values)\n\n\nclass Bill:\n    def total(self):\n"
        '        return "total"\n\n\ndef total_of_all():\n    return total([1])\n'
    )
    for number in range(FILES - 1):
        (folder / f"user{number}.py").write_bytes(
            b"from core import total\r\n\r\n\r\ndef use():\r\n    return total([1, 2])  # total\r\n"
        )
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def renames(**arguments: object) -> Reply:
    return Reply(calls=[{"name": "rename", "arguments": json.dumps(arguments)}])


async def test_a_function_is_renamed_in_22_files_and_nothing_that_is_only_called_alike(
    rig: AgentRig, project: Path
) -> None:
    agent = await rig.agent(
        renames(symbol="total", new="whole", path="core.py", line=1),
        says("Renamed."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "call it whole")
    asked = rig.told(ApprovalRequest)
    assert len(asked) == 1
    assert asked[0].code.count("\n+++ ") == FILES
    now = contents(project)
    assert now["core.py"].decode() == (
        "def whole(values):\n    return sum(values)\n\n\nclass Bill:\n    def total(self):\n"
        '        return "total"\n\n\ndef total_of_all():\n    return whole([1])\n'
    )
    user = b"from core import whole\r\n\r\n\r\ndef use():\r\n    return whole([1, 2])  # total\r\n"
    assert {name: text for name, text in now.items() if text == user}.keys() == {
        f"user{number}.py" for number in range(FILES - 1)
    }


async def test_of_several_definitions_and_of_other_languages_the_places_are_told(
    rig: AgentRig, project: Path
) -> None:
    (project / "a.js").write_text("function turn() {}\nturn()\n")
    agent = await rig.agent(
        renames(symbol="total", new="whole"),
        renames(symbol="turn", new="spin"),
        renames(symbol="total", new="class", path="core.py", line=1),
        renames(symbol="nothing", new="whole"),
        says("Well."),
        tools=coding_tools(),
    )
    before = contents(project)
    await rig.ask(agent, "rename them")
    assert not rig.told(ApprovalRequest)
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "total is defined at core.py:1, core.py:6" in told[0]
    assert "a.js:1|function turn() {}\na.js:2|turn()" in told[1]
    assert "class is a word of Python's own" in told[2]
    assert "nothing is defined nowhere here" in told[3]
    assert contents(project) == before


@pytest.mark.slow
async def test_code_computes_edits_and_is_told_what_does_not_fit(
    rig: AgentRig, project: Path
) -> None:
    agent = await rig.agent(
        runs(
            "for number in range(3):\n"
            "    sayso.edit(f'user{number}.py', '[1, 2]', f'[{number}]')\n"
            "for old, more in (('return', {}), ('nowhere', {}), ('total', {'all': True})):\n"
            "    try:\n        print(sayso.edit('core.py', old, 'x', **more))\n"
            "    except sayso.Refused as why:\n        print(why)"
        ),
        says("Done."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "edit them")
    assert len(rig.told(ApprovalRequest)) == 1
    now = contents(project)
    assert [b"[%d])" % number in now[f"user{number}.py"] for number in range(4)] == [
        True,
        True,
        True,
        False,
    ]
    assert "core.py holds that 3 times, in lines 2, 7, 11" in rig.output
    assert "core.py does not hold that text" in rig.output
    assert now["core.py"].count(b"total") == 0
