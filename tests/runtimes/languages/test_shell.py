"""The shell in the code runner, as a person and a model see it."""

from pathlib import Path

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.busy import within
from tests.runtimes.processes import below, until
from tests.runtimes.sandboxes import began, rest, told

KILL_S = 4.0
"""It takes a little over a second, more where other tests run beside."""

ASKED = "asked for input"


async def bash(code_runner: CodeRunner, code: str) -> str:
    """What code that goes well prints."""
    run = await told(code_runner, code, "bash")
    assert run.ending.status == "ok", run
    return run.stdout


async def test_the_shell_keeps_variables_functions_folder_and_options(
    code_runner: CodeRunner,
) -> None:
    code = (
        "x=5; declare -A d=([a]='b c'); f() { echo in $1; }; mkdir sub; cd sub; shopt -s nullglob"
    )
    await bash(code_runner, code)
    assert await bash(code_runner, 'echo $x "${d[a]}"; f it; echo *.none; basename $PWD') == (
        "5 b c\nin it\n\nsub\n"
    )


async def test_its_names_are_one_shell(any_workshop: CodeRunner) -> None:
    for name in ("bash", "sh", "shell", "Bash "):
        await told(any_workshop, "count=$((count + 1))", name)
    assert await bash(any_workshop, "echo $count") == "4\n"


async def test_both_streams_come_as_they_are(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "echo out; echo err >&2; echo more > /dev/stdout", "bash")
    assert (run.stdout, run.stderr) == ("out\nmore\n", "err\n")


HERE_DOCUMENT = (
    "  two spaces\n\ttab\n$HOME `date` \\n 'single' \"double\"\\\n%s # !! \\\\\nGrüße 世界 🎉\n\n"
)


async def test_a_here_document_arrives_byte_for_byte(
    code_runner: CodeRunner, workspace: Path
) -> None:
    await bash(code_runner, f"cat > kept <<'END'\n{HERE_DOCUMENT}END\n")
    assert (workspace / "kept").read_bytes() == HERE_DOCUMENT.encode()
    assert await bash(code_runner, f"cat <<'END'\n{HERE_DOCUMENT}END") == HERE_DOCUMENT


async def test_an_exit_status_is_told_and_the_shell_goes_on(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "kept=7; cd /usr; exit 3", "bash")
    assert run.ending.status == "error"
    assert "exit status 3" in run.ending.detail
    assert await bash(any_workshop, "echo $kept $PWD") == "7 /usr\n"
    run = await told(any_workshop, "set -e; also=8; false; echo not reached", "bash")
    assert "exit status 1" in run.ending.detail
    assert run.stdout == ""
    assert await bash(any_workshop, "set +e; echo $kept $also") == "7 8\n"
    assert (await told(any_workshop, "exit", "bash")).ending.status == "ok"


async def test_a_trap_at_the_end_runs_and_what_is_lost_over_it_is_said(
    any_workshop: CodeRunner,
) -> None:
    await bash(any_workshop, "before=1")
    run = await told(any_workshop, "trap 'echo bye' EXIT; since=2; exit 4", "bash")
    assert run.stdout == "bye\n"
    assert "exit status 4" in run.ending.detail
    assert "is lost" in run.ending.detail
    assert await bash(any_workshop, "echo $before-$since") == "1-\n"


async def test_whatever_asks_for_input_ends_at_once_and_says_so(code_runner: CodeRunner) -> None:
    for code, status in (("cat", "error"), ("read answer", "error"), ("read a; echo hi", "ok")):
        run = await told(code_runner, code, "bash")
        assert run.ending.status == status
        assert ASKED in run.ending.detail + run.stderr
    assert ASKED not in str(await told(code_runner, "echo fine", "bash"))


async def test_unfinished_code_is_told_and_the_shell_goes_on(any_workshop: CodeRunner) -> None:
    for code in ("echo 'open", 'echo "open', "if true; then", "(", "$((1 +"):
        run = await told(any_workshop, code, "bash")
        assert run.ending.status == "error"
        assert "unexpected" in run.stderr or "syntax error" in run.stderr, run
        assert await bash(any_workshop, "echo on") == "on\n"


