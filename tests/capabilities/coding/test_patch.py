"""A model changes files by a patch: tried first, asked about as the difference, all or nothing."""

from contextlib import aclosing
from pathlib import Path
from typing import Literal

import pytest

from sayso.server.agent.events import ApprovalRequest, CodeEnd, CodeStart
from sayso.server.agent.limits import RequestLimits
from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.agent.prompt.profiles import profile
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import Grants, folder
from sayso.server.store.records import RunIntended, RunReported
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says

FITS = "*** Begin Patch\n*** Update File: a.py\n@@\n x = 1\n-y = 2\n+y = 3\n*** End Patch"
MISFITS = FITS.replace("y = 2", "y = 4")
DIFFERENCE = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3\n"


@pytest.fixture
def file(rig: AgentRig) -> Path:
    """A file of the conversation's folder."""
    (rig.folder / "workspace").mkdir(0o700)
    made = rig.folder / "workspace" / "a.py"
    made.write_text("x = 1\ny = 2\n")
    return made


def patches(written: str) -> Reply:
    return runs(written, language="patch")


def text(file: Path) -> str:
    return file.read_text()


def other_folder(folder: Path) -> Path:
    made = folder / "granted"
    made.mkdir()
    (made / "b.py").write_text("x = 1\ny = 2\n")
    return made


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize("calls_tools", ["yes", "no"])
async def test_the_person_is_asked_for_the_difference_and_it_is_made(
    rig: AgentRig, file: Path, calls_tools: Literal["yes", "no"]
) -> None:
    agent = await rig.agent(
        patches(FITS), says("Done."), calls_tools=calls_tools, tools=coding_tools()
    )
    assert await rig.ask(agent, "make y three") == "Done."
    asked = rig.told(ApprovalRequest)
    assert [(each.language, each.code) for each in asked] == [("patch", DIFFERENCE)]
    assert asked[0].may_touch == ("change a.py",)
    assert not asked[0].tap
    assert text(file) == "x = 1\ny = 3\n"
    assert "change a.py (+1 -1)" in rig.sent()[-1]["content"]
    assert "The person changed" not in rig.sent()[-1]["content"]
    assert [one.code for one in await rig.records(RunIntended)] == [DIFFERENCE]
    assert [one.status for one in await rig.records(RunReported)] == ["ok"]


async def test_a_patch_that_does_not_fit_asks_nobody_and_shows_the_model_what_is_there(
    rig: AgentRig, file: Path
) -> None:
    agent = await rig.agent(patches(MISFITS), says("Oh."), tools=coding_tools())
    await rig.ask(agent, "make y three")
    assert not rig.told(ApprovalRequest)
    assert not rig.told(CodeStart)
    assert [one.detail for one in rig.told(CodeEnd)] == [
        "The patch does not fit, so nothing was changed."
    ]
    assert "1|x = 1\n2|y = 2" in rig.sent()[-1]["content"]
    assert text(file) == "x = 1\ny = 2\n"


async def test_the_third_time_that_a_file_is_missed_it_is_to_be_written_whole(
    rig: AgentRig, file: Path
) -> None:
    wrong = [patches(MISFITS.replace("y = 4", f"y = {number}")) for number in (5, 6, 7)]
    agent = await rig.agent(
        *wrong, says("Oh."), tools=coding_tools(), bounds=RequestLimits(steps=20)
    )
    await rig.ask(agent, "make y three")
    told = [str(message["content"]) for message in rig.sent() if message["role"] == "tool"]
    assert ["write it whole" in each for each in told] == [False, False, True]


async def test_a_no_changes_nothing(rig: AgentRig, file: Path) -> None:
    agent = await rig.agent(patches(FITS), says("All right."), tools=coding_tools())
    await rig.ask(agent, "make y three", answer="no")
    assert text(file) == "x = 1\ny = 2\n"


async def test_what_changes_while_the_person_reads_is_not_written_over(
    rig: AgentRig, file: Path
) -> None:
    agent = await rig.agent(patches(FITS), says("Oh."), tools=coding_tools())

    def answer(_: ApprovalRequest) -> tuple[Literal["yes"], None]:
        file.write_text("w = 0\nx = 1\ny = 2\n")
        return "yes", None

    await rig.ask(agent, "make y three", answer=answer)
    assert text(file) == "w = 0\nx = 1\ny = 2\n"
    assert "The files changed since this was shown" in rig.sent()[-1]["content"]


async def test_a_person_may_change_the_difference(rig: AgentRig, file: Path) -> None:
    agent = await rig.agent(patches(FITS), says("Fine."), tools=coding_tools())

    def answer(request: ApprovalRequest) -> tuple[Literal["edit"], str]:
        return "edit", request.code.replace("+y = 3", "+y = 4")

    await rig.ask(agent, "make y three", answer=answer)
    assert text(file) == "x = 1\ny = 4\n"
    assert "The person changed the code" in rig.sent()[-1]["content"]


