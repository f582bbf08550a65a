"""The shell's command `sayso`: bash calls functions of the server, in each sandbox."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from sayso.server.runtimes.calls.shell_line import as_call
from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import Echo, Picture, Refuse, Wait, called_in
from tests.runtimes.sandboxes import began, rest, told

pytestmark = pytest.mark.needs("bash")


called = partial(called_in, "bash")


async def test_a_value_goes_out_and_its_answer_is_printed(
    code_runner: CodeRunner, echo: Echo
) -> None:
    code = """
sayso echo --value 'half
way: ä "'
x=$(sayso echo --value=' in a subshell ') && echo "[$x]"
(sayso echo --value nested) | cat
"""
    run = await called(code_runner, code, echo)
    assert run.stdout == 'half\nway: ä "\n[ in a subshell ]\nnested\n', run
    assert [run_id for run_id, _ in echo.calls] == ["run"] * 3


async def test_a_refusal_is_an_exit_code_and_a_sentence(any_workshop: CodeRunner) -> None:
    code = """
sayso refuse || echo "code $?"
sayso rm --path /; echo "code $?"
sayso tell --wrong 1; echo "code $?"
"""
    run = await called(any_workshop, code, Refuse())
    assert run.stdout == "code 1\ncode 127\ncode 2\n", run
    no, unknown, wrong = run.stderr.splitlines()
    assert no == "sayso: The person said no."
    assert unknown == "sayso: There is no such function; there are: refuse."
    assert wrong.startswith("sayso: tell takes no --wrong; use it so: ")


async def test_it_takes_nothing_of_the_shells_own_along(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    code = """
set -euo pipefail; IFS=,; set -x
sayso echo --value 'a,b' >/dev/null
printf() { echo fooled; }
sayso refuse || true
set +x
unset -f printf
echo "$IFS$-" "${sayso_fd-none}" "${LC_ALL-none}"
set -- /proc/$$/fd/*; echo $#
sayso echo >/dev/null
set -- /proc/$$/fd/*; echo $#
"""
    run = await called(any_workshop, code, echo, Refuse())
    options, before, after = run.stdout.splitlines()
    assert options.startswith(","), run
    assert {"e", "u"} <= set(options.partition(" ")[0]), run
    assert options.endswith(" none none"), run
    assert before == after
    seen = [line for line in run.stderr.splitlines() if "printf" in line and "sayso_" in line]
    assert not seen
    assert (await told(any_workshop, "sayso echo", "bash")).stderr == (
        "sayso: No function of Sayso can be called here.\n"
    )


async def test_a_call_starts_no_process_where_bash_can_make_a_pipe_without_one(
    code_runner: CodeRunner, echo: Echo
) -> None:
    code = """
ulimit -u 0
for i in {1..3}; do sayso echo --value $i; done
"""
    run = await called(code_runner, code, echo)
    assert run.stdout == "1\n2\n3\n", run


async def test_a_bash_that_keeps_short_texts_in_files_calls_as_well(
    code_runner: CodeRunner, echo: Echo
) -> None:
    run = await called(code_runner, "BASH_COMPAT=5.0\nsayso echo --value old", echo)
    assert run.stdout == "old\n", run


async def test_it_is_there_in_the_shell_that_takes_the_place_of_one_that_ended(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    await called(any_workshop, "x=5; exit 3", echo)
    assert (await called(any_workshop, "sayso echo --value $x", echo)).stdout == "5\n"


async def test_a_long_argument_and_a_long_answer_go_through_whole(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    code = """
x=$(printf '%*s' 900000 '' | tr ' ' a)
[ "$(sayso echo --value "$x")" = "$x" ] && echo same
sayso picture --size 8000000 | wc -c
x=$(printf '%*s' 1100000 '')
sayso echo --value "$x"; echo "code $?"
"""
    run = await called(any_workshop, code, echo, Picture())
    same, _, code_line = run.stdout.splitlines()
    assert same == "same", run
    assert code_line == "code 1"
    assert "1048576 bytes" in run.stderr


async def test_eight_at_once_are_answered_and_a_ninth_is_refused(
    any_workshop: CodeRunner, workspace: Path
) -> None:
    wait = Wait()
    code = """
for i in {1..9}; do sayso wait --value $i 2>&1 & done
wait -n
touch ninth
wait
"""
    running = asyncio.create_task(called(any_workshop, code, wait))
    async with asyncio.timeout(30):
        while not (workspace / "ninth").exists():  # noqa: ASYNC110 - a file of code's
            await asyncio.sleep(0.01)
    wait.enough.set()
    run = await running
    assert wait.most_at_once == 8, run
    assert run.stdout.count("sayso: More than 8 calls at once") == 1, run
    assert len(run.stdout.split("\n")) == 10


async def test_stop_cancels_a_call_that_waits_and_keeps_the_variables(
    code_runner: CodeRunner, echo: Echo
) -> None:
    wait = Wait()
    with code_runner.offering("run", [wait, echo]):
        reading = asyncio.create_task(rest(code_runner.run("bash", "x=5\nsayso wait")))
        await asyncio.wait_for(wait.begun.wait(), 30)
        await code_runner.interrupt()
        run = await reading
        assert run.ending.status == "interrupted", run
        await asyncio.wait_for(wait.cancelled.wait(), 5)
        again = await told(code_runner, "sayso echo --value $x", "bash")
    assert again.stdout == "5\n", again


STARTED = """
WORD=$sayso_word python3 - 3>forged <<'END'
import os, subprocess
try:
    os.write(249, b'2\\x00%s\\x003\\x00echo\\x00--value=forged\\x00' % os.environb[b'WORD'])
except OSError:
    pass
END
bash -c 'sayso echo --value child' 2>/dev/null || echo "a shell of its own: $?"
python3 -c "import os; os.write(249, b'9' * 3_000_000)"
sayso echo --value 'goes on'
"""


async def test_what_the_shell_starts_calls_nothing_and_spoils_nothing(
    code_runner: CodeRunner, echo: Echo
) -> None:
    run = await called(code_runner, STARTED, echo)
    assert run.stdout == "a shell of its own: 127\ngoes on\n", run
    assert [arguments for _, arguments in echo.calls] == [{"value": "goes on"}]


LEFT = """
rm -f told; ( while [ ! -e go ]; do sleep 0.01; done
  sayso echo --value late 2>told.tmp; mv told.tmp told ) >/dev/null 2>&1 &
"""


async def let_go(workspace: Path) -> str:
    (workspace / "go").touch()
    async with asyncio.timeout(30):
        while not (workspace / "told").exists():  # noqa: ASYNC110 - a file of code's
            await asyncio.sleep(0.01)
    return (workspace / "told").read_text()


async def test_what_a_run_left_calls_nothing_after_its_end(
    code_runner: CodeRunner, workspace: Path, echo: Echo
) -> None:
    await called(code_runner, LEFT, echo)
    assert await let_go(workspace) == "sayso: The run that this call came from is over.\n"
    run = await called(code_runner, "sayso echo --value next", echo, run="next")
    assert run.stdout == "next\n", run
    assert echo.calls == [("next", {"value": "next"})]


async def test_what_a_run_left_calls_nothing_in_the_name_of_the_next(
    code_runner: CodeRunner, workspace: Path, echo: Echo
) -> None:
    await called(code_runner, LEFT, echo, run="first")
    code = "touch go; while [ ! -e told ]; do sleep 0.01; done; cat told; sayso echo --value mine"
    run = await called(code_runner, code, echo, run="second")
    first, second = run.stdout.splitlines()
    assert first.startswith("sayso: Sayso can be called from the shell of the run only"), run
    assert second == "mine"
    assert echo.calls == [("second", {"value": "mine"})]


FLOOD = """
for i in {1..40}; do
    ( for n in {1..1000}; do printf '%s\\0' 1 "$sayso_word" 1 echo >&249; done ) >/dev/null 2>&1 &
done
wait
sayso echo --value through
"""


async def test_a_flood_of_forged_words_ends_and_the_next_run_calls_again(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    await called(any_workshop, FLOOD, echo)
    assert len(echo.calls) <= 20_000
    run = await called(any_workshop, "sayso echo --value 1", echo)
    assert run.stdout == "1\n", run


async def test_an_answer_that_nobody_reads_holds_nobody_up(any_workshop: CodeRunner) -> None:
    code = """
for i in {1..4}; do
    ( exec 9<> <(:); printf '%s\\0' 2 "$sayso_word" 9 picture --size=8000000 >&249; sleep 60 ) &
done
sleep 0.2
echo begun
sleep 60
"""
    with any_workshop.offering("run", [Picture()]):
        pieces = any_workshop.run("bash", code)
        await began(pieces)
        reading = asyncio.create_task(rest(pieces))
        await any_workshop.interrupt()
        assert (await reading).ending.status == "interrupted"
        run = await told(any_workshop, "sayso picture --size 10 | wc -c", "bash")
    assert run.stdout.strip() == "0", run  # zeros are no text


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("tell half way", ("tell", {"text": "half way"})),
        ("tell --fraction 0.5 half way", ("tell", {"text": "half way", "fraction": 0.5})),
        (
            "ask Which? --choice a --choice=b",
            ("ask", {"question": "Which?", "choices": ["a", "b"]}),
        ),
        ("lamp --room kitchen --on-top=2", ("lamp", {"room": "kitchen", "on_top": "2"})),
        ("lamp kitchen 2", ("lamp", {"*": ["kitchen", "2"]})),
        ("tell -- --fraction", ("tell", {"text": "--fraction"})),
    ],
)
def test_words_are_a_name_and_arguments(words: str, call: tuple[str, dict[str, object]]) -> None:
    assert as_call(words.split()) == call
    for wrong in ([], ["--help"], ["tell", "--fraction"], ["tell", "--fraction", "x"]):
        with pytest.raises(ValueError, match=r"\.$"):
            as_call(wrong)
