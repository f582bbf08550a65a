"""A project's own tests are found, run and counted; a success that none showed is contradicted."""

import json
from pathlib import Path

import pytest

from sayso.server.agent.events import ApprovalRequest
from sayso.server.agent.record.conversation_history import Act, Exchange, Step
from sayso.server.agent.record.test_evidence import contradiction, edited_tests, is_test_file
from sayso.server.capabilities.coding.program import PROGRAM
from sayso.server.capabilities.coding.tools import coding_tools
from sayso.server.store.changes import Changes
from sayso.server.store.records import Call, RunIntended, RunReported
from sayso.server.store.testing import Tested, Untested
from tests.agent.conftest import AgentRig
from tests.scripted_model import Reply, runs, says

PROJECT = {
    "pyproject.toml": "[project]\nname = 'adding'\n",
    "adding.py": "def add(a, b):\n    return a - b\n",
    "test_adding.py": (
        "import pytest\nfrom adding import add\n\n\n"
        "def test_two():\n    assert add(1, 1) == 2\n\n\n"
        "def test_zero():\n    assert add(1, 0) == 1\n\n\n"
        "@pytest.mark.skip(reason='later')\ndef test_later():\n    assert False\n"
    ),
}
MEND = "adding.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"


@pytest.fixture
def project(rig: AgentRig) -> Path:
    folder = rig.folder / "workspace"
    folder.mkdir(0o700)
    for name, text in PROJECT.items():
        (folder / name).write_text(text)
    return folder


def run_tests(**arguments: object) -> Reply:
    return Reply(calls=[{"name": "tests", "arguments": json.dumps(arguments)}])


def patches(written: str) -> Reply:
    return runs(written, language="patch")


async def test_a_fault_is_mended_by_tests_that_fail_and_then_pass(
    rig: AgentRig, project: Path
) -> None:
    agent = await rig.agent(
        run_tests(),
        patches(MEND),
        run_tests(),
        says("Fixed: all tests pass."),
        tools=coding_tools(),
    )
    assert await rig.ask(agent, "mend it") == "Fixed: all tests pass."
    assert [each.language for each in rig.told(ApprovalRequest)] == ["tests", "patch", "tests"]
    assert rig.told(ApprovalRequest)[0].code == '{"command": "python -m pytest -q"}'
    told = [str(each["content"]) for each in rig.sent() if each["role"] == "tool"]
    assert "test_adding::test_two" in told[0]
    assert "assert -1 == 2" in told[0] or "assert 0 == 2" in told[0]
    assert "Skipped: test_adding::test_later." in told[0]
    assert "1 passed, 1 failed, 1 skipped in" in told[0]
    assert "No longer failing: test_adding::test_two." in told[2]
    assert "2 passed, 0 failed, 1 skipped in" in told[2]
    found = await rig.records(Tested)
    assert [(one.passed, one.failed, one.skipped) for one in found] == [(1, 1, 1), (2, 0, 1)]
    assert names(project) == sorted(PROJECT)


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))


async def test_tests_run_from_code_without_another_question(rig: AgentRig, project: Path) -> None:
    agent = await rig.agent(
        runs("print(sayso.tests(only=['test_adding.py::test_zero']))"),
        says("One passes."),
        tools=coding_tools(),
    )
    await rig.ask(agent, "run that one")
    assert len(rig.told(ApprovalRequest)) == 1
    assert "1 passed, 0 failed, 0 skipped" in rig.output
    assert [(one.passed, one.failed) for one in await rig.records(Tested)] == [(1, 0)]


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"test_a.py": "import unittest\nclass T(unittest.TestCase):\n def test_a(self): pass\n"},
         {"counted": True, "passed": 1}),
        pytest.param(
            {"Makefile": "test:\n\t@echo '3 passed in 0.1s'\n"},
            {"counted": False, "code": 0},
            marks=pytest.mark.needs("make"),
        ),
        ({"Cargo.toml": "[package]\n"}, {"refused": "cargo is not there for code."}),
        ({"notes.txt": "x"}, {"refused": "No tests were found there"}),
        ({"package.json": '{"scripts": {"test": "no test specified"}}'},
         {"refused": "No tests were found there"}),
    ],
)  # fmt: skip
async def test_how_a_project_is_tested_is_found(
    rig: AgentRig, files: dict[str, str], wanted: dict[str, object]
) -> None:
    runner = await rig.code_runner()
    put(Path(runner.where), files)
    said = [message async for message in runner.programs.do(PROGRAM, {"do": "tests"})]
    for name, value in wanted.items():
        told = said[-1].get(name)
        assert told == value or (isinstance(value, str) and str(told).startswith(value)), said[-1]


# --- claims ---


