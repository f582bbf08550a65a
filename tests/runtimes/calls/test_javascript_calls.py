"""JavaScript calls functions of the server, in each sandbox."""

import asyncio
from functools import partial

import pytest

from sayso.server.runtimes.code_runner import CodeRunner
from tests.runtimes.calls.functions import Echo, Picture, Refuse, Wait, called_in
from tests.runtimes.sandboxes import rest, told

pytestmark = pytest.mark.needs("node", "nodejs")


called = partial(called_in, "javascript")


async def test_a_value_goes_out_and_comes_back_with_or_without_await(
    code_runner: CodeRunner, echo: Echo
) -> None:
    code = "[sayso.echo({ value: [1, 'ä', null] }), await sayso.call('echo', { value: 2 })]"
    run = await called(code_runner, code, echo)
    assert run.result == "[ [ 1, 'ä', null ], 2 ]", run
    assert [name for name, _ in echo.calls] == ["run", "run"]


async def test_bytes_come_back_as_a_buffer(any_workshop: CodeRunner) -> None:
    run = await called(any_workshop, "sayso.picture({ size: 8_000_000 }).length", Picture())
    assert run.result == "8000000", run


async def test_a_refusal_is_an_error_that_code_can_handle(any_workshop: CodeRunner) -> None:
    code = """
for (const go of [() => sayso.refuse(), () => sayso.rm()]) {
    try { go() } catch (error) {
        console.log(error instanceof sayso.Refused, error.name, error.message);
    }
}
try { await sayso.promises.refuse() } catch (error) { console.log(error.message) }
sayso.refuse()
"""
    run = await called(any_workshop, code, Refuse())
    assert run.stdout.splitlines() == [
        "true Refused The person said no.",
        "true NotThereError There is no such function; there are: refuse.",
        "The person said no.",
    ], run
    assert run.ending.status == "error"
    assert "The person said no." in run.error


async def test_promises_go_on_together_while_timers_run(any_workshop: CodeRunner) -> None:
    wait = Wait(enough_at=2)
    code = """
let beats = 0; const timer = setInterval(() => beats++, 5);
const both = await Promise.all([1, 2].map((value) => sayso.promises.wait({ value })));
await new Promise((done) => setTimeout(done, 50));
clearInterval(timer);
console.log(both, beats > 0);
"""
    run = await called(any_workshop, code, wait)
    assert run.stdout == "[ 1, 2 ] true\n", run


async def test_stop_cancels_a_call_that_waits_and_keeps_the_variables(
    code_runner: CodeRunner, echo: Echo
) -> None:
    for code in ("var x = 5; sayso.wait()", "var x = 5; await sayso.promises.wait()"):
        wait = Wait()
        with code_runner.offering("run", [wait, echo]):
            reading = asyncio.create_task(rest(code_runner.run("javascript", code)))
            await asyncio.wait_for(wait.begun.wait(), 30)
            await code_runner.interrupt()
            run = await reading
            assert run.ending.status == "interrupted", run
            await asyncio.wait_for(wait.cancelled.wait(), 5)
            again = await told(code_runner, "sayso.echo({ value: x })", "javascript")
        assert again.result == "5", again
        assert not again.stderr


CHILDREN = """
const { spawnSync } = require("node:child_process");
const look = "import os; print([n for n in (248, 249) if os.path.exists(f'/proc/self/fd/{n}')],"
    + " sum(os.readlink(f'/proc/self/fd/{n}').startswith('pipe') for n in range(3, 240)"
    + " if os.path.lexists(f'/proc/self/fd/{n}')))";
console.log(spawnSync("python3", ["-c", look]).stdout.toString().trim());
const { Worker } = require("node:worker_threads");
const inside = "require('node:worker_threads').parentPort.postMessage(typeof sayso)";
const word = await new Promise((done) => {
    new Worker(inside, { eval: true }).on("message", done);
});
console.log(word);
"""


