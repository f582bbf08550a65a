"""Languages that a person adds: one small class and one entry in the settings."""

import re
from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from sayso.server.runtimes.kernels.environment import KernelEnvironment
from sayso.server.runtimes.languages.available import LanguageError, available, load
from sayso.server.runtimes.sandbox.sandbox import Sandbox
from sayso.server.runtimes.sandbox.self_test.proof import SandboxReport
from tests.runtimes.sandboxes import began, rest, told

DOCUMENT = Path(__file__).parents[3] / "docs" / "languages.md"


async def test_the_example_in_the_documents_works(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, tmp_path: Path
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (tmp_path / "awk.py").write_text(example)
    languages, complaints = available(environment, (f"{tmp_path}/awk.py:Awk",))
    assert complaints == ()
    report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
    code_runner = CodeRunner(workspace, environment, report, languages=languages)
    try:
        assert code_runner.languages[0] == "python"
        assert "awk" in code_runner.languages
        (workspace / "table").write_text("1 2\n3 4\n")
        code = 'BEGIN { while ((getline < "table") > 0) sum += $2; print sum }'
        assert (await told(code_runner, code, "awk")).stdout == "6\n"
        run = await told(code_runner, "BEGIN { exit 3 }", "gawk")
        assert "exit status 3" in run.ending.detail
        assert (await told(code_runner, "BEGIN {", "awk")).ending.status == "error"
        assert "asked for input" in (await told(code_runner, "{ print }", "awk")).ending.detail
        pieces = code_runner.run("awk", 'BEGIN { print "begun"; fflush(); while (1); }')
        await began(pieces)
        await code_runner.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        assert (await told(code_runner, 'BEGIN { print "on" }', "awk")).stdout == "on\n"
    finally:
        await code_runner.close()


async def test_a_program_that_is_missing_is_told(
    any_sandbox: Sandbox, environment: KernelEnvironment, workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "odd.py").write_text(
        "from sayso.server.runtimes.languages.program import Program\n"
        "class Odd(Program):\n    name = 'odd'\n    command = ('no-such-program', '{file}')\n"
    )
    report = SandboxReport(True, any_sandbox.kind, sandbox=any_sandbox)
    odd = load(f"{tmp_path}/odd.py:Odd")
    code_runner = CodeRunner(workspace, environment, report, languages=[odd])
    try:
        ending = (await told(code_runner, "1", "odd")).ending
        assert ending.status == "error"
        assert ending.detail.startswith("no-such-program cannot be started")
    finally:
        await code_runner.close()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("nothing", "names no class"),
        ("/nowhere/x.py:X", "cannot be loaded"),
        ("no.such.module:X", "cannot be loaded"),
        ("json:Missing", "cannot be loaded"),
        ("json:JSONDecoder", "cannot be loaded"),
    ],
)
def test_an_entry_that_is_wrong_is_told_and_the_rest_works(
    environment: KernelEnvironment, entry: str, words: str
) -> None:
    with pytest.raises(LanguageError, match=words):
        load(entry)
    languages, (complaint,) = available(environment, (entry,))
    assert entry in complaint
    assert {"python", "html"} <= {language.name for language in languages}
