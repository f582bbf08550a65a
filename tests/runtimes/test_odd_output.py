"""What is odd in a run is shown as far as it can be, and the next run is as good as any."""

import shutil

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import told


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (r'print("a\ud800b")', "a?b"),
        (r'raise ValueError("a\ud800b")', "a?b"),
        (r'import sys; sys.stderr.write("a\ud800b")', "a?b"),
        (r'display("a\ud800b")', "ud800"),
    ],
)
async def test_half_a_character_is_shown_as_a_question_mark(
    any_workshop: CodeRunner, code: str, shown: str
) -> None:
    run = await told(any_workshop, code)
    assert shown in run.stdout + run.stderr + run.error + "".join(o.text for o in run.outputs)
    assert "Traceback" not in run.stderr
    assert (await told(any_workshop, "print(6 * 7)")).stdout == "42\n"


@pytest.mark.slow
async def test_after_a_fork_bomb_the_shell_is_back_by_itself(code_runner: CodeRunner) -> None:
    bomb = await told(code_runner, "f() { f | f & }; f; sleep 2; echo x", "bash")
    assert "so many processes" in bomb.ending.detail
    after = await told(code_runner, "for each in 1 2 3; do echo $each | cat; done", "bash")
    assert (after.stdout, after.stderr) == ("1\n2\n3\n", "")


@pytest.mark.skipif(not shutil.which("Rscript"), reason="R is not installed")
async def test_programs_whose_settings_the_system_keeps_start(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "Rscript -e 'cat(1 + 1)'", "bash")
    assert run.stdout == "2", run