async def test_in_the_mode_workspace_nobody_is_asked_and_read_only_writes_nothing(
    rig: AgentRig, file: Path
) -> None:
    agent = await rig.agent(patches(FITS), says("Done."), tools=coding_tools(), mode="workspace")
    await rig.ask(agent, "make y three")
    assert not rig.told(ApprovalRequest)
    assert text(file) == "x = 1\ny = 3\n"
    other = await rig.agent(
        patches(FITS.replace("2", "3").replace("+y = 3", "+y = 9")),
        says("No."),
        tools=coding_tools(),
        mode="read-only",
    )
    await rig.ask(other, "make y nine")
    assert text(file) == "x = 1\ny = 3\n"
    assert "nothing was changed" in rig.sent()[-1]["content"].lower()


async def test_a_rule_about_a_place_holds_for_patches(rig: AgentRig, file: Path) -> None:
    rule = f"deny path {file}\nmatches: cat {file}\nspares: cat /elsewhere"
    agent = await rig.agent(
        patches(FITS), says("No."), tools=coding_tools(), policy=Policy([rule]), mode="workspace"
    )
    await rig.ask(agent, "make y three")
    assert text(file) == "x = 1\ny = 2\n"
    assert "your rule" in rig.told(CodeEnd)[0].detail


async def test_a_folder_that_was_granted_for_reading_is_not_written_to(
    rig: AgentRig, file: Path, tmp_path: Path
) -> None:
    granted = other_folder(tmp_path)
    permissions = Permissions(Policy(), "workspace")
    place = folder(granted, "read")
    permissions._own = Grants((place,))  # as a person's yes would have it
    agent = await rig.agent(
        patches(FITS.replace("a.py", str(granted / "b.py"))),
        says("No."),
        tools=coding_tools(),
        permissions=permissions,
    )
    await rig.ask(agent, "make y three there")
    assert text(granted / "b.py") == "x = 1\ny = 2\n"
    assert names(granted) == ["b.py"]


async def test_a_stop_before_the_yes_leaves_everything(rig: AgentRig, file: Path) -> None:
    agent = await rig.agent(patches(FITS), says("Never."), tools=coding_tools())
    async with aclosing(agent.work("make y three", "kitchen")) as events:
        async for event in events:
            if isinstance(event, ApprovalRequest):
                break
    assert [one.status for one in await rig.records(RunReported)] == ["refused"]
    assert text(file) == "x = 1\ny = 2\n"


async def test_a_small_model_writes_whole_files_and_the_smallest_is_not_told_of_patches(
    rig: AgentRig, file: Path
) -> None:
    whole = "*** Add File: a.py\nx = 1\ny = 5\n"
    agent = await rig.agent(
        patches(whole),
        says("Done."),
        tools=coding_tools(),
        calls_tools="no",
        manner=profile("local-small"),
    )
    await rig.ask(agent, "make y five")
    assert text(file) == "x = 1\ny = 5\n"
    system = str(rig.model.requests[0].messages[0]["content"])
    assert "write all of it in the language patch" in system
    assert "patch" not in profile("pocket").languages


async def test_what_a_misfit_shows_of_a_granted_folder_counts_as_read(
    rig: AgentRig, file: Path
) -> None:
    granted = other_folder(rig.folder)
    permissions = Permissions(Policy())
    permissions._own = Grants((folder(granted, "read"),))
    misfit = MISFITS.replace("a.py", str(granted / "b.py"))
    agent = await rig.agent(
        patches(misfit), says("Oh."), tools=coding_tools(), permissions=permissions
    )
    await rig.ask(agent, "make y three")
    assert "2|y = 2" in rig.sent()[-1]["content"]
    assert permissions.outside_content.sources == (str(granted),)


@pytest.mark.parametrize("verdict", ["deny", "ask"])
async def test_a_rule_about_a_place_holds_for_what_a_misfit_would_show(
    rig: AgentRig, file: Path, verdict: str
) -> None:
    rule = f"{verdict} path {file}\nmatches: cat {file}\nspares: cat /elsewhere"
    wrong = [
        patches(MISFITS),
        runs('{"path": "a.py", "old": "y = 4", "new": "y"}', language="edit"),
        runs(f"try:\n    sayso.patch({MISFITS!r})\nexcept sayso.Refused as why:\n    print(why)"),
    ]
    agent = await rig.agent(
        *wrong,
        says("Oh."),
        tools=coding_tools(),
        policy=Policy([rule]),
        bounds=RequestLimits(steps=20),
    )
    await rig.ask(agent, "make y three")
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert len(told) == len(wrong)
    assert all("y = 2" not in each for each in told), told
    assert "your rule" in told[0] if verdict == "deny" else "a rule of the person's" in told[0]
    assert "rule" in told[2]


async def test_a_name_that_would_not_stand_on_one_line_is_not_patched(
    rig: AgentRig, file: Path
) -> None:
    hidden = file.parent / "b\n+++ b/README.md\n@@ -1,1 +1,1 @@"
    hidden.mkdir(parents=True)
    (hidden / "a.py").write_text("x = 1\ny = 2\n")
    (file.parent / "link").symlink_to(hidden)
    written = FITS.replace("a.py", "link/a.py")
    agent = await rig.agent(patches(written), says("Oh."), tools=coding_tools())
    await rig.ask(agent, "make y three")
    assert not rig.told(ApprovalRequest)
    assert "can't be shown" in rig.sent()[-1]["content"]
