"""zsh in the code runner: what holds for bash holds for it, too."""

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.sandboxes import began, rest, told

pytestmark = pytest.mark.needs("zsh")


async def zsh(code_runner: CodeRunner, code: str) -> str:
    """What code that goes well prints."""
    run = await told(code_runner, code, "zsh")
    assert run.ending.status == "ok", run
    return run.stdout


STATE = 'echo $x "${d[a]}" $arr[2] $n; f; basename $PWD; [[ -o extendedglob ]] && echo on'


async def test_the_shell_keeps_its_state_also_past_an_exit(code_runner: CodeRunner) -> None:
    code = "x=5; typeset -A d; d[a]='b c'; arr=(1 'two 3'); typeset -i n=3; f() { echo in f; }\n"
    code += "mkdir sub; cd sub; setopt extendedglob; PATH=$PATH:/opt/own; umask 077"
    await zsh(code_runner, code)
    assert await zsh(code_runner, STATE) == "5 b c two 3 3\nin f\nsub\non\n"
    run = await told(code_runner, "x=6; exit 3", "zsh")
    assert run.ending.status == "error"
    assert run.ending.detail == "It ended with exit status 3."
    assert await zsh(code_runner, STATE) == "6 b c two 3 3\nin f\nsub\non\n"
    assert (await zsh(code_runner, "echo $PATH; umask")).endswith(":/opt/own\n077\n")


async def test_errors_and_input_are_told(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "echo 'open", "zsh")
    assert run.ending.status == "error"
    assert "unmatched" in run.stderr
    assert "asked for input" in (await told(any_workshop, "cat", "zsh")).ending.detail
    assert "exit status 127" in (await told(any_workshop, "no-such-command", "zsh")).ending.detail
    words = "  $HOME `date` 'x' \\\n\t世界\n"
    assert await zsh(any_workshop, f"cat <<'END'\n{words}END") == words


async def test_what_runs_stops_when_asked_and_the_shell_keeps_its_state(
    any_workshop: CodeRunner,
) -> None:
    for code in ("sleep 600", "while :; do :; done", "yes | tr y x >/dev/null"):
        pieces = any_workshop.run("zsh", f"kept=7\necho begun\n{code}")
        await began(pieces)
        await any_workshop.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        assert await zsh(any_workshop, "echo $kept") == "7\n"


async def test_it_is_a_shell_beside_bash(any_workshop: CodeRunner) -> None:
    await zsh(any_workshop, "x=1")
    assert (await told(any_workshop, "echo $x$BASH_VERSION", "sh")).stdout not in ("", "1\n")