def act(
    number: int, language: str, code: str = "", output: str = "", status: str = "ok", **changes: str
) -> Act:
    run = f"run{number}"
    made = Changes(**{kind: (path,) for kind, path in changes.items()})  # type: ignore[arg-type]
    report = RunReported(run, status, output=output, changes=made)  # type: ignore[arg-type]
    return Act(Call(run, language, code), RunIntended(run, language, code), report)


def exchange(*acts: Act, tested: Tested | None = None) -> Exchange:
    made = Exchange("mend it", [Step("", list(acts))])
    made.tested += [tested] if tested else []
    return made


CHANGE = act(1, "patch", changed="a.py")
GREEN = "===== 5 passed in 0.12s ====="
NOT_TESTED = "That is not tested: no test ran after the last change."


@pytest.mark.parametrize(
    ("acts", "answer"),
    [
        ((CHANGE,), "All tests pass now."),
        ((CHANGE,), "I have fixed it."),
        ((CHANGE,), "It works."),
        ((CHANGE,), "Alle Tests laufen jetzt."),
        ((), "The tests pass."),
        ((act(0, "bash", "pytest -q", GREEN), CHANGE), "The tests pass."),
        ((CHANGE, act(2, "python", f"print('{GREEN}')", GREEN)), "The tests pass."),
        ((CHANGE, act(2, "bash", f"echo '{GREEN}'", GREEN)), "All green."),
        ((CHANGE, act(2, "bash", f"pytest; echo '{GREEN}'", GREEN)), "All tests pass."),
        ((CHANGE, act(2, "bash", "pytest | sed s/failed/passed/", GREEN)), "Tests pass."),
        ((CHANGE, act(2, "read", output=GREEN)), "All tests pass."),
    ],
)
def test_a_success_that_no_test_showed_is_contradicted(acts: tuple[Act, ...], answer: str) -> None:
    changer = CHANGE.call.id if CHANGE in acts else ""
    assert contradiction(exchange(*acts), answer) == Untested(changer, NOT_TESTED)


def test_tests_that_failed_last_contradict_a_success() -> None:
    tested = Tested("run2", "pytest", 3, 2)
    found = contradiction(exchange(CHANGE, act(2, "tests"), tested=tested), "All tests pass.")
    assert found == Untested("run1", "The last tests did not pass: 2 failed.")


@pytest.mark.parametrize(
    ("acts", "answer"),
    [
        ((CHANGE, act(2, "bash", "cd src && pytest -q | tail -5", GREEN)), "All tests pass."),
        ((CHANGE, act(2, "bash", "python -m pytest", GREEN)), "It is fixed."),
        ((CHANGE, act(2, "python", "import a; a.f()", "4")), "It works now."),
        ((CHANGE,), "I have not run the tests."),
        ((CHANGE,), "It should work, but nothing is tested."),
        ((CHANGE,), "I changed the condition."),
        ((act(1, "patch", changed="README.md"),), "I have fixed the spelling."),
        ((), "It works like this: a key is turned."),
    ],
)
def test_what_is_shown_or_not_claimed_is_not_contradicted(
    acts: tuple[Act, ...], answer: str
) -> None:
    assert contradiction(exchange(*acts), answer) is None


async def test_a_false_claim_is_contradicted_aloud_in_the_log_and_once(
    rig: AgentRig, project: Path
) -> None:
    class Changing:
        """Tells what a patch changed, as undo does."""

        async def before(self, run: str) -> str:
            return ""

        async def after(self, run: str) -> Changes:
            return Changes(changed=("adding.py",))

    agent = await rig.agent(patches(MEND), says("All tests pass."), tools=coding_tools())
    agent.runs.checkpointer = Changing()
    said = await rig.ask(agent, "mend it")
    assert said == f"All tests pass.\n\n{NOT_TESTED}"
    assert [one.told for one in await rig.records(Untested)] == [NOT_TESTED]


def test_tests_that_were_there_before_and_changed_are_named() -> None:
    made = exchange(
        act(1, "patch", changed="spec/test_a.py"),
        act(2, "patch", added="spec/test_new.py"),
        act(3, "bash", changed="spec/test_new.py"),
        act(4, "bash", deleted="b_test.go"),
    )
    assert edited_tests(made) == ("spec/test_a.py", "b_test.go")


@pytest.mark.parametrize(
    ("path", "is_one"),
    [("specs/a.py", True), ("src/test_a.py", True), ("a.test.ts", True), ("x_test.go", True),
     ("conftest.py", True), ("src/FooTest.java", True), ("contest.py", False), ("latest.py", False),
     ("src/attest/a.py", False)],
)  # fmt: skip
def test_test_files_are_known_by_their_names(path: str, is_one: bool) -> None:
    assert is_test_file(path) == is_one