async def test_what_code_starts_has_no_channel(code_runner: CodeRunner, echo: Echo) -> None:
    run = await called(code_runner, CHILDREN, echo)
    assert run.stdout == "[] 0\nundefined\n", run
    assert not echo.calls


FORGE = """
const fs = require("node:fs");
const pipes = fs.readdirSync("/proc/self/fd").filter((n) => {
    try {
        const info = fs.readFileSync(`/proc/self/fdinfo/${n}`, "utf8");
        const flags = parseInt(info.split("flags:")[1], 8);
        const pipe = fs.readlinkSync(`/proc/self/fd/${n}`).startsWith("pipe");
        const writes = (flags & 0o3) === 1 && !(flags & 0o4000); // node's own never wait
        return pipe && +n > 2 && +n < 240 && writes;
    } catch { return false }
});
const forge = (text) => fs.writeSync(Math.max(...pipes), text); // node's own are older
"""

GARBAGE = (
    r"'not json\n'",
    r"'[1]\n{}\n{\"id\": -1, \"name\": \"echo\", \"args\": {}}\n'",
    r"'['.repeat(60_000) + '\n'",
    r"'{\"id\": 1, \"name\": \"echo\"'",
)


async def test_what_is_no_call_is_not_taken_and_calls_go_on(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    for garbage in GARBAGE:
        code = f"{FORGE}forge({garbage}); sayso.echo({{ value: 'goes on' }})"
        run = await called(any_workshop, f"{{{code}}}", echo)
        assert run.result == "'goes on'", (garbage, run)
    assert all(arguments == {"value": "goes on"} for _, arguments in echo.calls)


async def test_a_forged_call_is_the_runs_own_or_closes_the_channel_until_the_next(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    forged = (
        r"'\n{\"id\": 900, \"name\": \"echo\", \"args\": {\"value\": 2}, \"run\": \"other\"}\n'"
    )
    run = await called(any_workshop, f"{{{FORGE}forge({forged}); sayso.echo()}}", echo, run="mine")
    assert {who for who, _ in echo.calls} == {"mine"}, run
    forged = r"'\n{\"id\": 901, \"name\": [], \"args\": 1}\n'"
    code = f"{{{FORGE}forge({forged}); for (;;) sayso.echo()}}"
    run = await called(any_workshop, code, echo)
    assert "Calls are closed until the next run" in run.ending.detail, run
    assert (await called(any_workshop, "sayso.echo({ value: 1 })", echo)).result == "1"


@pytest.mark.slow
async def test_a_flood_is_ended(any_workshop: CodeRunner, echo: Echo) -> None:
    code = "for (let n = 0; n < 20_001; n++) sayso.promises.echo().catch(() => {}); 1"
    await called(any_workshop, code, echo)
    assert len(echo.calls) <= 20_000
    assert (await called(any_workshop, "sayso.echo({ value: 1 })", echo)).result == "1"


async def test_a_call_of_a_mebibyte_is_refused_before_it_is_sent(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    code = "sayso.echo({ value: 'x'.repeat(2 ** 20) })"
    run = await called(any_workshop, code, echo)
    assert run.ending.detail.startswith("Refused: A call has 1048576 bytes"), run
    assert (await called(any_workshop, "sayso.echo({ value: 1 })", echo)).result == "1"


@pytest.mark.slow
async def test_a_timer_of_an_earlier_run_calls_nothing_after_its_end(
    any_workshop: CodeRunner, echo: Echo
) -> None:
    code = """
var told = new Promise((done) => setTimeout(() => {
    try { sayso.echo({ value: 'late' }); done('called') } catch (error) { done(error.message) }
}, 5_500)); 1
"""
    await called(any_workshop, code, echo)
    await asyncio.sleep(1)
    run = await told(any_workshop, "await told", "javascript")
    assert run.result in (
        "'The run that this call came from is over.'",
        "'No function of Sayso can be called here.'",
    ), run
    assert not echo.calls
