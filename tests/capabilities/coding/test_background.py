"""What goes on in the background works on files with what it began with, and counts as read."""

from pathlib import Path

import pytest

from sayso.server.agent.permissions.permissions import Permissions
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.policy.judge import Policy
from sayso.server.runtimes.grants import Grants, folder
from tests.agent.conftest import AgentRig
from tests.scripted_model import runs, says
from tests.server.running_server import until


@pytest.fixture
def workspace(rig: AgentRig) -> Path:
    made = rig.folder / "workspace"
    made.mkdir(0o700)
    return made


@pytest.mark.slow
async def test_a_job_in_the_background_sees_nothing_that_was_granted_later(
    rig: AgentRig, workspace: Path, tmp_path: Path
) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (granted / "c.txt").write_text("words of granted\n")
    code = f"""
import os, time
sayso.background()
while not os.path.exists("go"):
    time.sleep(0.05)
told = []
for attempt in (
    lambda: sayso.read(path={str(granted / "c.txt")!r}),
    lambda: sayso.search("words of"),
    lambda: sayso.patch("*** Begin Patch\\n*** Add File: {granted}/new\\n+x\\n*** End Patch"),
):
    try:
        told.append(attempt())
    except sayso.Refused as why:
        told.append(str(why))
open("part", "w").write("\\n".join(told))
os.rename("part", "seen")
"""
    permissions = Permissions(Policy())
    runner = await rig.code_runner()
    agent = await rig.agent(
        runs(code),
        says("It goes on."),
        runs("print(1)"),
        says("Well."),
        tools=coding_tools(),
        permissions=permissions,
        code_runner=runner,
    )
    await rig.ask(agent, "watch it in the background")
    permissions._own = Grants((folder(granted, "write"),))
    await rig.ask(agent, "and count")
    (workspace / "go").touch()
    await until((workspace / "seen").exists)
    seen = (workspace / "seen").read_text()
    assert "words of granted" not in seen
    assert "in no folder" in seen
    assert [each.name for each in granted.iterdir()] == ["c.txt"]


@pytest.mark.slow
async def test_what_a_job_has_said_when_it_goes_to_the_background_counts_as_read(
    rig: AgentRig, workspace: Path, tmp_path: Path
) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (granted / "c.txt").write_text("words of granted\n")
    permissions = Permissions(Policy())
    permissions._own = Grants((folder(granted, "read"),))
    code = f"""
import time
print(open({str(granted / "c.txt")!r}).read(), flush=True)
sayso.background()
time.sleep(600)
"""
    runner = await rig.code_runner()
    agent = await rig.agent(
        runs(code), says("It goes on."), permissions=permissions, code_runner=runner
    )
    await rig.ask(agent, "watch it")
    assert permissions.outside_content.sources == (str(granted),)
    # What is taken back while it goes on was read all the same.
    permissions.outside_content.forget()
    permissions._own = Grants()
    await permissions.settle(runner)
    await until(lambda: permissions.outside_content.sources)
    assert permissions.outside_content.sources == (str(granted),)