async def test_nothing_is_added_to_the_code(any_workshop: CodeRunner) -> None:
    code = "echo $LINENO $#\nset -x; : traced\nset +x"
    run = await told(any_workshop, code, "bash")
    assert run.stdout == "1 0\n"
    assert run.stderr.splitlines() == ["++ : traced", "++ set +x"]
    assert await bash(any_workshop, "f() { return 2; }; f; echo $?; echo $0") == "2\nbash\n"


async def test_markers_in_the_output_mean_nothing(any_workshop: CodeRunner) -> None:
    assert await bash(any_workshop, """echo '{"done":5}'; echo on""") == '{"done":5}\non\n'


async def test_a_command_that_is_missing_is_told(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "no-such-command", "bash")
    assert "exit status 127" in run.ending.detail
    assert "no-such-command" in run.stderr


async def test_a_shell_that_is_killed_is_back_with_its_earlier_state(
    any_workshop: CodeRunner,
) -> None:
    await bash(any_workshop, "kept=7")
    run = await told(any_workshop, "since=8; kill -9 $$", "bash")
    assert run.ending.status == "error"
    assert "signal 9" in run.ending.detail
    assert await bash(any_workshop, "echo $kept-$since") == "7-\n"


async def test_a_job_left_behind_does_not_hold_the_run(any_workshop: CodeRunner) -> None:
    run = await told(any_workshop, "sleep 600 & echo started $!", "bash")
    assert run.stdout.startswith("started ")
    assert run.ending.seconds < 10
    assert await bash(any_workshop, "kill %1; wait %1; echo $?") == "143\n"


async def test_what_is_printed_between_runs_is_told_with_the_next(any_workshop: CodeRunner) -> None:
    go = "mkfifo gate; (read _ < gate; echo late; echo done > done) &"
    await told(any_workshop, go, "bash")
    code = "import time, pathlib\nopen('gate', 'w').write('\\n')\n"
    code += "while not pathlib.Path('done').exists(): time.sleep(0.01)"
    await told(any_workshop, code)
    assert await bash(any_workshop, "echo now") == "late\nnow\n"


async def test_what_runs_stops_when_asked_and_the_shell_keeps_its_state(
    code_runner: CodeRunner,
) -> None:
    for code in ("sleep 600", "while :; do :; done", "yes | tr y x >/dev/null", "sleep 600 & wait"):
        pieces = code_runner.run("bash", f"kept=7\necho begun\n{code}")
        await began(pieces)
        await code_runner.interrupt()
        assert (await rest(pieces)).ending.status == "interrupted"
        assert await bash(code_runner, "echo $kept") == "7\n"


async def test_what_does_not_listen_is_killed_with_all_it_started(code_runner: CodeRunner) -> None:
    await bash(code_runner, "kept=7; setsid sleep 605 &")
    code = "trap '' INT; setsid sleep 606 & echo begun; setsid --wait sleep 607"
    pieces = code_runner.run("bash", f"{code}; while :; do sleep 1; done")
    await began(pieces)
    await until(lambda: bool(below("sleep 607")))
    with within(KILL_S):
        await code_runner.interrupt()
    ending = (await rest(pieces)).ending
    assert ending.status == "interrupted"
    assert "is lost" in ending.detail
    assert below("sleep 606") == below("sleep 607") == []
    assert await bash(code_runner, "echo $kept") == "7\n"


async def test_the_shells_python_is_the_kernels(any_workshop: CodeRunner) -> None:
    await told(any_workshop, "open('made', 'w').write('by python')")
    code = "cat made; python -c 'import sys, numpy; print(sys.prefix)'"
    prefix = (await told(any_workshop, "import sys; print(sys.prefix)")).stdout
    assert await bash(any_workshop, code) == f"by python{prefix}"


@pytest.mark.slow
async def test_twenty_megabytes_are_bounded_and_the_end_is_there(any_workshop: CodeRunner) -> None:
    code = "head -c 20000000 /dev/zero | tr '\\0' 'x'; echo; echo the end"
    run = await told(any_workshop, code, "bash")
    assert run.ending.status == "ok"
    assert run.stdout.endswith("the end\n")
    assert "characters of output left out" in run.stderr
    assert sum(len(output.text) for output in run.outputs) < 9 * 1024**2
