"""Sayso's own programs in the sandbox: one looks and does nothing else, one does a single task."""

import asyncio
from pathlib import Path

import pytest

from sayso.server.capabilities.coding.program import PROGRAM
from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.grants import Grants, folder
from sayso.server.runtimes.programs.confined_program import Program, ProgramError
from sayso.server.runtimes.programs.programs import RunPrograms

NEW = {"do": "apply", "patch": "*** Begin Patch\n*** Add File: new\n+x\n*** End Patch"}

HELPER = """
import json, os, socket, struct, sys, time
link = socket.socket(fileno=int(sys.argv[1]))
def say(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    link.sendall(struct.pack(">I", len(body)) + body)
while True:
    head = link.recv(4, socket.MSG_WAITALL)
    if not head:
        break
    asked = json.loads(link.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL))
    match asked["do"]:
        case "wait": time.sleep(600)
        case "die": os.abort()
        case "babble": say(b"no JSON")
        case "list": say([1])
        case "flood": link.sendall(struct.pack(">I", 2**31))
        case "who": say({"end": 1, "pid": os.getpid(), "own": [p for p in sys.path if "/.pa" in p]})
        case "net":
            try:
                socket.create_connection(("127.0.0.1", 3128), 2)
                say({"end": 1, "net": "there"})
            except OSError as error:
                say({"end": 1, "net": type(error).__name__})
"""


@pytest.fixture
def helper(tmp_path: Path) -> Program:
    """A program that misbehaves as it is asked to."""
    place = tmp_path / "helper"
    place.mkdir()
    (place / "main.py").write_text(HELPER)
    for each in (tmp_path, place, place / "main.py"):
        each.chmod(0o755)
    return Program(place / "main.py")


def names(place: Path) -> list[str]:
    return sorted(each.name for each in place.iterdir())


async def test_a_look_writes_nothing_and_a_task_does(
    code_runner: CodeRunner, workspace: Path
) -> None:
    answer = await code_runner.programs.look(PROGRAM, NEW)
    assert "nothing was changed" in str(answer["refused"]).lower()
    assert names(workspace) == []
    assert [each["end"] async for each in code_runner.programs.do(PROGRAM, NEW)] == [True]
    assert names(workspace) == ["new"]


async def test_a_look_sees_what_is_granted_at_that_moment(
    code_runner: CodeRunner, tmp_path: Path
) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (granted / "f").write_text("the words\n")
    for each in (tmp_path, granted, granted / "f"):
        each.chmod(0o755)
    request = {"do": "read", "path": str(granted / "f")}
    for reach, seen in (
        (Grants(), False),
        (Grants((folder(granted, "read"),)), True),
        (Grants(), False),
    ):
        await code_runner.set_reach(reach)
        answer = await code_runner.programs.look(PROGRAM, request)
        assert ("the words" in str(answer)) == seen


async def test_a_look_has_no_network_whatever_is_granted(
    code_runner: CodeRunner, helper: Program
) -> None:
    await code_runner.set_reach(Grants(network=True))
    answer = await code_runner.programs.look(helper, {"do": "net"})
    assert answer["net"] != "there"


@pytest.mark.slow
async def test_one_program_serves_looks_and_what_ends_is_replaced(
    code_runner: CodeRunner, helper: Program
) -> None:
    look = code_runner.programs.look
    first, second = [await look(helper, {"do": "who"}) for _ in range(2)]
    assert first == second
    for bad in ("die", "babble", "list", "flood"):
        with pytest.raises(ProgramError):
            await look(helper, {"do": bad})
        assert (await look(helper, {"do": "who"}))["end"] == 1
    with pytest.raises(ProgramError, match="longer than 1 seconds"):
        await look(helper, {"do": "wait"}, 1.0)
    assert (await look(helper, {"do": "who"}))["own"] == []


async def test_a_task_that_is_left_is_ended(code_runner: CodeRunner, helper: Program) -> None:
    async def wait() -> None:
        async for _ in code_runner.programs.do(helper, {"do": "wait"}):
            pass

    task = asyncio.create_task(wait())
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(30):
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_what_is_granted_later_is_not_for_a_run_that_began_before(
    code_runner: CodeRunner, helper: Program, tmp_path: Path
) -> None:
    granted = tmp_path / "granted"
    granted.mkdir()
    (granted / "f").write_text("the words\n")
    for each in (tmp_path, granted, granted / "f"):
        each.chmod(0o755)
    request = {"do": "read", "path": str(granted / "f")}
    before = RunPrograms(code_runner.programs, code_runner.reach)
    await code_runner.set_reach(Grants((folder(granted, "write"),), network=True))
    assert "the words" not in str(await before.look(PROGRAM, request))
    patch = f"*** Begin Patch\n*** Add File: {granted}/new\n+x\n*** End Patch"
    (answer,) = [each async for each in before.do(PROGRAM, {"do": "apply", "patch": patch})]
    assert "in no folder" in str(answer["refused"])
    assert names(granted) == ["f"]
    (answer,) = [each async for each in before.do(helper, {"do": "net"})]
    assert answer["net"] != "there"
    during = RunPrograms(code_runner.programs, code_runner.reach)
    assert "the words" in str(await during.look(PROGRAM, request))
    await code_runner.set_reach(Grants())
    with pytest.raises(ProgramError, match="taken back"):
        await during.look(PROGRAM, request)
